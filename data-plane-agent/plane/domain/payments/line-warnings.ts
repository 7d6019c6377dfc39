import { warn, type GivenWarning, type WarningCode } from '../../../base/warnings.js';
import type { Warning } from '../../contract/records/common.js';
import { invoiceWarnings, receiptWarnings } from './line-changes.js';
import type { LineRow } from '../../tables/payment-lines.js';

/** The largest number of lines that a warning names. */
export const NAMED_LINES = 100;

/**
 * The warnings of several lines, each code once with the ids of its lines; `sharing` are ids of lines paid by the same
 * bank transfer.
 */
export function lineWarnings(lines: readonly LineRow[], sharing: readonly string[]): Warning[] {
  const byCode = new Map<WarningCode, GivenWarning & { paymentIds: string[] }>();
  for (const line of lines) {
    for (const warning of [...receiptWarnings(line), ...invoiceWarnings(line)]) {
      const known = byCode.get(warning.code) ?? { ...warning, paymentIds: [] };
      byCode.set(warning.code, known);
      if (known.paymentIds.length < NAMED_LINES) known.paymentIds.push(line.id);
    }
  }
  return [
    ...byCode.values(),
    ...(sharing.length === 0 ? [] : [warn('BANK_SERIAL_REUSED', { paymentIds: [...sharing] })]),
  ];
}
