import { fail } from '../../../base/failures.js';
import { s } from '../../../base/schema.js';
import { pageOf } from '../../contract/records/common.js';
import { ReceiptPage, ReceiptQuery } from '../../contract/records/lines.js';
import { receiptAnswer } from '../../domain/payments/receipts.js';
import { operation } from '../../steps/operation-context.js';

/** The receipts of a line, newest first. Receipts are kept after their line is deleted, for audit. */
export const listReceipts = operation({
  effect: 'read',
  input: s.object({ paymentId: s.id(), ...ReceiptQuery.properties }),
  output: ReceiptPage,
  fails: [],
  async run({ store }, call, { paymentId, page, pageSize }) {
    if (!(await store.lines.isKept(paymentId))) throw fail('NOT_FOUND', {});
    const asked = { page: page ?? 1, pageSize: pageSize ?? 20 };
    const { rows, total } = await store.lines.receiptsOf(paymentId, asked);
    return pageOf(
      rows.map((row) => receiptAnswer(row, call)),
      { ...asked, total },
    );
  },
});
