import currencyCodes from 'currency-codes';

/**
 * Money is an integer in minor units (fen, yen, fils), never computed as a float. Every result is exact, or rounded
 * once, half away from zero.
 */
export interface AmountProblem {
  problem: 'NOT_A_NUMBER' | 'TOO_MANY_DECIMALS' | 'TOO_LARGE';
  /** Completes a sentence that begins with the field's path: `must have at most 2 decimals in CNY`. */
  message: string;
}

export function isAmountProblem(value: unknown): value is AmountProblem {
  return typeof value === 'object' && value !== null && 'problem' in value;
}

/** Whether the text is an upper-case ISO 4217 code of a real currency (not XXX "no currency" or XTS "testing"). */
export function isCurrency(code: string): boolean {
  return DECIMALS.has(code);
}

/** How many decimals the currency has in ISO 4217: CNY 2, JPY 0, KWD 3, CLF 4. Throws RangeError on an unknown code. */
export function decimalsOf(code: string): number {
  const decimals = DECIMALS.get(code);
  if (decimals === undefined) throw new RangeError(`not an ISO 4217 currency: ${code}`);
  return decimals;
}

/** Converts a JSON amount in major units to minor units, using the shortest decimal form of the number. */
export function toMinor(major: number, currency: string): number | AmountProblem {
  const decimals = decimalsOf(currency);
  if (!Number.isFinite(major)) return NOT_A_NUMBER;
  const amount = exactDecimal(major);
  if (abs(amount.digits) > BigInt(MAX_MAJOR) * 10n ** BigInt(amount.decimals)) return tooLarge(currency);
  if (amount.decimals > decimals) {
    return { problem: 'TOO_MANY_DECIMALS', message: `must have at most ${decimals} decimals in ${currency}` };
  }
  return withinCap(amount.digits * 10n ** BigInt(decimals - amount.decimals), currency);
}

/**
 * Converts minor units to a JSON number in major units, which `toMinor` converts back exactly. Exception: with 3
 * decimals, above 2^43 major units (8.8 trillion), neighbouring amounts share a JSON number.
 */
export function toMajor(minor: number, currency: string): number {
  return minor / 10 ** decimalsOf(currency);
}

/** Minor units as text for a message: `1200.00 CNY`. */
export function moneyText(minor: number | bigint, currency: string): string {
  const decimals = decimalsOf(currency);
  const digits = abs(BigInt(minor))
    .toString()
    .padStart(decimals + 1, '0');
  const point = digits.length - decimals;
  const amount = digits.slice(0, point) + (decimals > 0 ? `.${digits.slice(point)}` : '');
  return `${minor < 0 ? '-' : ''}${amount} ${currency}`;
}

/** Converts a sum of minor units, which may not be a safe integer, to the nearest JSON number in major units. */
export function sumToMajor(minor: bigint, currency: string): number {
  return Number(`${minor}e-${decimalsOf(currency)}`); // read as decimal text: a division would round twice
}

/**
 * Quantity × unit price in minor units. The unit price is in major units with up to 6 decimals; the quantity an
 * integer.
 */
export function multiply(quantity: number, unitPrice: string | number, currency: string): number | AmountProblem {
  if (!Number.isSafeInteger(quantity)) throw new RangeError(`not an integer quantity: ${quantity}`);
  const price = exactDecimal(unitPrice);
  const scaled = BigInt(quantity) * price.digits * 10n ** BigInt(decimalsOf(currency));
  return withinCap(divideRounded(scaled, 10n ** BigInt(price.decimals)), currency);
}

/** Splits a total into shares: each is floored, and the last gets the remainder, so that they add up to the total. */
export function splitMinor(total: number, parts: number): number[] {
  if (!Number.isSafeInteger(total)) throw new RangeError(`not minor units: ${total}`);
  if (!Number.isSafeInteger(parts) || parts < 1) throw new RangeError(`not a number of shares: ${parts}`);
  const remainder = ((total % parts) + parts) % parts;
  const share = (total - remainder) / parts;
  return Array.from({ length: parts }, (_, index) => (index === parts - 1 ? share + remainder : share));
}

/** The sum of minor units of one currency, refused above the cap. */
export function sumMinor(values: Iterable<number>, currency: string): number | AmountProblem {
  let sum = 0n;
  for (const value of values) sum += BigInt(value);
  return withinCap(sum, currency);
}

/** a / b of two integers (minor units, sums of them or counts) with 4 decimals; null when b is 0. */
export function ratio(a: number | bigint, b: number | bigint): number | null {
  return BigInt(b) === 0n ? null : Number(divideRounded(BigInt(a) * 10_000n, BigInt(b))) / 10_000;
}

