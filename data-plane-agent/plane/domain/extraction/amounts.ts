import { isCurrency } from '../../../base/money.js';
import type { Document, Span } from './document.js';
import { readChineseNumber, readEnglishNumber } from './numerals.js';
import { oneOf, raw } from './words/one-of.js';

export interface ReadAmount extends Span {
  /** In major units, as plain decimal text. */
  readonly value: string;
  /**
   * The ISO 4217 code, if stated next to the amount; `surely` when stated by a word or code instead of a symbol shared
   * by several currencies.
   */
  readonly currency: { readonly code: string; readonly surely: boolean } | undefined;
  /** The same amount in words, given in addition to or instead of the digits. */
  readonly inWords: string | undefined;
  /** A number without a currency, thousands separators or decimals, which may not be an amount. */
  readonly isBare: boolean;
}

/** The unit and currency that a column or label states for its amounts: `(万元)`, `(USD)`. */
export interface AmountHint {
  readonly unit?: number;
  readonly currency?: string;
}

/** The largest number of text parts between a label and its amount: currency names, `in words`, `the sum of`. */
const LEAD_STEPS = 8;

/**
 * Reads an amount of money at `at`, including text before its digits: `人民币（大写）壹佰万元整（小写：¥1,000,000.00）`, `USD 1.2
 * million`, `120万元`. `undefined` when there is none; percentages, dates and numbers of months are not amounts.
 */
export function readAmount(document: Document, at: number, hint: AmountHint = {}): ReadAmount | undefined {
  const { plain } = document;
  let start = at;
  let currency: ReadAmount['currency'];
  let words: { value: string; end: number } | undefined;
  let end = at;
  for (let step = 0; step < LEAD_STEPS; step++) {
    const from = end;
    const sign = exec(CURRENCY, plain, end);
    const lead = sign ?? exec(LEAD, plain, end);
    if (sign) currency = surer(currency, currencyOf(sign[0].trim(), document));
    if (lead) end += lead[0].length;
    if (sign && start === at) start = from + (sign[0].length - sign[0].trimStart().length);
    const spelled = lead || step === 0 ? inWords(plain, end) : undefined;
    if (spelled && !words) {
      words = spelled;
      if (start === at && !sign) start = end;
      end = spelled.end;
      const close = exec(CLOSE, plain, end);
      if (close) end += close[0].length;
      continue;
    }
    if (!lead) break;
  }
  const digits = readDigits(plain, end);
  if (!digits)
    return (
      words && {
        value: words.value,
        currency: currency ?? wordCurrency(document, words),
        inWords: words.value,
        isBare: false,
        start,
        end: words.end,
      }
    );
  if (start === at) start = digits.start;
  const after = tailOf(document, digits.end);
  if (after === 'no amount') return undefined;
  const known = surer(currency, after.currency) ?? (hint.currency ? { code: hint.currency, surely: true } : undefined);
  const unit = after.unit ?? (hint.unit === undefined || digits.hasGroups ? 0 : hint.unit);
  const value = shifted(digits.value, unit);
  if (value === undefined) return undefined;
  const also = words ?? wordsAfter(plain, after.end);
  return {
    value,
    currency: known,
    inWords: also?.value,
    isBare: !known && !digits.hasGroups && after.unit === undefined && !digits.value.includes('.'),
    start,
    end: Math.max(after.end, also?.end ?? 0),
  };
}

/** The amounts that begin in a span and have a currency. */
export function findAmounts(
  document: Document,
  { from, to, limit = 8 }: { readonly from: number; readonly to: number; readonly limit?: number },
): ReadAmount[] {
  const found: ReadAmount[] = [];
  const { plain } = document;
  for (let at = from; at < to && found.length < limit; at++) {
    if (!STARTS.test(plain[at] ?? '') || (/[a-z0-9]/.test(plain[at] ?? '') && /[a-z0-9.,]/.test(plain[at - 1] ?? '')))
      continue;
    const amount = readAmount(document, at);
    if (!amount || amount.isBare || amount.start >= to || !amount.currency) continue;
    found.push(amount);
    at = amount.end - 1;
  }
  return found;
}

const STARTS = /[0-9a-z¥$€£人美欧港日英大小壹贰叁肆伍陆柒捌玖拾]/;

/** The currency of a code, symbol or word. */
export function currencyOf(
  word: string,
  { isChinese, plain }: Pick<Document, 'isChinese' | 'plain'>,
): ReadAmount['currency'] {
  const name = word.replaceAll(/[\s.]+/g, '');
  const known = NAMES[name];
  if (known) return { code: known, surely: true };
  if (name === '¥' || name === '元' || name === '圆' || name === 'yuan')
    return isChinese || /rmb|cny|renminbi/.test(plain)
      ? { code: 'CNY', surely: name !== '¥' }
      : name === 'yuan'
        ? { code: 'CNY', surely: true }
        : undefined;
  if (name === '$' || name === 'dollars' || name === 'dollar')
    return { code: 'USD', surely: /us\$|usd|u\.s\. dollar|united states dollar/.test(plain) };
  const code = name.toUpperCase();
  return code.length === 3 && isCurrency(code) ? { code, surely: true } : undefined;
}

