import { fail } from '../../../base/failures.js';
import type { Rights } from '../../contract/call.js';
import type { LineRow } from '../../tables/payment-lines.js';

const RECEIPT = ['receivedMinor', 'receivedDate', 'method', 'payerName', 'receiptAccount', 'bankSerialNo', 'reconciliationStatus', 'reconciliationNote', 'proof'] as const;
const INVOICE = ['invoiceMinor', 'invoiceDate', 'invoiceNo', 'invoiceAttachment'] as const;

/**
 * Who enters or changes lines with their contract must be allowed to record receipts where a receipt changes, and invoices where an
 * invoice does. `planned` is the line with neither changed: to send back what a line has is no change, and needs no right.
 */
export function checkLineRights(lines: readonly { readonly planned: LineRow; readonly after: LineRow }[], { paymentEntry, invoice }: Pick<Rights, 'paymentEntry' | 'invoice'>): void {
  if (!paymentEntry && lines.some(({ planned, after }) => RECEIPT.some((field) => planned[field] !== after[field]))) throw fail('FORBIDDEN', { needs: 'payment_entry (edit)' });
  if (!invoice && lines.some(({ planned, after }) => INVOICE.some((field) => planned[field] !== after[field]))) throw fail('FORBIDDEN', { needs: 'invoice (edit)' });
}

/** The same for lines that are new. */
export const checkNewLineRights = (lines: readonly LineRow[], rights: Pick<Rights, 'paymentEntry' | 'invoice'>): void => checkLineRights(lines.map((after) => ({ planned: unpaid(after), after })), rights);

/** A new line as it would be with nothing received and nothing invoiced. */
export const unpaid = (line: LineRow): LineRow => ({
  ...line,
  receivedMinor: 0, receivedDate: null, method: null, payerName: null, receiptAccount: null, bankSerialNo: null, reconciliationStatus: 'pending', reconciliationNote: null, proof: null,
  invoiceMinor: null, invoiceDate: null, invoiceNo: null, invoiceAttachment: null,
});
