import { fail } from '../../../base/failures.js';
import type { Call } from '../../contract/call.js';
import type { ContractPatch } from '../../contract/records/contracts.js';
import type { Member } from '../../contract/records/people.js';
import type { AmountReader } from '../../domain/amounts.js';
import {
  changedValues,
  type ChangedValues,
  type ValueChange,
  type Values,
} from '../../domain/fields/changed-values.js';
import type { ContractRow } from '../../tables/contracts.js';
import type { OperationContext } from '../operation-context.js';

export interface ValueRequest {
  readonly given: ContractPatch['dynamicFields'];
  readonly contract: Pick<ContractRow, 'type' | 'typeCode' | 'dynamicFields'>;
  readonly entering?: NonNullable<ValueChange['entering']>;
  /** Collects the problems of values together with those of other fields. */
  readonly issues: Pick<AmountReader, 'refuse'>;
}

/**
 * The custom values that a request results in. Values of the wrong kind are reported to `issues`; `checkValues` checks
 * references once the whole request is well-formed. Call `store.fields.holdForValues` before reading a contract whose
 * values may change.
 */
export async function readValues(
  { store }: Pick<OperationContext, 'store'>,
  call: Call,
  { given, contract, entering, issues }: ValueRequest,
): Promise<ChangedValues> {
  if (given === undefined && entering === undefined)
    return { values: contract.dynamicFields, issues: [], notEditable: [], references: [] };
  const fields = await store.fields.all();
  const changed = changedValues({
    given,
    present: contract.dynamicFields,
    fields,
    roleCode: call.actor.roleCode,
    contract,
    ...(entering ? { entering } : {}),
  });
  for (const { path, problem } of changed.issues) issues.refuse(path, problem);
  return changed;
}

/**
 * Refuses fields that the caller may not write, and references to missing members and files. `members` are those of the
 * sent ids that the control plane knows.
 */
export async function checkValues(
  { store }: Pick<OperationContext, 'store'>,
  { notEditable, references }: ChangedValues,
  { members = [], formerMembers = false }: { readonly members?: readonly Member[]; readonly formerMembers?: boolean },
): Promise<void> {
  if (notEditable.length > 0) throw fail('FIELD_NOT_EDITABLE', { fields: [...notEditable] });
  for (const { path, type, id } of references) {
    if (type === 'file') await store.files.check(path, id);
    else if (!members.some((member) => member.id === id && (member.active || formerMembers)))
      throw fail('REFERENCE_INVALID', { field: path, value: id });
  }
}

/** Reads the field definitions, and locks them if a new contract may get custom values. */
export async function holdForEntering(
  { store }: Pick<OperationContext, 'store'>,
  given: Values | null | undefined,
): Promise<void> {
  const hasDefaults = async () =>
    (await store.fields.all()).some(({ archived, defaultValue }) => !archived && defaultValue !== null);
  if (Object.keys(given ?? {}).length > 0 || (await hasDefaults())) await store.fields.holdForValues();
  await store.fields.all();
}
