import type {
  DynamicField,
  FieldCommandResult,
  FieldCommandType,
  FieldSurroundings,
  PayloadOf,
} from '../../data-plane-agent/plane/contract/records/fields.js';
import type { TestPlane } from './plane.js';

type Caller = Pick<TestPlane, 'plane'>;

/** Runs a command for custom fields. */
export const fieldCommand = <C extends FieldCommandType>(
  { plane }: Caller,
  type: C,
  payload: PayloadOf<C>,
  known?: FieldSurroundings,
): Promise<FieldCommandResult> => plane.runFieldCommand({ type, payload, ...(known ? { known } : {}) });

let made = 0;

/** A custom field, by default a text. */
export const aField = async (
  caller: Caller,
  payload: Partial<PayloadOf<'CreateField'>> = {},
  known?: FieldSurroundings,
): Promise<DynamicField> =>
  (await fieldCommand(caller, 'CreateField', { name: `Field ${++made}`, type: 'text', ...payload }, known)).field;
