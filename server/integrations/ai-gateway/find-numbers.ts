import type { FindingType, Match } from './finding-types.js';
import {
  ibanLength,
  isAnyPassportNumber,
  isIban,
  isIssued,
  isOrganisationCode,
  isPassportNumber,
  isResidentId,
  luhnCheckOf,
  type LuhnCheck,
} from './identity-numbers.js';
import type { OwnNumbers } from './own-numbers.js';
import {
  INTERNATIONAL_DIGITS,
  isChineseNumber,
  isInternationalNumber,
  isSpaced,
  isWrittenAsNumber,
} from './phone-numbers.js';
import type { Tokens } from './tokens.js';

export interface Searched {
  readonly text: string;
  readonly tokens: Tokens;
  readonly own: OwnNumbers;
}

/**
 * Numbers with a form or a checksum. A number is one token, or several tokens of a chain: from each token on, every
 * sequence of whole tokens of at most `LONGEST` characters is checked, so that the work per token is bounded.
 */
export function findNumbers({ text, tokens, own }: Searched): Match[] {
  const found: Match[] = [];
  const { chars, at, starts, gaps, digitsBefore } = tokens;
  const count = gaps.length;
  const hasLuhnDigit = luhnCheckOf(chars);
  const add = (type: FindingType, start: number, end: number): void => {
    found.push({ type, start: at[start] ?? 0, end: (at[end - 1] ?? 0) + 1 });
  };
  for (let first = 0; first < count; first++) {
    const start = starts[first] ?? 0;
    for (const { type, length } of own.beginningAt(chars, start))
      if (isWhole(tokens, first, start + length)) add(type, start, start + length);

    const iban = ibanLength(chars.slice(start, start + 4));
    const longest = Math.max(iban ?? 0, LONGEST);
    const ofDigits = DIGITS[chars[start] ?? ''];
    const size = (starts[first + 1] ?? 0) - start;
    let isEven = true;
    let previous = size;
    for (let last = first; last < count; last++) {
      if (last > first && gaps[last] !== 'soft') break;
      const end = starts[last + 1] ?? 0;
      const length = end - start;
      if (length > longest) break;
      const group = end - (starts[last] ?? 0);
      isEven &&= previous === size && group <= size;
      previous = group;
      const letters = length - ((digitsBefore[end] ?? 0) - (digitsBefore[start] ?? 0));
      const lengths = letters > 0 ? WITH_LETTERS : ofDigits;
      if (length !== iban && lengths?.has(length) !== true) continue;
      const type = typeOf({ tokens, first, last, isEven, letters, iban, hasLuhnDigit });
      if (type) add(type, start, end);
    }
  }
  return [...found, ...findInternational(text, tokens), ...findAnnounced(text, tokens)];
}

/** An IBAN has the length of its country. */
const LONGEST = 19;
/** Passports; resident identity numbers and social credit codes. */
const WITH_LETTERS: ReadonlySet<number> = new Set([9, 18]);
const CARDS: ReadonlySet<number> = new Set([13, 14, 15, 16, 17, 18, 19]);
/** Possible lengths by the first digit: no card begins with 0, 1 or 7, but mobile numbers and area codes do. */
const DIGITS: Readonly<Record<string, ReadonlySet<number>>> = {
  0: new Set([10, 11, 12, 15]),
  1: new Set([11, 18]),
  2: CARDS,
  3: CARDS,
  4: CARDS,
  5: CARDS,
  6: CARDS,
  7: new Set([18]),
  8: CARDS,
  9: CARDS,
};

interface Candidate {
  readonly tokens: Tokens;
  readonly first: number;
  readonly last: number;
  /** All its tokens have one length, but the last one may be shorter. */
  readonly isEven: boolean;
  readonly letters: number;
  /** The length of an IBAN that begins like it. */
  readonly iban: number | undefined;
  readonly hasLuhnDigit: LuhnCheck;
}

