import { fail } from '../../../base/failures.js';
import type { Call } from '../../contract/call.js';
import {
  MAX_FIELDS,
  MAX_LIVE_FIELDS,
  type FieldCommandResult,
  type FieldCommandType,
  type FieldSurroundings,
  type PayloadOf,
} from '../../contract/records/fields.js';
import type { FieldRow } from '../../tables/fields.js';
import { nameKeyOf } from '../../domain/fields/new-field.js';
import type { OperationContext } from '../operation-context.js';

/** The input of a command. `fields` are all fields of the tenant, read under a lock. */
export interface FieldCommandContext<C extends FieldCommandType> {
  readonly context: OperationContext;
  readonly call: Call;
  readonly payload: PayloadOf<C>;
  readonly known: FieldSurroundings;
  readonly fields: readonly FieldRow[];
}

export interface CommandOutcome {
  readonly field: FieldRow;
  readonly result?: NonNullable<FieldCommandResult['result']>;
}

export function fieldNamed(fields: readonly FieldRow[], path: string, id: string): FieldRow {
  const field = fields.find((candidate) => candidate.id === id);
  if (!field) throw fail('REFERENCE_INVALID', { field: path, value: id });
  return field;
}

/** The failure of a command on values that the caller may not see. */
export const notSeen = ({ id }: Pick<FieldRow, 'id'>) => fail('FIELD_NOT_EDITABLE', { fields: [id] });

/** Names are unique among live fields, ignoring case. */
export function refuseTakenName(fields: readonly FieldRow[], name: string, except?: FieldRow): void {
  const key = nameKeyOf(name);
  if (fields.some((field) => !field.archived && field.id !== except?.id && field.nameKey === key))
    throw fail('DUPLICATE_CODE', { field: 'name', value: name });
}

/** Checks the limits on live fields and, for a new one, on all fields. */
export function refuseTooMany(fields: readonly FieldRow[], { isNew }: { readonly isNew: boolean }): void {
  if (fields.filter(({ archived }) => !archived).length >= MAX_LIVE_FIELDS)
    throw fail('LIMIT_REACHED', { limit: MAX_LIVE_FIELDS });
  if (isNew && fields.length >= MAX_FIELDS) throw fail('LIMIT_REACHED', { limit: MAX_FIELDS });
}

export async function moveOthers(
  { store }: OperationContext,
  others: readonly (readonly [FieldRow, number])[],
): Promise<void> {
  for (const [field, position] of others) await store.fields.place(field, position);
}
