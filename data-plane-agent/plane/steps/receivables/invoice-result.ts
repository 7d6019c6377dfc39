import type { Day } from '../../../base/day.js';
import { warn } from '../../../base/warnings.js';
import type { Warning } from '../../contract/records/common.js';
import type { InvoiceResult } from '../../contract/records/invoices.js';
import type { InvoiceRow } from '../../tables/invoices.js';
import { invoiceAnswer, isStanding } from '../../domain/invoices/invoices.js';
import { invoiceDateWarnings, invoiceWarnings } from '../../domain/payments/line-changes.js';
import type { LineRow } from '../../tables/payment-lines.js';
import type { ContractRow } from '../../tables/contracts.js';

/** A new or changed record as it is returned, with warnings. */
export function invoiceResult(
  row: InvoiceRow,
  {
    contract,
    lines,
    today,
    dated = row,
  }: {
    readonly contract: ContractRow;
    readonly lines: readonly LineRow[];
    readonly today: Day;
    /** The record whose date the request decides: the record itself, or the red letter that reverses it. */
    readonly dated?: InvoiceRow | undefined;
  },
): InvoiceResult {
  const line = lines.find(({ id }) => id === row.lineId);
  const warnings: Warning[] = [
    ...(row.currencyCode === contract.currencyCode ? [] : [warn('MIXED_CURRENCY', {})]),
    ...(isBelowOne(row.taxRate) ? [warn('TAX_RATE_BELOW_ONE', {})] : []),
    ...(isStanding(dated) ? invoiceDateWarnings(dated, today) : []).map((warning) => ({
      ...warning,
      ...(line ? { paymentIds: [line.id] } : {}),
    })),
    ...(line ? invoiceWarnings(line).map((warning) => ({ ...warning, paymentIds: [line.id] })) : []),
  ];
  return { ...invoiceAnswer(row), contractVersion: contract.version, warnings };
}

/** A rate above 0 and below 1 percent is more likely to be a fraction. */
const isBelowOne = (taxRate: string | null): boolean => Number(taxRate) > 0 && Number(taxRate) < 1;
