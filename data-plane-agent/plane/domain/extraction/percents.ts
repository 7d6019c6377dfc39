import { readChineseNumber } from './numerals.js';

const IN_WORDS =
  /百分之([零〇一二三四五六七八九两十点百壹贰叁肆伍陆柒捌玖拾]{1,9})(?: ?\(\d{1,3}(?:\.\d{1,2})? ?%\))?/g;

/**
 * Writes percentages in Chinese words as digits of the same length, so that positions stay equal: `百分之三十` is `30.0%`.
 * With the digits in brackets behind them (`百分之三十（30%）`), only those count.
 */
export const withPercents = (plain: string): string =>
  plain.includes('百分之') ? plain.replace(IN_WORDS, inDigits) : plain;

function inDigits(said: string, words: string): string {
  const digits = /\(([\d.]+ ?%)\)$/.exec(said)?.[1];
  // `的` is a word without meaning before and after a share.
  if (digits !== undefined) return `${'的'.repeat(said.length - digits.length - 1)}${digits}的`;
  return numberOf(words)?.find((text) => text.length === said.length) ?? said;
}

/** The ways to write a percentage. */
function numberOf(words: string): string[] | undefined {
  if (words === '百') return ['100%'];
  const [whole = '', fraction] = words.split('点');
  const value = wholeOf(whole);
  const digits = fraction === undefined ? '' : [...fraction].map((sign) => wholeOf(sign) ?? '').join('');
  if (value === undefined || (fraction !== undefined && digits.length !== fraction.length) || digits.length > 2)
    return undefined;
  const ways = [digits, digits.padEnd(1, '0'), digits.padEnd(2, '0')].flatMap((part) => {
    const number = part === '' ? value : `${value}.${part}`;
    return [`${number}%`, `${number} %`, `0${number}%`, `0${number} %`];
  });
  // Shares have at most three digits before the point.
  return ways.filter((way) => /^\d{1,3}(?!\d)/.test(way));
}

function wholeOf(words: string): string | undefined {
  if (words === '零' || words === '〇') return '0';
  const read = readChineseNumber(words, 0);
  return read && read.end === words.length && /^\d{1,3}$/.test(read.value) ? read.value : undefined;
}
