import { setImmediate as nextTurn } from 'node:timers/promises';
import { fail } from '../../../base/failures.js';
import { s } from '../../../base/schema.js';
import { pageOf } from '../../contract/records/common.js';
import { HistoryPage, HistoryQuery, type HistoryEntry } from '../../contract/records/history.js';
import { keptChanges } from '../../domain/audit/kept.js';
import { historyEntry } from '../../domain/contracts/history.js';
import { operation, type OperationContext } from '../../steps/operation-context.js';

/** An event of so many characters takes a while to read; after it others get their turn. */
const LONG = 100_000;

/** Who changed what of a contract and what belongs to it, newest first. */
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
    const names = new Map([[contract.id, contract.contractNo], ...(await namesWithin(store, contract.id))]);
    const entries: HistoryEntry[] = [];
    for (const row of rows) {
      const kept = keptChanges(row);
      const currencyOf = await store.currencies.of(kept);
      entries.push(historyEntry(row, kept, { currencyOf, visibleFields, names }));
      if (row.changes.length > LONG) await nextTurn();
    }
    return pageOf(entries, { ...asked, total });
  },
});

/** What the records of a contract are called, removed lines among them; an event keeps only what changed. */
async function namesWithin(
  store: OperationContext['store'],
  contractId: string,
): Promise<[id: string, name: string][]> {
  return [
    ...(await store.lines.periodsOf(contractId)),
    ...(await store.contracts.terms(contractId)).map(({ id, title }): [string, string] => [id, title]),
    ...(await store.contracts.notes(contractId)).map(({ id, label }): [string, string] => [id, label]),
    ...(await store.invoices.ofContract(contractId)).map(({ id, invoiceNo }): [string, string] => [id, invoiceNo]),
    ...(await store.tasks.ofContract(contractId)).map(({ id, code }): [string, string] => [id, code]),
  ];
}
