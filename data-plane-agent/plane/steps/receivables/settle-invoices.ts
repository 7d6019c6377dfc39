import type { Call } from '../../contract/call.js';
import { touched, withAggregates } from '../../domain/contracts/changes.js';
import type { InvoiceChange } from '../../tables/invoices.js';
import { afterChanges, netInvoiced, withRecords } from '../../domain/invoices/invoices.js';
import { checkSums } from '../../domain/payments/line-changes.js';
import { isOfLine, refuseExcess, withoutEvidence } from '../../domain/invoices/line-evidence.js';
import type { OperationContext } from '../operation-context.js';
import type { HeldContract } from './change-line.js';
import type { ContractRow } from '../../tables/contracts.js';
import type { LineRow } from '../../tables/payment-lines.js';
import { writeInvoices } from './follow-lines.js';

/**
 * Writes changed records of a locked contract, and the invoiced totals of its lines and of the contract. Refuses red
 * letters without an issued invoice on the same line, or beyond its amount. Returns the updated contract and live
 * lines.
 */
export async function settleInvoices(
  operationContext: OperationContext,
  call: Call,
  {
    held: { contract: before, lines, context },
    changes,
  }: { readonly held: HeldContract; readonly changes: readonly InvoiceChange[] },
): Promise<{ readonly contract: ContractRow; readonly lines: readonly LineRow[] }> {
  const { store } = operationContext;
  const { amounts, contractCurrency, now } = context;
  const settled = new Map<string, LineRow>();
  let { unlinkedInvoicedMinor } = before;
  for (const lineId of lineIdsOf(changes)) {
    const line = lines.find(({ id }) => id === lineId);
    const records = afterChanges(
      await store.invoices.linkedTo(before.id, lineId),
      changes,
      (row) => row.lineId === lineId,
    );
    refuseExcess(records, line?.currencyCode ?? contractCurrency);
    if (line)
      settled.set(
        line.id,
        withRecords(losesItsInvoice(line, changes) ? { ...withoutEvidence(line), updatedAt: now } : line, records, now),
      );
    else unlinkedInvoicedMinor = netInvoiced(records);
  }
  const next = lines.map((line) => settled.get(line.id) ?? line);
  checkSums(next, { amounts, contractCurrency, unlinkedInvoicedMinor });
  amounts.done();
  await writeInvoices(operationContext, changes);
  for (const [i, line] of lines.entries()) if (next[i] && next[i] !== line) await store.lines.update(line, next[i]);
  const contract = await store.contracts.update(
    before,
    touched(withAggregates({ ...before, unlinkedInvoicedMinor }, next), { now, actorId: call.actor.id }),
  );
  return { contract, lines: next };
}

/** The ids of lines whose records change; `null` stands for records without a line. */
const lineIdsOf = (changes: readonly InvoiceChange[]): ReadonlySet<string | null> =>
  new Set(changes.flatMap(({ before, after }) => [...(before ? [before.lineId] : []), after.lineId]));

/** Whether the invoice recorded on the line itself is no longer valid. */
const losesItsInvoice = (line: LineRow, changes: readonly InvoiceChange[]): boolean =>
  changes.some(
    ({ before, after }) => before !== null && before.lineId === line.id && isOfLine(before) && !isOfLine(after),
  );
