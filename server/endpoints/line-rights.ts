import { fail } from '../../data-plane-agent/base/failures.js';
import type { PaymentLinePatch } from '../../data-plane-agent/plane/contract/records/lines.js';
import { edit, meets, needText, type Need } from '../access/permissions.js';
import type { Principal } from '../access/principal.js';

const RECEIPT_FIELDS = ['receivedAmount', 'receivedDate', 'method', 'payerName', 'receiptAccount', 'bankSerialNo', 'reconciliationStatus', 'reconciliationNote', 'proof'] as const;
const INVOICE_FIELDS = ['invoiceAmount', 'invoiceDate', 'invoiceNo', 'invoiceAttachment'] as const;

/** Who enters lines with money received must be allowed to record receipts, and with invoice evidence to record invoices. */
export function checkLineRights(principal: Principal, lines: readonly PaymentLinePatch[]): void {
  if (lines.some((line) => RECEIPT_FIELDS.some((field) => isGiven(line[field])))) demand(principal, edit('payment_entry'));
  if (lines.some((line) => INVOICE_FIELDS.some((field) => isGiven(line[field])))) demand(principal, edit('invoice'));
}

/** In a change of a line `null` and 0 say something too: they clear. */
export function checkPatchRights(principal: Principal, patch: PaymentLinePatch): void {
  if (RECEIPT_FIELDS.some((field) => patch[field] !== undefined)) demand(principal, edit('payment_entry'));
  if (INVOICE_FIELDS.some((field) => patch[field] !== undefined)) demand(principal, edit('invoice'));
}

const isGiven = (value: unknown): boolean => value !== undefined && value !== null && value !== 0;

function demand(principal: Principal, need: Need): void {
  if (!meets(principal.permissions, need)) throw fail('FORBIDDEN', { needs: needText(need) });
}
