import { isAmountProblem, isCurrency, moneyText, toMinor } from '../../../data-plane-agent/base/money.js';
import type { ReminderLine } from './notice.js';

/** `1,234,500.00 CNY`, with the decimals of the currency. */
export function amountText(major: number, currency: string): string {
  const minor = isCurrency(currency) ? toMinor(major, currency) : NaN;
  return isAmountProblem(minor) || Number.isNaN(minor) ? `${major} ${currency}` : grouped(moneyText(minor, currency));
}

/** The exact sum of what is outstanding for each currency, in alphabetical order: currencies are never added. */
export function totalsOf(lines: readonly ReminderLine[]): string[] {
  const totals = new Map<string, bigint>();
  for (const { outstandingAmount, currencyCode } of lines) {
    const minor = toMinor(outstandingAmount, currencyCode);
    if (isAmountProblem(minor)) throw new RangeError(`not an amount in ${currencyCode}: ${outstandingAmount}`);
    totals.set(currencyCode, (totals.get(currencyCode) ?? 0n) + BigInt(minor));
  }
  return [...totals]
    .toSorted(([one], [other]) => (one < other ? -1 : 1))
    .map(([currency, minor]) => grouped(moneyText(minor, currency)));
}

const grouped = (money: string): string => money.replace(/^-?\d+/, (whole) => whole.replace(/\B(?=(\d{3})+$)/g, ','));
