import { setImmediate as nextTurn } from 'node:timers/promises';
import { fail } from '../../../base/failures.js';
import type { Call } from '../../contract/call.js';
import type { Warning } from '../../contract/records/common.js';
import { hasMoney } from '../../domain/payments/line-changes.js';
import { lineWarnings } from '../../domain/payments/line-warnings.js';
import type { Plan } from '../../domain/payments/plan.js';
import type { OperationContext } from '../operation-context.js';
import { receiptHistory } from '../receivables/receipt-history.js';
import { sharingAny } from '../receivables/shared-transfers.js';
import type { ReceiptRow } from '../../tables/receipts.js';

/** After so many lines others get their turn: on SQLite nothing in here waits by itself. */
const TURN = 100;

/** Refuses a plan before anything of it is written. */
export async function checkPlan({ store }: OperationContext, { steps, removed }: Plan): Promise<void> {
  const paid = removed.filter(hasMoney).map(({ id }) => id);
  if (paid.length > 0) throw fail('LINE_HAS_MONEY', { paymentIds: paid });
  for (const { before, after, path } of steps) {
    if (
      before &&
      before.currencyCode !== after.currencyCode &&
      (hasMoney(before) || (await store.lines.hasReceipts(before.id)))
    )
      throw fail('CURRENCY_FIXED', { currencyCode: before.currencyCode });
    // A file that the line has already may be sent back, also by a caller who could not name it for another line.
    if (after.proof !== before?.proof) await store.files.check(`${path}proof`, after.proof);
    if (after.invoiceAttachment !== before?.invoiceAttachment)
      await store.files.check(`${path}invoiceAttachment`, after.invoiceAttachment);
  }
}

/** Writes a plan that was checked, with the receipt history of its lines. Answers what deserves a look. */
export async function writePlan(context: OperationContext, call: Call, { steps, removed }: Plan): Promise<Warning[]> {
  const { store, clock } = context;
  const now = clock.now();
  for (const line of removed) await store.lines.update(line, { ...line, deletedAt: now, updatedAt: now });
  for (const [i, { before, after }] of steps.entries()) {
    if (i > 0 && i % TURN === 0) await nextTurn();
    if (before) await store.lines.update(before, after);
  }
  await store.lines.insert(steps.filter(({ before }) => before === null).map(({ after }) => after));
  const receipts: ReceiptRow[] = [];
  for (const { before, after } of steps)
    receipts.push(...(await receiptHistory(context, call, { before: before ?? { receivedMinor: 0 }, after })));
  await store.lines.insertReceipts(receipts);
  const naming = steps
    .filter(({ before, after }) => after.bankSerialNo !== before?.bankSerialNo)
    .map(({ after }) => after);
  return lineWarnings(
    steps.map(({ after }) => after),
    await sharingAny(context, naming),
  );
}