const NAMES: Readonly<Record<string, string>> = {
  人民币: 'CNY',
  rmb: 'CNY',
  'rmb¥': 'CNY',
  'cny¥': 'CNY',
  cny: 'CNY',
  renminbi: 'CNY',
  rmbyuan: 'CNY',
  人民币元: 'CNY',
  美元: 'USD',
  美金: 'USD',
  us$: 'USD',
  usd: 'USD',
  usd$: 'USD',
  usdollars: 'USD',
  usdollar: 'USD',
  unitedstatesdollars: 'USD',
  欧元: 'EUR',
  '€': 'EUR',
  eur: 'EUR',
  euro: 'EUR',
  euros: 'EUR',
  英镑: 'GBP',
  '£': 'GBP',
  gbp: 'GBP',
  poundssterling: 'GBP',
  港币: 'HKD',
  港元: 'HKD',
  hk$: 'HKD',
  hkd: 'HKD',
  hongkongdollars: 'HKD',
  日元: 'JPY',
  日圆: 'JPY',
  jpy: 'JPY',
  japaneseyen: 'JPY',
  yen: 'JPY',
  新加坡元: 'SGD',
  新元: 'SGD',
  s$: 'SGD',
  sgd: 'SGD',
  singaporedollars: 'SGD',
  澳元: 'AUD',
  a$: 'AUD',
  au$: 'AUD',
  aud: 'AUD',
  加元: 'CAD',
  c$: 'CAD',
  ca$: 'CAD',
  cad: 'CAD',
  瑞士法郎: 'CHF',
  chf: 'CHF',
};

const CODES =
  'rmb ?¥?|cny ?¥?|usd ?\\$?|eur|gbp|hkd|jpy|sgd|aud|cad|chf|krw|inr|thb|myr|idr|vnd|brl|mxn|zar|aed|sar|kwd|nzd|sek|nok|dkk|pln|try|twd|mop|php|rub';
