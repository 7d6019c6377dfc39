import { warn, type GivenWarning, type WarningCode } from '../../../base/warnings.js';
import { decimalsOf, isAmountProblem, multiply, toMinor } from '../../../base/money.js';
import type { Readings } from './candidates.js';

const FOR = 0.03;

/**
 * Compares readings of related fields: agreement raises their confidence, and a contradiction lowers it and adds a
 * warning.
 */
export function crossCheck(readings: Readings, currency: string): GivenWarning[] {
  return [
    ...amountsInWords(readings),
    ...totals(readings, currency),
    ...days(readings),
    ...instalments(readings, currency),
  ];
}

/** Compares amounts in words with those in digits. */
function amountsInWords(readings: Readings): GivenWarning[] {
  const warnings: GivenWarning[] = [];
  for (const key of ['totalAmount', 'deposit', 'periodicRent', 'unitPrice']) {
    const best = readings.best(key);
    if (best?.inWords === undefined) continue;
    const inWords = Number(best.inWords);
    if (inWords === best.value) {
      readings.strengthen(key, FOR);
      continue;
    }
    readings.weaken(key, 0.35, 'CAPITAL_AMOUNT_MISMATCH');
    readings.add(key, {
      value: inWords,
      start: best.start,
      end: best.end,
      confidence: best.confidence - 0.4,
      doubts: ['CAPITAL_AMOUNT_MISMATCH'],
    });
    warnings.push(
      warn('CAPITAL_AMOUNT_MISMATCH', {
        message: `${key}: the amount in words, ${best.inWords}, is not the amount in digits, ${String(best.value)}.`,
      }),
    );
  }
  return warnings;
}

function totals(readings: Readings, currency: string): GivenWarning[] {
  const [quantity, price, total] = [
    readings.best('quantity'),
    readings.best('unitPrice'),
    readings.best('totalAmount'),
  ];
  // With several items, quantity × price of one of them cannot be compared with the total.
  if (
    !quantity ||
    !price ||
    !total ||
    quantity.doubts.includes('SEVERAL_ITEMS') ||
    price.doubts.includes('SEVERAL_ITEMS')
  )
    return [];
  const computed = multiply(Number(quantity.value), Number(price.value), currency);
  const stated = toMinor(Number(total.value), currency);
  if (isAmountProblem(computed) || isAmountProblem(stated)) return [];
  const agree = computed === stated;
  for (const key of ['quantity', 'unitPrice', 'totalAmount'])
    adjustConfidence(readings, key, agree ? undefined : { by: 0.15, doubt: 'TOTAL_MISMATCH' });
  return agree
    ? []
    : [
        warn('TOTAL_MISMATCH', {
          message: `Quantity × unit price is ${computed / 10 ** decimalsOf(currency)}, and the total is ${String(total.value)}.`,
        }),
      ];
}

function days(readings: Readings): GivenWarning[] {
  const [start, end] = [readings.best('startDate'), readings.best('endDate')];
  if (!start || !end) return [];
  const agree = String(start.value) <= String(end.value);
  if (!agree) for (const key of ['startDate', 'endDate']) readings.weaken(key, 0.3, 'DATES_REVERSED');
  return agree
    ? []
    : [
        warn('DATES_REVERSED', {
          message: `The end, ${String(end.value)}, is before the start, ${String(start.value)}.`,
        }),
      ];
}

function instalments(readings: Readings, currency: string): GivenWarning[] {
  const periods = readings.keys().filter((key) => /^payments\[\d+\]\.period$/.test(key));
  const keys = periods.map((key) => key.replace('.period', '.amount'));
  const amounts = keys.map((key) => readings.best(key)?.value);
  const total = readings.best('totalAmount');
  if (!total || amounts.length === 0 || amounts.some((amount) => amount === undefined)) return [];
  const minors = [total.value, ...amounts].map((amount) => toMinor(Number(amount), currency));
  if (minors.some(isAmountProblem)) return [];
  const [stated = 0, ...parts] = minors as number[];
  const sum = parts.reduce((all, part) => all + part, 0);
  const agree = sum === stated;
  // Amounts computed from shares always add up to the total, so they confirm nothing.
  for (const key of keys)
    if (!agree || !readings.best(key)?.doubts.includes('FROM_SHARE'))
      adjustConfidence(readings, key, agree ? undefined : { by: 0.1, doubt: 'INSTALMENTS_MISMATCH' });
  return agree
    ? []
    : [
        warn('INSTALMENTS_MISMATCH', {
          message: `The instalments add up to ${sum / 10 ** decimalsOf(currency)}, and the total is ${String(total.value)}.`,
        }),
      ];
}

function adjustConfidence(
  readings: Readings,
  key: string,
  against: { readonly by: number; readonly doubt: WarningCode } | undefined,
): void {
  if (against) readings.weaken(key, against.by, against.doubt);
  else readings.strengthen(key, FOR);
}
