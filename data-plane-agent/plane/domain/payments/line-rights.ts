import { fail } from '../../../base/failures.js';
import type { Rights } from '../../contract/call.js';
import type { LineRow } from '../../tables/payment-lines.js';

/** Request fields of a line, with their columns. */
const RECEIPT = {
  receivedAmount: 'receivedMinor',
  receivedDate: 'receivedDate',
  method: 'method',
  payerName: 'payerName',
  receiptAccount: 'receiptAccount',
  bankSerialNo: 'bankSerialNo',
  reconciliationStatus: 'reconciliationStatus',
  reconciliationNote: 'reconciliationNote',
  proof: 'proof',
} as const satisfies Readonly<Record<string, keyof LineRow>>;
const INVOICE = {
  invoiceAmount: 'invoiceMinor',
  invoiceDate: 'invoiceDate',
  invoiceNo: 'invoiceNo',
  invoiceAttachment: 'invoiceAttachment',
} as const satisfies Readonly<Record<string, keyof LineRow>>;

type LineRights = Pick<Rights, 'paymentEntry' | 'invoice'>;

/**
 * Requires the right to record receipts when receipt fields change, and invoices when invoice fields change. `planned`
 * is the line with both unchanged: sending back present values needs no right.
 */
export function checkLineRights(
  lines: readonly { readonly planned: LineRow; readonly after: LineRow }[],
  rights: LineRights,
): void {
  for (const { fields, needs } of lacking(rights)) {
    if (lines.some(({ planned, after }) => Object.values(fields).some((column) => planned[column] !== after[column])))
      throw fail('FORBIDDEN', { needs });
  }
}

/** Checks the rights for new lines before any other check: empty values and defaults need no right. */
export function checkNewLineRights(lines: readonly object[], rights: LineRights): void {
  for (const { fields, needs } of lacking(rights)) {
    if (lines.some((line) => given(line, fields).length > 0)) throw fail('FORBIDDEN', { needs });
  }
}

/** The fields of a new line for which the caller lacks a right, with that right. */
export const fieldsBeyondRights = (
  line: object,
  rights: LineRights,
): { readonly field: string; readonly needs: string }[] =>
  lacking(rights).flatMap(({ fields, needs }) => given(line, fields).map((field) => ({ field, needs })));

const lacking = ({ paymentEntry, invoice }: LineRights) => [
  ...(paymentEntry ? [] : [{ fields: RECEIPT, needs: 'payment_entry (edit)' }]),
  ...(invoice ? [] : [{ fields: INVOICE, needs: 'invoice (edit)' }]),
];

function given(line: object, fields: object): string[] {
  const values = new Map(Object.entries(line));
  return Object.keys(fields).filter((field) => !NO_VALUE.has(values.get(field)));
}

/** Empty values and the defaults of a new line. */
const NO_VALUE: ReadonlySet<unknown> = new Set([undefined, null, '', 0, 'pending']);

/** A new line without its receipt and invoice fields. */
export const unpaid = (line: LineRow): LineRow => ({
  ...line,
  receivedMinor: 0,
  receivedDate: null,
  method: null,
  payerName: null,
  receiptAccount: null,
  bankSerialNo: null,
  reconciliationStatus: 'pending',
  reconciliationNote: null,
  proof: null,
  invoiceMinor: null,
  invoiceDate: null,
  invoiceNo: null,
  invoiceAttachment: null,
});
