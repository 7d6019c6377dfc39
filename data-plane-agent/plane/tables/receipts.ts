import { c, table, type RecordOf } from '../../base/database/columns.js';

export const receipts = table('receipts', {
  id: c.id('id'),
  contractId: c.id('contract_id'),
  lineId: c.id('line_id'),
  deltaMinor: c.money('delta_minor'),
  totalMinor: c.money('total_minor'),
  currencyCode: c.text('currency_code'),
  receivedDate: c.orNull(c.text('received_date')),
  method: c.orNull(c.text('method')),
  payerName: c.orNull(c.text('payer_name')),
  receiptAccount: c.orNull(c.account('receipt_account')),
  bankSerialNo: c.orNull(c.text('bank_serial_no')),
  proofFileId: c.orNull(c.id('proof_file_id')),
  actorId: c.orNull(c.id('actor_id')),
  actorName: c.text('actor_name'),
  createdAt: c.instant('created_at'),
});
export type ReceiptRow = RecordOf<typeof receipts>;
