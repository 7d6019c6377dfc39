import type {
  ContractDetail,
  ContractInput,
  ContractPatch,
} from '../../data-plane-agent/plane/contract/records/contracts.js';
import type { PaymentLine, PaymentLineInput } from '../../data-plane-agent/plane/contract/records/lines.js';
import { PaymentLineInput as LineSchema } from '../../data-plane-agent/plane/contract/records/lines.js';
import type { TestPlane } from './plane.js';
import { aContract } from './samples.js';

const FIELDS = Object.keys(LineSchema.properties);
/** The fields of a line that a client sends back after reading it. */
const asRequest = (line: PaymentLine): PaymentLineInput =>
  Object.fromEntries(Object.entries(line).filter(([field]) => FIELDS.includes(field))) as PaymentLineInput; // the fields of the request
export const planOf = ({ payments }: Pick<ContractDetail, 'payments'>) => payments.map(asRequest);
export const shape = ({ payments }: Pick<ContractDetail, 'payments'>) =>
  payments.map(({ period, dueDate, amount }) => [period, dueDate, amount]);
export const enter = (t: TestPlane, payments: PaymentLineInput[], changes: Partial<ContractInput> = {}) =>
  t.plane.createContract(aContract({ payments, ...changes }));
export const send = (
  { plane }: Pick<TestPlane, 'plane'>,
  { id }: Pick<ContractDetail, 'id'>,
  payments: PaymentLineInput[] | null,
  more: ContractPatch = {},
) => plane.updateContract({ contractId: id, changes: { ...more, payments } });
export const reread = (t: TestPlane, { id }: Pick<ContractDetail, 'id'>) => t.plane.getContract({ contractId: id });
