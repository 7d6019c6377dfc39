import type { Day } from '../../../base/day.js';
import type { GivenWarning, WarningCode } from '../../../base/warnings.js';
import type { Warning } from '../../contract/records/common.js';
import { invoiceWarnings, receiptWarnings, type ChangedLine } from './line-changes.js';

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
  const byCode = new Map<WarningCode, GivenWarning & { paymentIds: string[] }>();
  for (const change of changes) {
    for (const warning of [...receiptWarnings(change, today), ...invoiceWarnings(change.after)]) {
      if (warning.code === 'RECEIPT_LOWERED') {
        if (lowered.length < NAMED_LINES) lowered.push(warning);
        continue;
      }
      const known = byCode.get(warning.code) ?? { ...warning, paymentIds: [] };
      byCode.set(warning.code, known);
      if (known.paymentIds.length < NAMED_LINES) known.paymentIds.push(change.after.id);
    }
  }
  return [...lowered, ...byCode.values(), ...reused];
}
