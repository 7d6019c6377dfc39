import { setImmediate as nextTurn } from 'node:timers/promises';
import { fail } from '../../../base/failures.js';
import { s } from '../../../base/schema.js';
import { pageOf } from '../../contract/records/common.js';
import { HistoryPage, HistoryQuery, type HistoryEntry } from '../../contract/records/history.js';
import { keptChanges, type KeptChange } from '../../domain/audit/kept.js';
import { historyEntry } from '../../domain/contracts/history.js';
import { operation, type OperationContext } from '../../steps/operation-context.js';

/** After an event of this many characters, which is slow to parse, it yields to the event loop. */
const LONG_EVENT = 100_000;

/** Changes of a contract and its parts, newest first. */
export const listHistory = operation({
  effect: 'read',
  input: s.object({ contractId: s.id(), ...HistoryQuery.properties }),
  output: HistoryPage,
  fails: [],
  async run({ store }, _call, { contractId, page, pageSize }) {
    const contract = await store.contracts.find(contractId);
    if (!contract) throw fail('NOT_FOUND', {});
    const asked = { page: page ?? 1, pageSize: pageSize ?? 20 };
    const { rows, total } = await store.auditTrail.page({ recordId: contract.id }, asked);
    const visibleFields = new Set((await store.fields.visible()).map(({ id }) => id));
    const names = new Map([[contract.id, contract.contractNo], ...(await namesOf(store, contract.id))]);
    const entries: HistoryEntry[] = [];
    for (const row of rows) {
      const kept = keptChanges(row);
      const currencyOf = await store.currencies.of(kept);
      for (const [id, step] of await store.reminders.stepsOf(remindersIn(kept))) names.set(id, step);
      entries.push(historyEntry(row, kept, { currencyOf, visibleFields, names }));
      if (row.changes.length > LONG_EVENT) await nextTurn();
    }
    return pageOf(entries, { ...asked, total });
  },
});

const remindersIn = (kept: readonly KeptChange[]): string[] =>
  kept.filter(({ record }) => record === 'reminder').map(({ id }) => id);

/** The names of a contract's records, including removed lines: an event contains only changed fields. */
async function namesOf(store: OperationContext['store'], contractId: string): Promise<[id: string, name: string][]> {
  return [
    ...(await store.lines.periodsOf(contractId)),
    ...(await store.contracts.terms(contractId)).map(({ id, title }): [string, string] => [id, title]),
    ...(await store.contracts.notes(contractId)).map(({ id, label }): [string, string] => [id, label]),
    ...(await store.invoices.ofContract(contractId)).map(({ id, invoiceNo }): [string, string] => [id, invoiceNo]),
    ...(await store.tasks.ofContract(contractId)).map(({ id, code }): [string, string] => [id, code]),
  ];
}