const WORDS = oneOf(
  '人民币',
  '美元',
  '美金',
  '欧元',
  '英镑',
  '港币',
  '港元',
  '日元',
  '日圆',
  '新加坡元',
  '新元',
  '澳元',
  '加元',
  '瑞士法郎',
  'renminbi',
  raw`u\.?s\.? dollars?`,
  'united states dollars?',
  'hong kong dollars?',
  'singapore dollars?',
  'pounds sterling',
  'euros?',
  'japanese yen',
  'yen',
  'yuan',
  'dollars?',
);
const SIGNS = 'us\\$|hk\\$|s\\$|au?\\$|ca?\\$|[¥$€£]';
const CURRENCY = new RegExp(`[ \\t]{0,8}(?:${SIGNS}|(?:${CODES})(?![a-z])|(?:${WORDS})(?![a-z]))`, 'y');
const LEAD = new RegExp(
  oneOf(
    raw`[ \t]{1,8}`,
    '[:=([,-]{1,2}',
    '每[台套件辆个只架部座]',
    raw`\(?(?:大写|小写|含税|不含税|in words|in figures)\)?[:)]{0,2}`,
    '(?:say|only|合计|共计|总计|总额|金额|计|为|即|约)(?![a-z])',
    '(?:in |is )?(?:the |a )?(?:total |aggregate )?(?:sum|amount) of',
    'a total of',
    'approximately',
    '_{1,20}',
  ),
  'y',
);
const CLOSE = /[ \t]{0,4}(?:only)?[ \t]{0,4}[)\]]?[ \t]{0,4}[([,;]?/y;

function surer(one: ReadAmount['currency'], other: ReadAmount['currency']): ReadAmount['currency'] {
  if (!one || !other) return one ?? other;
  return one.surely ? one : other;
}

interface Digits extends Span {
  readonly value: string;
  /** Whether the digits have thousands separators. */
  readonly hasGroups: boolean;
}

const GROUPED =
  /\d{1,3}(?:,\d{3}){1,5}(?:\.\d{1,6})?|\d{1,3}(?:\.\d{3}){1,5},\d{2}(?!\d)|\d{1,3}(?:'\d{3}){1,5}(?:\.\d{1,6})?|\d{1,3}(?: \d{3}){1,5}(?:[.,]\d{2})(?!\d)/y;
const PLAIN_DIGITS = /\d{1,15}(?:\.\d{1,6})?/y;

function readDigits(plain: string, at: number): Digits | undefined {
  if (/[\d.]/.test(plain[at - 1] ?? '')) return undefined;
  const grouped = exec(GROUPED, plain, at);
  const text = grouped?.[0] ?? exec(PLAIN_DIGITS, plain, at)?.[0];
  if (text === undefined) return undefined;
  const end = at + text.length;
  // Digits that continue are part of a date, a code or a fraction.
  if (/^(?:[.,]?\d|[a-z]{1,2}\d|[-/]\d)/.test(plain.slice(end, end + 4))) return undefined;
  const european = grouped && /,\d{2}$/.test(text);
  const value = european ? text.replaceAll(/[. ]/g, '').replace(',', '.') : text.replaceAll(/[,' ]/g, '');
  return { value, hasGroups: Boolean(grouped), start: at, end };
}

interface Tail {
  readonly end: number;
  /** The power of ten of the unit. */
  readonly unit: number | undefined;
  readonly currency: ReadAmount['currency'];
}

const SCALE =
  / {0,4}(亿|百万|万|million(?![a-z])|mn(?![a-z])|billion(?![a-z])|thousand(?![a-z])|k(?![a-z])|千(?=[元圆美欧港]))/y;
const SCALES: Readonly<Record<string, number>> = {
  亿: 8,
  万: 4,
  百万: 6,
  千: 3,
  million: 6,
  mn: 6,
  billion: 9,
  thousand: 3,
  k: 3,
};
const YUAN = new RegExp(`[ _]{0,8}(?:(${WORDS}|${CODES})(?![a-z])|([元圆])(?:人民币)?) {0,4}[整正]?`, 'y');
/** Text after numbers that are not amounts. */
const NO_MONEY =
  / {0,4}(?:%|‰|per ?cent|(?:\([\w -]{1,20}\) ?)?(?:months?|days?|years?|weeks?|hours?|units?|sets?|pcs|pieces|instal?ments?)(?![a-z])|个|[年月日天周台套辆件期次份号条项](?!元))|[a-z]{0,2}\d/y;

function tailOf(document: Document, at: number): Tail | 'no amount' {
  const { plain } = document;
  const scale = exec(SCALE, plain, at);
  let end = at + (scale?.[0].length ?? 0);
  const word = exec(YUAN, plain, end);
  if (!word && !scale && exec(NO_MONEY, plain, at)) return 'no amount';
  if (!word) return { end, unit: scale ? SCALES[scale[1] ?? ''] : undefined, currency: undefined };
  end += word[0].length;
  return {
    end,
    unit: scale ? SCALES[scale[1] ?? ''] : undefined,
    currency: currencyOf(word[1] ?? word[2] ?? '', document),
  };
}

/** Multiplies by a power of ten: 12.5 shifted by 4 is 125000. */
export function shifted(value: string, places: number): string | undefined {
  const [whole = '', fraction = ''] = value.split('.');
  const digits = whole + fraction.padEnd(places, '0').slice(0, places);
  const rest = fraction.slice(places);
  const moved = `${digits.replace(/^0+(?=\d)/, '')}${rest === '' ? '' : `.${rest}`}`;
  return /^\d{1,18}(\.\d+)?$/.test(moved) ? moved : undefined;
}

/** An amount in words: Chinese numerals with 元, or an English number above a minimal length. */
function inWords(plain: string, at: number): { value: string; end: number } | undefined {
  if (/[〇零一二三四五六七八九两壹贰叁肆伍陆柒捌玖拾十]/.test(plain[at] ?? '')) {
    const read = readChineseNumber(plain, at, { money: true });
    return read &&
      /[元圆角分整正]/.test(plain.slice(read.end - 1, read.end + 1)) &&
      /^\d{1,18}(\.\d+)?$/.test(read.value)
      ? read
      : undefined;
  }
  const read = readEnglishNumber(plain, at);
  return read &&
    read.end - at > 10 &&
    /^\d{1,18}(\.\d+)?$/.test(read.value) &&
    !/^[ (\d)]{0,8}(?:months?|days?|years?|units?|sets?)/.test(plain.slice(read.end, read.end + 16))
    ? read
    : undefined;
}

const AFTER = new RegExp(
  ` {0,4}[(\\[,;]{0,2} {0,4}(?:say|in words|大写(?:金额)?|金额大写)?[:) \\t]{0,4}(?:(?:${WORDS}|${CODES})[ :]{0,3})?(?:金额)?(?:大写)?[: \\t]{0,3}`,
  'y',
);

/** The amount in words after the digits. */
function wordsAfter(plain: string, at: number): { value: string; end: number } | undefined {
  const lead = exec(AFTER, plain, at);
  if (!lead || lead[0].trim() === '') return undefined;
  const read = inWords(plain, at + lead[0].length);
  return read && { value: read.value, end: read.end };
}

/** An amount in words with 元 is in CNY unless another currency is stated. */
const wordCurrency = (document: Document, { end }: { end: number }): ReadAmount['currency'] =>
  /[元圆整正分]/.test(document.plain.slice(end - 2, end)) ? { code: 'CNY', surely: true } : undefined;

function exec(pattern: RegExp, plain: string, at: number): RegExpExecArray | null {
  pattern.lastIndex = at;
  return pattern.exec(plain);
}