function typeOf({ tokens, first, last, isEven, letters, iban, hasLuhnDigit }: Candidate): FindingType | undefined {
  const [start, end] = [tokens.starts[first] ?? 0, tokens.starts[last + 1] ?? 0];
  const length = end - start;
  // Computed before anything is copied: for most candidates nothing else is.
  const isCard = letters === 0 && CARDS.has(length) && hasLuhnDigit(start, end);
  if (!isCard && length !== iban && length !== 18 && !(letters > 0 || length < 16)) return undefined;
  const number = tokens.chars.slice(start, end);
  if (length === 18 && letters <= 1 && isResidentId(number)) return 'CN_ID';
  if (length === 18 && isOrganisationCode(number)) return 'USCC';
  if (length === iban && isIban(number)) return 'IBAN';
  if (isCard && isIssued(number) && (isEven || isOfLongGroups(groupsOf(tokens, first, last)))) return 'BANK_CARD';
  if (letters > 0) return length === 9 && isPassport(number, groupsOf(tokens, first, last)) ? 'PASSPORT' : undefined;
  return isChineseNumber(number) && isWrittenAsNumber(number, groupsOf(tokens, first, last)) ? 'PHONE' : undefined;
}

/** The lengths of these tokens. */
const groupsOf = ({ starts }: Tokens, first: number, last: number): number[] =>
  starts.slice(first, last + 1).map((start, index) => (starts[first + index + 1] ?? 0) - start);

/**
 * Cards are written in groups of one length, or in two or three groups of at least four digits. In other forms, a tenth
 * of all sequences of amounts would have a valid check digit.
 */
const isOfLongGroups = (groups: readonly number[]): boolean =>
  groups.length <= 3 && groups.every((group) => group >= 4);

const isPassport = (number: string, groups: readonly number[]): boolean =>
  isPassportNumber(number) && (groups.length === 1 || (groups.length === 2 && groups[0] === 1) || isSpaced(groups));

/** Whether the tokens from `first` on end at `end` and are a chain. */
function isWhole({ starts, gaps }: Tokens, first: number, end: number): boolean {
  for (let last = first + 1; ; last++) {
    const next = starts[last];
    if (next === undefined || next > end) return false;
    if (next === end) return true;
    if (gaps[last] !== 'soft') return false;
  }
}

/** Telephone numbers that begin with `+`, with brackets around an area code, or around a 0 that is not dialled. */
function findInternational(text: string, { chars, at, starts, gaps, digitsBefore }: Tokens): Match[] {
  const found: Match[] = [];
  for (let first = 0; first < gaps.length; first++) {
    const begin = at[starts[first] ?? 0] ?? 0;
    const plus = text[begin - 1] === '+' ? begin - 1 : text[begin - 2] === '+' ? begin - 2 : -1;
    if (plus < 0) continue;
    let digits = '';
    let matched = -1;
    for (let last = first; last < gaps.length && digits.length <= INTERNATIONAL_DIGITS.max; last++) {
      const [from, to] = [starts[last] ?? 0, starts[last + 1] ?? chars.length];
      if (last > first && gaps[last] === 'hard') break;
      if ((digitsBefore[to] ?? 0) - (digitsBefore[from] ?? 0) !== to - from) break;
      if (to - from > INTERNATIONAL_DIGITS.max) break;
      const token = chars.slice(from, to);
      const isTrunk = token === '0' && text[(at[from] ?? 0) - 1] === '(';
      if (!isTrunk) digits += token;
      if (isInternationalNumber(digits)) matched = to;
    }
    if (matched >= 0) found.push({ type: 'PHONE', start: plus, end: (at[matched - 1] ?? 0) + 1 });
  }
  return found;
}

/** Passport numbers of any country: the first number after the word. */
function findAnnounced(text: string, { chars, at, starts, gaps, digitsBefore }: Tokens): Match[] {
  const found: Match[] = [];
  let token = 0;
  for (const word of text.matchAll(PASSPORT_WORD)) {
    const after = word.index + word[0].length;
    while (token < gaps.length && (at[starts[token] ?? 0] ?? 0) < after) token++;
    for (let next = token; next < gaps.length; next++) {
      const [from, to] = [starts[next] ?? 0, starts[next + 1] ?? chars.length];
      const begin = at[from] ?? 0;
      if (begin - after > ANNOUNCED_WITHIN) break;
      if (digitsBefore[to] === digitsBefore[from]) continue;
      if (isAnyPassportNumber(chars.slice(from, to)))
        found.push({ type: 'PASSPORT', start: begin, end: (at[to - 1] ?? 0) + 1 });
      break;
    }
  }
  return found;
}

/** Not the word in a placeholder. */
const PASSPORT_WORD = /passport(?!_\d)|护照|護照/gi;
const ANNOUNCED_WITHIN = 24;
