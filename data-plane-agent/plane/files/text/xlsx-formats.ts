import { dayFromSerial } from '../../../base/day.js';

/** The built-in date and time formats. */
const DATE_FORMATS: ReadonlySet<string> = new Set([
  '#14',
  '#15',
  '#16',
  '#17',
  '#22',
  '#27',
  '#28',
  '#29',
  '#30',
  '#31',
  '#36',
  '#50',
  '#51',
  '#52',
  '#53',
  '#54',
  '#55',
  '#56',
  '#57',
  '#58',
]);
const PERCENT_FORMATS: ReadonlySet<string> = new Set(['#9', '#10']);
const GROUPED_FORMATS: ReadonlySet<string> = new Set([
  '#3',
  '#4',
  '#37',
  '#38',
  '#39',
  '#40',
  '#41',
  '#42',
  '#43',
  '#44',
]);
const CURRENCY_SIGNS: readonly (readonly [RegExp, string])[] = [
  [/\[\$([^\]-]{1,5})(?:-[^\]]*)?\]/, '$1'],
  [/(US\$|HK\$|[¥￥€£$]|RMB|CNY|USD|EUR|GBP|HKD|JPY|人民币|美元)/, '$1'],
];

/** The offset in days of dates in old Macintosh workbooks. */
const MAC_EPOCH = 1_462;

/**
 * A number as Excel displays it: dates as `YYYY-MM-DD`, percentages with `%`, amounts with thousands separators and
 * currency sign.
 */
export function shownNumber(value: string, format: string, { date1904 }: { readonly date1904: boolean }): string {
  const number = Number(value);
  if (!Number.isFinite(number)) return value;
  const code = format.split(';')[0] ?? '';
  const bare = code.replaceAll(/"[^"]*"|\\.|\[[^\]]*\]/g, '');
  if (DATE_FORMATS.has(code) || (!code.startsWith('#') && /y/i.test(bare)) || /[yd].*[dy]/i.test(bare))
    return dayFromSerial(number + (date1904 ? MAC_EPOCH : 0)) ?? value;
  if (PERCENT_FORMATS.has(code) || bare.includes('%')) return `${decimal(number * 100)}%`;
  const sign = CURRENCY_SIGNS.map(([pattern, part]) => pattern.exec(code)?.[0]?.replace(pattern, part)).find(
    (found) => found !== undefined,
  );
  const unit = /"?(万元|亿元|元|万|台|套)"?$/.exec(code)?.[1] ?? '';
  if (sign !== undefined || GROUPED_FORMATS.has(code) || bare.includes('#,##'))
    return `${sign ?? ''}${grouped(decimal(number))}${unit}`;
  return `${decimal(number)}${unit}`;
}

/** Without binary rounding errors: 0.1 + 0.2 is shown as 0.3. */
const decimal = (value: number): string => {
  const text = String(Number(value.toPrecision(15)));
  return text.includes('e') ? BigInt(Math.round(value)).toString() : text;
};

function grouped(value: string): string {
  const [whole = '', fraction] = value.split('.');
  return whole.replaceAll(/\B(?=(\d{3})+$)/g, ',') + (fraction === undefined ? '' : `.${fraction}`);
}
