import { c, table, type RecordOf } from '../../base/database/columns.js';
import type { InvoiceStatus } from '../contract/vocabulary.js';

/**
 * Invoice records. Money is in minor units of the row's currency: that of its line or, without a line, of its contract.
 */
export const invoices = table(
  'invoices',
  {
    id: c.id('id').unaudited(),
    contractId: c.id('contract_id').unaudited(),
    lineId: c.orNull(c.id('line_id')).shownAs('receivablePlanId'),
    receiptId: c.orNull(c.id('receipt_id')).shownAs('paymentRecordId'),
    /** The contract's subject company; invoice numbers are unique within it. */
    subjectId: c.id('subject_id').internal(),
    invoiceNo: c.text('invoice_no'),
    invoiceKey: c.text('invoice_key').unaudited(),
    /** Never negative; the amount of a red letter is subtracted. */
    amountMinor: c.money('amount_minor').shownAs('invoiceAmount'),
    currencyCode: c.text('currency_code'),
    invoiceDate: c.orNull(c.text('invoice_date')),
    status: c.word<InvoiceStatus>('status'),
    /** A file's id, or any other text that points to the evidence. */
    attachment: c.orNull(c.text('attachment')),
    /** Percent as decimal text. */
    taxRate: c.orNull(c.decimal('tax_rate')),
    note: c.orNull(c.text('note')),
    /** Created from the invoice fields of its line, whose changes it follows. */
    fromLine: c.flag('from_line').internal(),
    reversesId: c.orNull(c.id('reverses_id')).shownAs('reversesInvoiceId'),
    reversedById: c.orNull(c.id('reversed_by_id')).shownAs('reversedByInvoiceId'),
    createdAt: c.instant('created_at').unaudited(),
    createdBy: c.orNull(c.id('created_by')).unaudited(),
    updatedAt: c.instant('updated_at').unaudited(),
    updatedBy: c.orNull(c.id('updated_by')).unaudited(),
    deletedAt: c.orNull(c.instant('deleted_at')),
  },
  { audit: 'invoice' },
);
export type InvoiceRow = RecordOf<typeof invoices>;

/** A record before and after a change; `before` is `null` for a new record. */
export interface InvoiceChange {
  readonly before: InvoiceRow | null;
  readonly after: InvoiceRow;
}
