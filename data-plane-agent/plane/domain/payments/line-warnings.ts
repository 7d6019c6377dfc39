import type { Day } from '../../../base/day.js';
import type { GivenWarning, WarningCode } from '../../../base/warnings.js';
import type { Warning } from '../../contract/records/common.js';
import { invoiceDateWarnings, invoiceWarnings, receiptWarnings, type ChangedLine } from './line-changes.js';

/** The largest number of lines that a warning names. */
export const NAMED_LINES = 100;

/**
 * The warnings of several changed lines: each code once with the ids of its lines, but one `RECEIPT_LOWERED` for each
 * line, since it has amounts. `reused` are the warnings about bank transfers.
 */
export function lineWarnings(
  changes: readonly ChangedLine[],
  { today, reused }: { readonly today: Day; readonly reused: readonly Warning[] },
): Warning[] {
  const lowered: GivenWarning[] = [];
  const ofReceipts: Grouped = new Map();
  const ofInvoices: Grouped = new Map();
  for (const change of changes) {
    for (const warning of receiptWarnings(change, today)) {
      if (warning.code !== 'RECEIPT_LOWERED') group(ofReceipts, warning, change);
      else if (lowered.length < NAMED_LINES) lowered.push(warning);
    }
    for (const warning of [...invoiceDateWarnings(change.after, today), ...invoiceWarnings(change.after)])
      group(ofInvoices, warning, change);
  }
  return [...lowered, ...ofReceipts.values(), ...ofInvoices.values(), ...reused];
}

type Grouped = Map<WarningCode, GivenWarning & { paymentIds: string[] }>;

function group(grouped: Grouped, warning: GivenWarning, { after }: ChangedLine): void {
  const known = grouped.get(warning.code) ?? { ...warning, paymentIds: [] };
  grouped.set(warning.code, known);
  if (known.paymentIds.length < NAMED_LINES) known.paymentIds.push(after.id);
}
