import { decimalsIn, exactNumber, numberParts, plainNumber } from '../fields/numbers.js';
import { readByEvidence, type Evidence, type Readings } from './evidence.js';

/** The decimal mark: `1,234.56` or `1.234,56`. */
export type NumberStyle = 'point' | 'comma';
export type NumberEvidence = Evidence<NumberStyle>;

export const DECIMAL_MARKS = { point: '.', comma: ',' } as const satisfies Record<NumberStyle, string>;
/** For each style, a number that is valid in this style only. */
export const NUMBER_SAMPLES = { point: '1,234.56', comma: '1.234,56' } as const satisfies Record<NumberStyle, string>;

/** All groups of a number have the same separator, and the first group has no leading zero. */
const GROUPED = {
  point: /^[1-9]\d{0,2}([, '’])\d{3}(?:\1\d{3})*(?:\.\d+)?$/,
  comma: /^[1-9]\d{0,2}([. '’])\d{3}(?:\1\d{3})*(?:,\d+)?$/,
} as const satisfies Record<NumberStyle, RegExp>;
const UNGROUPED = { point: /^\d*\.\d+$/, comma: /^\d*,\d+$/ } as const satisfies Record<NumberStyle, RegExp>;
const STYLES = ['point', 'comma'] as const;
const LONGEST = 60;

/**
 * The possible numbers of a text, by style. `45.000` may be 45 or 45000, `1.5` is invalid with a decimal comma, and
 * `1 234` has the same value in both styles.
 */
export function numberReadings(text: string): Readings<NumberStyle, number> {
  const parts = numberParts(text);
  if (!parts || parts.unsigned.length > LONGEST) return {};
  const { unsigned } = parts;
  const readings: Partial<Record<NumberStyle, number>> = {};
  for (const style of STYLES) {
    const plain = /^\d+$/.test(unsigned) ? unsigned : plainIn(unsigned, style);
    const value = plain === undefined ? undefined : exactNumber(plain, parts);
    if (value !== undefined) readings[style] = value;
  }
  return readings;
}

function plainIn(text: string, style: NumberStyle): string | undefined {
  const mark = GROUPED[style].exec(text)?.[1];
  if (mark === undefined && !UNGROUPED[style].test(text)) return undefined;
  return (mark === undefined ? text : text.replaceAll(mark, '')).replace(DECIMAL_MARKS[style], '.');
}

/** The thousands separator of a number in this style; `undefined` for a number without one. */
export const groupMarkIn = (text: string, style: NumberStyle): string | undefined =>
  GROUPED[style].exec(numberParts(text)?.unsigned ?? '')?.[1]?.replace('’', "'");

/**
 * Whether a text has three digits after a point, of which the last is a zero, so that it may contain thousands:
 * `45.000`. Programs do not write such decimals, so this is ambiguous even if the delimiter is a comma.
 */
export const mayBeThousandsByPoints = (text: string): boolean =>
  /^[1-9]\d{0,2}\.\d\d0$/.test(numberParts(text)?.unsigned ?? '');

export type ReadNumber =
  { readonly ok: true; readonly value: number } | { readonly ok: false; readonly problem: string };

export const NO_NUMBER = 'must be a number like 1234.56';

/** The greatest number of decimals that a column may have; `currency` for an amount, whose currency decides it. */
export type Decimals = number | 'currency' | 'any';

/** Reads a number in the style of its file. A problem is the end of a sentence that begins with the column name. */
export function readNumber(text: string, evidence: NumberEvidence, most: Decimals = 'any'): ReadNumber {
  const read = readByEvidence(numberReadings(text), evidence);
  if (read.ok) return read;
  switch (read.why) {
    case 'unreadable':
      return { ok: false, problem: NO_NUMBER };
    case 'contradicts':
      return { ok: false, problem: contradiction(text.trim(), read.style, evidence) };
    case 'ambiguous':
      return { ok: false, problem: ambiguity(text.trim(), read.readings, { ...evidence, most }) };
  }
}

const MARK_NAMES = { point: 'decimal point', comma: 'decimal comma' } as const;

function contradiction(text: string, style: NumberStyle, { seen }: NumberEvidence): string {
  const other = style === 'point' ? 'comma' : 'point';
  return `"${text}" is written with a ${MARK_NAMES[style]}, but row ${seen[other] ?? 1} with a ${MARK_NAMES[other]}; write all numbers of the file alike`;
}

function ambiguity(
  text: string,
  readings: Readings<NumberStyle, number>,
  { isMixed, isUnknown, style, seen, most }: NumberEvidence & { readonly most: Decimals },
): string {
  const [decimals = 0, thousands = 0] = Object.values(readings).toSorted((a, b) => Math.abs(a) - Math.abs(b));
  const why = isMixed
    ? `row ${seen.point ?? 1} of the file has a decimal point and row ${seen.comma ?? 1} a decimal comma`
    : isUnknown
      ? 'the file from which the row was refused did not decide whether a point or a comma marks its decimals'
      : 'no number of the file shows whether a point or a comma marks its decimals';
  return `"${text}" may be ${plainNumber(decimals)} (with decimals) or ${plainNumber(thousands)} (with thousands): ${why}; write ${plainNumber(thousands)}${otherSpelling(decimals, style ?? onlySeen(seen) ?? 'point', most)}`;
}

/** The style of all numbers that show one. */
const onlySeen = ({ point, comma }: NumberEvidence['seen']): NumberStyle | undefined =>
  (point === undefined) === (comma === undefined) ? undefined : point === undefined ? 'comma' : 'point';

/**
 * How to write the reading with decimals, if the column may have as many: without a mark where it has none, so that it
 * contradicts no other number of the file, and otherwise in the style of the file.
 */
function otherSpelling(value: number, style: NumberStyle, most: Decimals): string {
  const count = decimalsIn(value);
  const alone = numberAlone(value, style, { decimals: count === 0 ? 0 : 2 });
  if (most === 'currency' && count > 2) return `, or ${alone} in a currency with ${count} decimals such as KWD`;
  if (typeof most === 'string' || count <= most) return ` or ${alone}`;
  return most === 0 ? ', since only a whole number is valid here' : `, since at most ${most} decimals are valid here`;
}

/** A text that has this value in any file. With a fraction, it also is evidence of the style of its file. */
export function numberAlone(value: number, style: NumberStyle, { decimals = 0 } = {}): string {
  const plain = plainNumber(value);
  const [whole = '', fraction = ''] = plain.split('.');
  // Three digits might be thousands.
  const shown = decimalsIn(value) === 3 ? `${fraction}0` : fraction.padEnd(decimals, '0');
  return shown === '' ? whole : `${whole}${DECIMAL_MARKS[style]}${shown}`;
}
