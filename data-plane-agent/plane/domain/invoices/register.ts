import { toMajor } from '../../../base/money.js';
import type { InvoiceEntry, RegisterRow } from '../../contract/records/invoice-register.js';
import type { InvoiceRow } from '../../tables/invoices.js';
import { invoiceAnswer } from './invoices.js';

type Counterpart = Pick<InvoiceRow, 'id' | 'invoiceNo' | 'invoiceDate'>;

/** A record with data of its contract, of its line and of the other record of a reversal. */
export interface RegisteredInvoice {
  readonly invoice: InvoiceRow;
  readonly reverses: Counterpart | null;
  readonly reversedBy: Counterpart | null;
  readonly of: Pick<
    RegisterRow,
    'contractNo' | 'projectName' | 'partyA' | 'partyB' | 'subjectId' | 'ownerId' | 'period'
  >;
}

export const registerRow = ({ of, ...entry }: RegisteredInvoice): RegisterRow => ({ ...invoiceEntry(entry), ...of });

/** The records of one contract; a reversal and its counterpart are always in the same contract. */
export function invoiceEntries(records: readonly InvoiceRow[]): InvoiceEntry[] {
  const byId = new Map(records.map((row) => [row.id, row]));
  return records.map((invoice) =>
    invoiceEntry({
      invoice,
      reverses: byId.get(invoice.reversesId ?? '') ?? null,
      reversedBy: byId.get(invoice.reversedById ?? '') ?? null,
    }),
  );
}

const invoiceEntry = ({ invoice, reverses, reversedBy }: Omit<RegisteredInvoice, 'of'>): InvoiceEntry => ({
  ...invoiceAnswer(invoice),
  countedAmount: toMajor(countedMinor(invoice), invoice.currencyCode),
  reverses: reverses && counterpart(reverses),
  reversedBy: reversedBy && counterpart(reversedBy),
});

const counterpart = ({ id, invoiceNo, invoiceDate }: Counterpart): Counterpart => ({ id, invoiceNo, invoiceDate });

function countedMinor({ status, amountMinor }: InvoiceRow): number {
  if (status === 'red_letter') return amountMinor === 0 ? 0 : -amountMinor;
  return status === 'issued' ? amountMinor : 0;
}