/** The tax contained in a tax-inclusive amount: amount × r / (100 + r), r in percent (13 = 13 %); net is the rest. */
export function taxIncluded(amountMinor: number, ratePercent: string | number): { tax: number; net: number } {
  const rate = exactDecimal(ratePercent);
  if (rate.digits < 0n) throw new RangeError(`not a tax rate: ${ratePercent}`);
  const hundred = 100n * 10n ** BigInt(rate.decimals);
  const tax = Number(divideRounded(BigInt(amountMinor) * rate.digits, hundred + rate.digits));
  return { tax, net: amountMinor - tax };
}

/** A unit price or a rate as stored: decimal text with up to 6 decimals and no exponent. */
export function unitPriceText(value: number): string | AmountProblem {
  if (!Number.isFinite(value)) return NOT_A_NUMBER;
  if (Math.abs(value) > MAX_MAJOR) return { problem: 'TOO_LARGE', message: `must be <= ${MAX_MAJOR}` };
  const { digits, decimals } = exactDecimal(value);
  if (decimals > UNIT_PRICE_DECIMALS) {
    return { problem: 'TOO_MANY_DECIMALS', message: `must have at most ${UNIT_PRICE_DECIMALS} decimals` };
  }
  const text = abs(digits)
    .toString()
    .padStart(decimals + 1, '0');
  const point = text.length - decimals;
  return (digits < 0n ? '-' : '') + text.slice(0, point) + (decimals > 0 ? `.${text.slice(point)}` : '');
}

/** The JSON number of a stored unit price. Throws RangeError on text that is not a decimal. */
export function unitPriceNumber(text: string): number {
  exactDecimal(text);
  return Number(text);
}

const MAX_MAJOR = 9_000_000_000_000;
const MAX_MINOR = 9_000_000_000_000_000;
// With 4 decimals the cap in major units would exceed a safe integer, and from 2^39 on neighbouring amounts share a
// JSON number.
const MAX_MINOR_OF_FOUR_DECIMALS = 5_000_000_000_000_000;
const UNIT_PRICE_DECIMALS = 6;
const NOT_A_NUMBER: AmountProblem = { problem: 'NOT_A_NUMBER', message: 'must be a finite number' };

// The package's table dates from 2024; the Caribbean guilder was introduced in March 2025.
const LATER_CURRENCIES: [string, number][] = [['XCG', 2]];
const NOT_MONEY = new Set(['XXX', 'XTS']);
const DECIMALS = new Map(
  [...currencyCodes.data.map(({ code, digits }): [string, number] => [code, digits]), ...LATER_CURRENCIES].filter(
    ([code]) => !NOT_MONEY.has(code),
  ),
);

function capOf(currency: string): number {
  const decimals = decimalsOf(currency);
  return decimals >= 4 ? MAX_MINOR_OF_FOUR_DECIMALS : Math.min(MAX_MAJOR * 10 ** decimals, MAX_MINOR);
}

function withinCap(minor: bigint, currency: string): number | AmountProblem {
  return abs(minor) > BigInt(capOf(currency)) ? tooLarge(currency) : Number(minor);
}

function tooLarge(currency: string): AmountProblem {
  return { problem: 'TOO_LARGE', message: `must be <= ${capOf(currency) / 10 ** decimalsOf(currency)} in ${currency}` };
}

/** The exact value digits / 10^decimals, without trailing zeros in the decimals. */
function exactDecimal(value: string | number): { digits: bigint; decimals: number } {
  const match = DECIMAL.exec(String(value));
  if (match === null) throw new RangeError(`not a decimal number: ${value}`);
  const [, sign = '', whole = '', fraction = '', exponent = '0'] = match;
  // A JSON number prints with an exponent from 1e21 up and below 1e-6.
  let decimals = fraction.length - Number(exponent);
  let digits = BigInt(sign + whole + fraction);
  if (decimals < 0) {
    digits *= 10n ** BigInt(-decimals);
    decimals = 0;
  }
  while (decimals > 0 && digits % 10n === 0n) {
    digits /= 10n;
    decimals -= 1;
  }
  return { digits, decimals };
}

const DECIMAL = /^(-?)(\d+)(?:\.(\d+))?(?:e([+-]\d{1,3}))?$/;

/** numerator / denominator to the nearest integer, halves away from zero. */
function divideRounded(numerator: bigint, denominator: bigint): bigint {
  const magnitude = (2n * abs(numerator) + abs(denominator)) / (2n * abs(denominator));
  return numerator < 0n === denominator < 0n ? magnitude : -magnitude;
}

function abs(value: bigint): bigint {
  return value < 0n ? -value : value;
}
