/**
 * The ASCII letters and digits of a text in upper case, without what separates them: numbers are written with spaces,
 * dashes and dots in many ways. A token is a run of letters and digits; the tokens of a chain are separated by at most
 * three separators.
 */
export interface Tokens {
  readonly chars: string;
  /** The position of each character in the text. */
  readonly at: Uint32Array;
  /** The number of digits before each character; has one entry more than there are characters. */
  readonly digitsBefore: Uint32Array;
  /** The first character of each token; the last entry is the number of characters. */
  readonly starts: readonly number[];
  /** What is before each token. */
  readonly gaps: readonly Gap[];
}

/** `soft`: separators within a number. `bracket`: the same with brackets, as in phone numbers. */
export type Gap = 'soft' | 'bracket' | 'hard';

export function tokensOf(text: string): Tokens {
  const units = new Uint8Array(text.length);
  const at = new Uint32Array(text.length);
  const digitsBefore = new Uint32Array(text.length + 1);
  const starts: number[] = [];
  const gaps: Gap[] = [];
  let count = 0;
  let end = -1;
  const begin = (gap: Gap): void => {
    starts.push(count);
    gaps.push(gap);
  };
  for (let index = 0; index < text.length; index++) {
    const unit = upper(text.charCodeAt(index));
    if (!isAlphanumeric(unit)) continue;
    if (end < 0 || index > end) begin(end < 0 ? 'hard' : gapOf(text, end, index));
    else if (isDigit(unit) && isLetter(units[count - 1] ?? 0) && endsLabel(units, starts.at(-1) ?? 0, count))
      begin('soft');
    units[count] = unit;
    at[count] = index;
    digitsBefore[count + 1] = (digitsBefore[count] ?? 0) + (isDigit(unit) ? 1 : 0);
    count++;
    end = index + 1;
  }
  starts.push(count);
  return {
    chars: Buffer.from(units.buffer, 0, count).toString('latin1'),
    at: at.subarray(0, count),
    digitsBefore: digitsBefore.subarray(0, count + 1),
    starts,
    gaps,
  };
}

const isDigit = (unit: number): boolean => unit >= 0x30 && unit <= 0x39;
const isLetter = (unit: number): boolean => unit >= 0x41 && unit <= 0x5a;
const isAlphanumeric = (unit: number): boolean => isDigit(unit) || isLetter(unit);
const upper = (unit: number): number => (unit >= 0x61 && unit <= 0x7a ? unit - 0x20 : unit);

const LONGEST_GAP = 3;
const SOFT = new Set(' -._/·•');
const BRACKETS = new Set('()');

function gapOf(text: string, start: number, end: number): Gap {
  if (end - start > LONGEST_GAP) return 'hard';
  let gap: Gap = 'soft';
  for (let index = start; index < end; index++) {
    const character = text[index] ?? '';
    if (BRACKETS.has(character)) gap = 'bracket';
    else if (!SOFT.has(character)) return 'hard';
  }
  return gap;
}

/** Words that are written directly before a number, as in `Tel13800138000`. */
const LABELS = new Set(
  'TEL PHONE MOBILE MOB CELL FAX NO ID CARD CARDNO IDNO ACCT ACCOUNT IBAN PASSPORT WECHAT'.split(' '),
);
const LONGEST_LABEL = 8;

function endsLabel(units: Uint8Array, start: number, end: number): boolean {
  if (end - start < 2 || end - start > LONGEST_LABEL) return false;
  return LABELS.has(Buffer.from(units.buffer, start, end - start).toString('latin1'));
}
