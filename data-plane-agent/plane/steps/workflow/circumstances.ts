import type { Call } from '../../contract/call.js';
import type { Conditions } from '../../contract/records/conditions.js';
import { isListField, type Circumstances, type ListField } from '../../domain/lifecycle/conditions.js';
import type { ContractRow } from '../../tables/contracts.js';
import type { OperationContext } from '../operation-context.js';

/** The data that these conditions depend on. Only what they require is read. */
export async function circumstancesOf(
  { store }: Pick<OperationContext, 'store'>,
  call: Call,
  {
    row,
    note,
    conditions,
  }: { readonly row: ContractRow; readonly note: string | null; readonly conditions: readonly Conditions[] },
): Promise<Circumstances> {
  const lists = new Set(conditions.flatMap(({ requireFields }) => (requireFields ?? []).filter(isListField)));
  const count = async (field: ListField, read: () => Promise<readonly unknown[]>) =>
    lists.has(field) ? (await read()).length : 0;
  return {
    row,
    note,
    actorId: call.actor.id,
    lastMoverId: conditions.some(({ forbidSelfApproval }) => forbidSelfApproval === true)
      ? await store.workflowEvents.lastMoverOf(row.id)
      : null,
    fileKinds: conditions.some(({ requireFileKinds }) => (requireFileKinds ?? []).length > 0)
      ? await store.files.kindsOf(row)
      : new Set(),
    counts: {
      payments: await count('payments', () => store.lines.ofContract(row.id)),
      terms: await count('terms', () => store.contracts.terms(row.id)),
      extraNotes: await count('extraNotes', () => store.contracts.notes(row.id)),
    },
  };
}
