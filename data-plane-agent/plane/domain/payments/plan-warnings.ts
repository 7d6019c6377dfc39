import { moneyText, toMajor } from '../../../base/money.js';
import { warn, type GivenWarning } from '../../../base/warnings.js';
import type { ContractRow } from '../../tables/contracts.js';
import type { LineRow } from '../../tables/payment-lines.js';

/**
 * The warning about a plan that does not add up to the contract's total. A contract without lines has no plan yet, and
 * a plan in several currencies cannot be compared with one total: neither is warned about here.
 */
export function planWarnings(
  {
    totalMinor,
    receivableMinor,
    otherCurrencyLines,
    currencyCode,
  }: Pick<ContractRow, 'totalMinor' | 'receivableMinor' | 'otherCurrencyLines' | 'currencyCode'>,
  lines: readonly Pick<LineRow, 'id'>[],
): GivenWarning[] {
  const difference = totalMinor - receivableMinor;
  if (lines.length === 0 || otherCurrencyLines > 0 || difference === 0) return [];
  const side = difference > 0 ? 'less' : 'more';
  return [
    warn('PLAN_DIFFERS_FROM_TOTAL', {
      message: `The payment lines add up to ${moneyText(receivableMinor, currencyCode)}, which is ${moneyText(Math.abs(difference), currencyCode)} ${side} than the contract's total of ${moneyText(totalMinor, currencyCode)}.`,
      difference: toMajor(difference, currencyCode),
      totalAmount: toMajor(totalMinor, currencyCode),
      planAmount: toMajor(receivableMinor, currencyCode),
      currencyCode,
    }),
  ];
}
