import { oneLine } from '../templates/index.js';

/**
 * A value as one line in which no client finds a link. Only addresses with a scheme and those that begin with `www.`
 * are changed: a plain domain, such as in the name of a company, remains as it is.
 */
export const inert = (text: string): string =>
  oneLine(text.slice(0, MAX_UNITS).toWellFormed())
    .replaceAll('://', '：//')
    .replaceAll(/(mailto|tel|sms|javascript):/gi, '$1：')
    .replaceAll(/(www)\./gi, '$1．');

/** More than any value has; bounds the work on a value that was stored before limits. */
const MAX_UNITS = 20_000;

/**
 * A value in which no chat platform finds markup, a mention or an emoji. The platforms differ in what they unescape,
 * and some unescape nothing, so characters with a meaning are replaced by their full-width forms, which have none.
 */
export const inertInMarkdown = (text: string): string =>
  inert(text)
    .replaceAll(/[\\`*_[\]<>&@~{}|]/g, fullWidth)
    .replaceAll(/:(?=[a-z+-]|100:|1234:)/gi, fullWidth);

/** For the printable ASCII characters. */
const fullWidth = (character: string): string => String.fromCodePoint((character.codePointAt(0) ?? 0) + 0xfee0);

/** At most `max` bytes of UTF-8, counted after `written`; what is cut off is replaced by an ellipsis. */
export function cutTo(max: number, text: string, written: (text: string) => string = (same) => same): string {
  const whole = written(text);
  if (Buffer.byteLength(whole) <= max) return whole;
  const characters = [...text];
  let [fits, tooLong] = [0, characters.length];
  while (tooLong - fits > 1) {
    const middle = Math.floor((fits + tooLong) / 2);
    if (Buffer.byteLength(beginning(middle)) <= max) fits = middle;
    else tooLong = middle;
  }
  return beginning(fits);

  function beginning(count: number): string {
    return `${written(characters.slice(0, count).join('')).trimEnd()}…`;
  }
}
