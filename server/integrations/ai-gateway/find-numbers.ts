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
 * Numbers with a form or a checksum. A number is one token, or several tokens of a chain: from the start of each token,
 * the few lengths that such a number may have are checked, so that the work per token is bounded.
 */
export function findNumbers({ text, tokens, own }: Searched): Match[] {
  const found: Match[] = [];
  const { chars, starts, gaps } = tokens;
  const hasLuhnDigit = luhnCheckOf(chars);
  const afterNumber = numberEndsOf(tokens);
  for (let first = 0; first < gaps.length; first++) {
    const start = starts[first] ?? 0;
    for (const { type, length } of own.beginningAt(chars, start))
      if (afterNumber(first, length) !== undefined) found.push(matchOf(type, tokens, [start, start + length]));

    const iban = ibanLength(chars.slice(start, start + 4));
    for (const length of iban === undefined ? lengthsOf(chars[start]) : [...WITH_LETTERS, iban]) {
      const after = afterNumber(first, length);
      const type = after && typeOf({ tokens, first, after, iban, hasLuhnDigit });
      if (type) found.push(matchOf(type, tokens, [start, start + length]));
    }
  }
  return [...found, ...findInternational(text, tokens), ...findAnnounced(text, tokens)];
}

/** The match of these characters. */
const matchOf = (type: FindingType, { at }: Tokens, [start, end]: readonly [number, number]): Match => ({
  type,
  start: at[start] ?? 0,
  end: (at[end - 1] ?? 0) + 1,
});

/** Passports; resident identity numbers and social credit codes. */
const WITH_LETTERS: readonly number[] = [9, 18];
const CARDS: readonly number[] = [13, 14, 15, 16, 17, 18, 19];
/** By the first digit: no card begins with 0, 1 or 7, but area codes, mobile numbers and identity numbers do. */
const WITH_DIGIT: readonly (readonly number[])[] = [
  [10, 11, 12, 15],
  [11, 18],
  ...Array.from({ length: 5 }, () => CARDS),
  [18],
  CARDS,
  CARDS,
];

/** The lengths of numbers that begin with this character, apart from IBANs. */
const lengthsOf = (character = ''): readonly number[] =>
  (character <= '9' ? WITH_DIGIT[Number(character)] : undefined) ?? WITH_LETTERS;

/** Returns the token after a number that begins with a token; undefined if it does not end with a token of its chain. */
function numberEndsOf({ chars, starts, gaps }: Tokens): (first: number, length: number) => number | undefined {
  const tokenAt = new Int32Array(chars.length + 1).fill(NO_TOKEN);
  for (const [token, start] of starts.entries()) tokenAt[start] = token;
  const chainEnds = new Uint32Array(starts.length);
  for (let token = gaps.length - 1; token >= 0; token--)
    chainEnds[token] = gaps[token + 1] === 'soft' ? (chainEnds[token + 1] ?? 0) : token + 1;
  return (first, length) => {
    const after = tokenAt[(starts[first] ?? 0) + length] ?? NO_TOKEN;
    return after === NO_TOKEN || after > (chainEnds[first] ?? 0) ? undefined : after;
  };
}

const NO_TOKEN = -1;

interface Candidate {
  readonly tokens: Tokens;
  /** Its first token, and the token after its last one. */
  readonly first: number;
  readonly after: number;
  /** The length of an IBAN that begins like it. */
  readonly iban: number | undefined;
  readonly hasLuhnDigit: LuhnCheck;
}

function typeOf({ tokens, first, after, iban, hasLuhnDigit }: Candidate): FindingType | undefined {
  const [start, end] = [tokens.starts[first] ?? 0, tokens.starts[after] ?? 0];
  const length = end - start;
  const letters = length - ((tokens.digitsBefore[end] ?? 0) - (tokens.digitsBefore[start] ?? 0));
  // Computed before anything is copied: most candidates have no valid check digit.
  const isCard = letters === 0 && length >= 13 && hasLuhnDigit(start, end);
  const isOther = letters > 0 || length < 13 || length === 18 || WITH_PREFIX.has(tokens.chars[start] ?? '');
  if (!isCard && !isOther) return undefined;
  const number = tokens.chars.slice(start, end);
  if (length === 18 && letters <= 1 && isResidentId(number)) return 'CN_ID';
  if (length === 18 && isOrganisationCode(number)) return 'USCC';
  if (length === iban && isIban(number)) return 'IBAN';
  if (isCard && isIssued(number) && isCardForm(groupsOf(tokens, first, after))) return 'BANK_CARD';
  if (letters > 0) return length === 9 && isPassport(number, groupsOf(tokens, first, after)) ? 'PASSPORT' : undefined;
  return isChineseNumber(number) && isWrittenAsNumber(number, groupsOf(tokens, first, after)) ? 'PHONE' : undefined;
}

/** The first digits of `0086` and `86`. */
const WITH_PREFIX = new Set(['0', '8']);

/** The lengths of these tokens. */
const groupsOf = ({ starts }: Tokens, first: number, after: number): number[] =>
  starts.slice(first, after).map((start, index) => (starts[first + index + 1] ?? 0) - start);

/**
 * Cards are written in groups of one length, of which the last may be shorter, or in two or three groups of at least
 * four digits. In other forms, a tenth of all sequences of amounts would have a valid check digit.
 */
const isCardForm = (groups: readonly number[]): boolean =>
  groups.every((group, index) => group === groups[0] || (index === groups.length - 1 && group < (groups[0] ?? 0))) ||
  (groups.length <= 3 && groups.every((group) => group >= 4));

const isPassport = (number: string, groups: readonly number[]): boolean =>
  isPassportNumber(number) && (groups.length === 1 || (groups.length === 2 && groups[0] === 1) || isSpaced(groups));

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
