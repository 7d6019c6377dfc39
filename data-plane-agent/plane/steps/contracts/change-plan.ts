import { setImmediate as nextTurn } from 'node:timers/promises';
import { fail } from '../../../base/failures.js';
import type { Call } from '../../contract/call.js';
import type { Warning } from '../../contract/records/common.js';
import { hasMoney } from '../../domain/payments/line-changes.js';
import { lineWarnings } from '../../domain/payments/line-warnings.js';
import type { Plan } from '../../domain/payments/plan.js';
import type { OperationContext } from '../operation-context.js';
import { receiptHistory } from '../receivables/receipt-history.js';
import { reusedTransfers } from '../receivables/shared-transfers.js';

/** Yields to the event loop after this many lines: SQLite calls are synchronous. */
const LINES_PER_YIELD = 100;

/** Checks a plan before any of it is written. */
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
    // A file that the line already has may be sent back, even by a caller who may not refer to it on another line.
    if (after.proof !== before?.proof) await store.files.check(`${path}proof`, after.proof);
    if (after.invoiceAttachment !== before?.invoiceAttachment)
      await store.files.check(`${path}invoiceAttachment`, after.invoiceAttachment);
  }
}

/** Writes a checked plan with the receipt history of its lines. Returns warnings about the lines. */
export async function writePlan(context: OperationContext, call: Call, { steps, removed }: Plan): Promise<Warning[]> {
  const { store, clock } = context;
  const now = clock.now();
  for (const line of removed) await store.lines.update(line, { ...line, deletedAt: now, updatedAt: now });
  for (const [i, { before, after }] of steps.entries()) {
    if (i > 0 && i % LINES_PER_YIELD === 0) await nextTurn();
    if (before) await store.lines.update(before, after);
  }
  await store.lines.insert(steps.filter(({ before }) => before === null).map(({ after }) => after));
  await store.lines.insertReceipts(await receiptHistory(context, call, { changes: steps }));
  const withNewSerial = steps
    .filter(({ before, after }) => after.bankSerialNo !== before?.bankSerialNo)
    .map(({ after }) => after);
  return lineWarnings(steps, { today: call.today, reused: await reusedTransfers(context, withNewSerial) });
}
