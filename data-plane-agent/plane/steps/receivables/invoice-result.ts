import { warn } from '../../../base/warnings.js';
import type { Warning } from '../../contract/records/common.js';
import type { InvoiceResult } from '../../contract/records/invoices.js';
import type { InvoiceRow } from '../../tables/invoices.js';
import { invoiceAnswer } from '../../domain/invoices/invoices.js';
import { invoiceWarnings } from '../../domain/payments/line-changes.js';
import type { LineRow } from '../../tables/payment-lines.js';
import type { ContractRow } from '../../tables/contracts.js';

/** A new or changed record as it is returned, with warnings. */
export function invoiceResult(
  row: InvoiceRow,
  { contract, lines }: { readonly contract: ContractRow; readonly lines: readonly LineRow[] },
): InvoiceResult {
  const line = lines.find(({ id }) => id === row.lineId);
  const warnings: Warning[] = [
    ...(row.currencyCode === contract.currencyCode ? [] : [warn('MIXED_CURRENCY', {})]),
    ...(line ? invoiceWarnings(line).map((warning) => ({ ...warning, paymentIds: [line.id] })) : []),
  ];
  return { ...invoiceAnswer(row), contractVersion: contract.version, warnings };
}
