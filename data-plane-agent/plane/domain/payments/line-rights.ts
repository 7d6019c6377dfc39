import { fail } from '../../../base/failures.js';
import type { Rights } from '../../contract/call.js';
import type { LineRow } from '../../tables/payment-lines.js';

/** Fields of a line as a request names them, each with its column. */
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
 * Who enters or changes lines must be allowed to record receipts where a receipt changes, and invoices where an invoice
 * does. `planned` is the line with neither changed: to send back what a line has is no change, and needs no right.
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

/**
 * The same of lines that are new, before anything else is said of them: a line has nothing before it is entered, and
 * what says nothing changes nothing.
 */
export function checkNewLineRights(lines: readonly object[], rights: LineRights): void {
  for (const { fields, needs } of lacking(rights)) {
    if (lines.some((line) => given(line, fields).length > 0)) throw fail('FORBIDDEN', { needs });
  }
}

/** The fields of a new line for which a right is lacking, each with what it needs. */
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
  return Object.keys(fields).filter((field) => !SAYS_NOTHING.has(values.get(field)));
}

/** Nothing received, and what every line begins with. */
const SAYS_NOTHING: ReadonlySet<unknown> = new Set([undefined, null, '', 0, 'pending']);

/** A new line as it would be with nothing received and nothing invoiced. */
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
