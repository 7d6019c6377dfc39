import { SUGGESTED_WORDS } from './header-words.js';
import { wordKey } from './word-key.js';

/** An unknown header, and the name of the column that it probably means. */
export interface Suggestion {
  readonly column: string;
  readonly suggestion: string;
}

/** The maximum number of unknown headers for which suggestions are searched. */
const MAX_COMPARED = 50;
/** The maximum length of a compared header, in characters. */
const LONGEST = 40;
/** Amounts in such units would be imported as if they were in units of the currency. */
const OTHER_UNIT = /[万千亿]|thousand|million|\bk\b|\bmio\b|\bmln\b/i;

/** Columns that record money as received. */
const RECEIVED_COLUMN = /^line\.received/;
/** A header that says that money was received. */
const SAYS_RECEIVED = /收|到账|回款|rec(?:ei|ie)(?:ved|pt)|\bpaid\b/i;
const SAYS_PLANNED = /应收|待收|未收|计划|预计|\bdue\b|\bplan|\bexpected\b|\bunpaid\b/i;

const mayMean = (header: string, column: string): boolean =>
  !RECEIVED_COLUMN.test(column) || (SAYS_RECEIVED.test(header) && !SAYS_PLANNED.test(header));

const SUGGESTED: ReadonlyMap<string, readonly string[]> = new Map(
  SUGGESTED_WORDS.flatMap(([words, columns]) => words.map((word) => [wordKey(word), columns] as const)),
);

/**
 * Near misses: headers that differ from a word for a field by few characters, by the order of their words, by a word
 * too many, or by a note in parentheses. `words` are pairs of a word's key and the name of the column. A header that
 * may mean several columns has a suggestion for each.
 */
export function suggestionsFor(
  unknown: readonly string[],
  words: readonly (readonly [word: string, column: string])[],
): Suggestion[] {
  const unused = new Set(words.map(([, name]) => name));
  const byWord = new Map(words);
  return unknown.slice(0, MAX_COMPARED).flatMap((column) => {
    if (OTHER_UNIT.test(column) || column.length > 4 * LONGEST) return [];
    const bare = wordKey(column.replaceAll(/[(（[【][^)）\]】]*[)）\]】]/g, ''));
    const keys = [...new Set([wordKey(column), bare])].filter((key) => key !== '' && key.length <= LONGEST);
    const several = keys.map((key) => SUGGESTED.get(key)).find((columns) => columns !== undefined);
    if (several) return several.filter((name) => unused.has(name)).map((suggestion) => ({ column, suggestion }));
    let best: { readonly name: string; readonly distance: number } | undefined;
    for (const key of keys) {
      for (const [word, name] of words) {
        if (!mayMean(column, name)) continue;
        const distance = distanceWithin(key, word, allowed(key, word));
        if (distance !== undefined && (!best || distance < best.distance)) best = { name, distance };
      }
    }
    const name = reordered(column, byWord) ?? best?.name ?? shortened(column, byWord);
    return name === undefined ? [] : [{ column, suggestion: name }];
  });
}

/** Words without a meaning of their own in a header. */
const FILLER = new Set(['of', 'the', 'a', 'an', 'for']);
/** The maximum number of words of a header of which each order is compared. */
const MAX_REORDERED = 4;

/** The English words of a header without those in parentheses; none for a header with other letters. */
function wordsOf(header: string): readonly string[] {
  const found = header
    .replaceAll(/[([][^)\]]*[)\]]/g, ' ')
    .replaceAll(/([a-z])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .match(/[\p{L}\p{N}%#]+/gu);
  const kept = (found ?? []).filter((word) => !FILLER.has(word));
  return kept.every((word) => /^[a-z0-9%#]+$/.test(word)) ? kept : [];
}

type ByWord = ReadonlyMap<string, string>;

/** The column of a word in another order: `Date of signing` for `Signing date`. */
const reordered = (header: string, byWord: ByWord): string | undefined => inAnyOrder(header, wordsOf(header), byWord);

function inAnyOrder(header: string, parts: readonly string[], byWord: ByWord): string | undefined {
  if (parts.length < 2 || parts.length > MAX_REORDERED) return undefined;
  const names = orders(parts).flatMap((order) => byWord.get(wordKey(order.join(''))) ?? []);
  return names.find((name) => mayMean(header, name));
}

const orders = (parts: readonly string[]): string[][] =>
  parts.length <= 1
    ? [[...parts]]
    : parts.flatMap((part, at) => orders(parts.toSpliced(at, 1)).map((rest) => [part, ...rest]));

/** What Chinese headers often begin with, without another meaning. */
const CHINESE_PREFIX = /^(?:本?合同|协议|租赁|销售)/;

/** The column of a header with one word too many, if only one column matches. */
function shortened(header: string, byWord: ByWord): string | undefined {
  const parts = wordsOf(header);
  const bare = wordKey(header.replaceAll(/[(（[【][^)）\]】]*[)）\]】]/g, ''));
  const names = [
    ...(parts.length > 2 ? parts.map((_, at) => inAnyOrder(header, parts.toSpliced(at, 1), byWord)) : []),
    byWord.get(bare.replace(CHINESE_PREFIX, '')),
    /\p{Script=Han}/u.test(bare) ? endingOf(bare, byWord) : undefined,
  ].filter((name) => name !== undefined && mayMean(header, name));
  return new Set(names).size === 1 ? names[0] : undefined;
}

/** The column of the longest word with which a Chinese header ends. Words of two characters are in too many others. */
function endingOf(key: string, byWord: ByWord): string | undefined {
  for (let at = 1; at <= key.length - 3; at++) {
    const name = byWord.get(key.slice(at));
    if (name !== undefined) return name;
  }
  return undefined;
}

/** Chinese words are short: one different character of four is a near miss, but one of two is another word. */
function allowed(key: string, word: string): number {
  const length = Math.min(key.length, word.length);
  return length < 4 ? 0 : length < 8 ? 1 : 2;
}

/** The number of characters to insert, remove or replace, if it is not above `max`. */
function distanceWithin(a: string, b: string, max: number): number | undefined {
  if (Math.abs(a.length - b.length) > max) return undefined;
  let row = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const replaced = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(replaced, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  const distance = row[b.length] ?? max + 1;
  return distance <= max ? distance : undefined;
}
