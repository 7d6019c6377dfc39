import { normal } from '../../../base/text.js';
import { MAX_NUMBER } from '../../contract/records/fields.js';

/** A number as plain decimal text, without exponent. */
export function plainNumber(value: number): string {
  const text = String(value);
  const match = /^(-?)(\d)(?:\.(\d+))?e([+-]\d+)$/.exec(text);
  if (!match) return text;
  const [, sign = '', whole = '', fraction = '', exponent = '0'] = match;
  const digits = whole + fraction;
  const point = 1 + Number(exponent);
  if (point <= 0) return `${sign}0.${'0'.repeat(-point)}${digits}`;
  return digits.length <= point
    ? sign + digits + '0'.repeat(point - digits.length)
    : `${sign}${digits.slice(0, point)}.${digits.slice(point)}`;
}

export const decimalsIn = (value: number): number => plainNumber(value).split('.')[1]?.length ?? 0;

/**
 * Reads a number as written by people: with thousands separators, a currency symbol or code, a percent sign, or
 * full-width digits. In `1.234,56` the order of the separators decides; `1,5` is ambiguous and not read. Returns
 * `undefined` also for numbers that JSON cannot represent exactly.
 */
export function numberIn(text: string): number | undefined {
  const parts = numberParts(text);
  const plain = parts && withoutSeparators(parts.unsigned);
  return parts && plain !== undefined ? exactNumber(plain, parts) : undefined;
}

export interface NumberParts {
  readonly isNegative: boolean;
  /** Digits with their separators, without a currency, a unit of percent or a sign. */
  readonly unsigned: string;
}

/** Separates the sign and the symbols of a number from its digits; `undefined` for a text that is too long for one. */
export function numberParts(text: string): NumberParts | undefined {
  const trimmed = text.trim();
  // Matching at the end of a long text takes quadratic time.
  const normalised = normal(trimmed, { max: MAX_TEXT, form: 'NFKC' });
  if (!normalised.ok) return undefined;
  const bare = normalised.text.trim();
  const sign = /^(?:[+-]|−)/.exec(bare)?.[0] ?? '';
  const unsigned = bare
    .slice(sign.length)
    .replace(/^(?:[A-Z]{3}\b|\p{Sc}|元)\s*/u, '')
    .replace(/\s*(?:[A-Z]{3}|\p{Sc}|元|%)$/u, '')
    .trim();
  return { isNegative: sign !== '' && sign !== '+', unsigned };
}

/** The value of plain digits; `undefined` for a number that JSON cannot represent exactly. */
export function exactNumber(plain: string, { isNegative }: Pick<NumberParts, 'isNegative'>): number | undefined {
  const value = Number(plain);
  if (Math.abs(value) > MAX_NUMBER || canonical(plainNumber(value)) !== canonical(plain)) return undefined;
  return value === 0 ? 0 : isNegative ? -value : value;
}

/** Longer than any exact number with its symbols, in characters. */
const MAX_TEXT = 200;

function withoutSeparators(text: string): string | undefined {
  if (text.length > 60) return undefined;
  if (/^(?:\d+(?:\.\d+)?|\.\d+)$/.test(text)) return text;
  for (const separator of [',', ' ', "'", '’']) {
    const grouped = new RegExp(`^\\d{1,3}(?:${separator}\\d{3})+(?:\\.\\d+)?$`);
    if (grouped.test(text)) return text.replaceAll(separator, '');
  }
  // The last separator is the decimal point when a different separator precedes it.
  return /^\d{1,3}(?:\.\d{3})+,\d+$/.test(text) || /^\d{1,3}(?:\.\d{3}){2,}$/.test(text)
    ? text.replaceAll('.', '').replace(',', '.')
    : undefined;
}

/** Normalizes digits, so that `007.50` equals `7.5`. */
const canonical = (plain: string): string => {
  const [whole = '', fraction = ''] = plain.split('.');
  return `${whole.replace(/^0+(?=\d)/, '') || '0'}.${fraction.replace(/0+$/, '')}`;
};
