import { c, table, type RecordOf } from '../../base/database/columns.js';
import type { ReconciliationStatus } from '../contract/vocabulary.js';
import type { ContractRow } from './contracts.js';

/** The lines of payment plans. Money is in minor units of the line's own currency. */
export const lines = table(
  'payment_lines',
  {
    id: c.id('id').unaudited(),
    contractId: c.id('contract_id').unaudited(),
    position: c.int('position').unaudited(),
    period: c.text('period'),
    dueDate: c.text('due_date'),
    amountMinor: c.money('amount_minor').shownAs('amount'),
    currencyCode: c.text('currency_code'),
    receivedMinor: c.money('received_minor').shownAs('receivedAmount'),
    outstandingMinor: c.money('outstanding_minor').shownAs('outstandingAmount').derived(),
    receivedDate: c.orNull(c.text('received_date')),
    method: c.orNull(c.text('method')),
    payerName: c.orNull(c.text('payer_name')),
    receiptAccount: c.orNull(c.account('receipt_account')),
    bankSerialNo: c.orNull(c.text('bank_serial_no')),
    reconciliationStatus: c.word<ReconciliationStatus>('reconciliation_status'),
    reconciliationNote: c.orNull(c.text('reconciliation_note')),
    proof: c.orNull(c.id('proof')),
    invoiceMinor: c.orNull(c.money('invoice_minor')).shownAs('invoiceAmount'),
    invoiceDate: c.orNull(c.text('invoice_date')),
    invoiceNo: c.orNull(c.text('invoice_no')),
    invoiceAttachment: c.orNull(c.id('invoice_attachment')),
    invoicedMinor: c.money('invoiced_minor').shownAs('invoicedAmount').derived(),
    uninvoicedMinor: c.money('uninvoiced_minor').shownAs('uninvoicedAmount').derived(),
    /** The number of live invoice records of the line, and of the issued or red-letter ones among them. */
    invoiceRecords: c.int('invoice_records').unaudited(),
    invoicesStanding: c.int('invoices_standing').unaudited(),
    createdAt: c.instant('created_at').unaudited(),
    updatedAt: c.instant('updated_at').unaudited(),
    deletedAt: c.orNull(c.instant('deleted_at')),
  },
  { audit: 'payment_line' },
);
export type LineRow = RecordOf<typeof lines>;
/** A line with the contract's data that the list of receivables shows. */
export type PaymentRow = LineRow &
  Pick<ContractRow, 'contractNo' | 'projectName' | 'partyA' | 'partyB' | 'subjectId' | 'ownerId' | 'ownerSuperiorId'>;
