/** The value of a number in words as decimal text, and the position of its end. */
export interface Numeral {
  readonly value: string;
  readonly end: number;
}

/** The largest length of a number in words. */
const LONGEST = 60;

/**
 * Reads Chinese numerals: everyday (三百二十), capital (叁佰贰拾), or digit by digit (二〇二六). With `money`, units of money may
 * follow: 元 or 圆, 角, 分, and 整 or 正. `undefined` when there is no valid number.
 */
export function readChineseNumber(
  plain: string,
  at: number,
  { money = false }: { money?: boolean } = {},
): Numeral | undefined {
  let end = at;
  let total = 0; // the part above the last 亿 or 万
  let section = 0; // the part below 万
  let digit: number | undefined;
  let digits = '';
  let onlyDigits = true;
  let smallest = Infinity;
  for (; end < plain.length && end - at < LONGEST; end++) {
    const sign = plain[end] ?? '';
    const value = DIGITS.indexOf(sign) >= 0 ? VALUES[DIGITS.indexOf(sign)] : undefined;
    if (value !== undefined) {
      digits += value;
      digit = value;
      continue;
    }
    const unit = UNITS[sign];
    if (unit === undefined) break;
    onlyDigits = false;
    if (unit < 10_000) {
      if (unit >= smallest) return undefined;
      // A leading 十 means 10.
      section += (digit ?? (unit === 10 && section === 0 ? 1 : 0)) * unit;
      smallest = unit;
    } else {
      total = unit === 100_000_000 ? (total + section + (digit ?? 0)) * unit : total + (section + (digit ?? 0)) * unit;
      section = 0;
      smallest = Infinity;
    }
    digit = undefined;
  }
  if (end === at) return undefined;
  if (onlyDigits && digits.length > 1) return { value: String(Number(digits)), end };
  const whole = String(total + section + (digit ?? 0));
  return money ? withSmallMoney(plain, { value: whole, end }) : { value: whole, end };
}

/** Reads 元, 角 and 分 after a whole number. */
function withSmallMoney(plain: string, { value, end }: Numeral): Numeral {
  let at = end;
  const skip = () => {
    while (plain[at] === ' ' && at - end < 8) at += 1;
  };
  skip();
  if (plain[at] !== '元' && plain[at] !== '圆') return { value, end };
  at += 1;
  let last = at;
  const parts: Record<string, number> = { 角: 0, 分: 0 };
  for (const unit of ['角', '分']) {
    while (plain[at] === ' ' || plain[at] === '零') at += 1;
    const digit = VALUES[DIGITS.indexOf(plain[at] ?? '')];
    if (digit === undefined || plain[at + 1] !== unit) {
      at = last;
      continue;
    }
    parts[unit] = digit;
    at += 2;
    last = at;
  }
  skip();
  if (plain[at] === '整' || plain[at] === '正') at += 1;
  return { value: parts['角'] || parts['分'] ? `${value}.${parts['角']}${parts['分']}` : value, end: at };
}

/**
 * Reads an English number in words: `one million two hundred thousand and fifty`, with `and cents twenty` or `and
 * 20/100`.
 */
export function readEnglishNumber(plain: string, at: number): Numeral | undefined {
  const words = /[a-z]+|\d{1,2}\/100|[-, ]|[^]/y;
  let end = at;
  let total = 0;
  let section = 0;
  let seen = false;
  let cents: number | undefined;
  words.lastIndex = at;
  for (let count = 0; count < LONGEST; count++) {
    const word = words.exec(plain)?.[0];
    if (word === undefined) break;
    if (word === ' ' || word === '-' || word === ',' || (seen && word === 'and')) continue;
    const small = SMALL[word];
    if (/^\d/.test(word) && seen) cents = Number(word.split('/')[0]);
    else if (word === 'hundred' && seen) section = (section || 1) * 100;
    else if (word === 'thousand' && seen) [total, section] = [total + (section || 1) * 1_000, 0];
    else if (word === 'million' && seen) [total, section] = [(total + (section || 1)) * 1_000_000, 0];
    else if (word === 'billion' && seen) [total, section] = [(total + (section || 1)) * 1_000_000_000, 0];
    else if (small !== undefined) section += small;
    else break;
    seen = true;
    end = words.lastIndex;
  }
  if (!seen) return undefined;
  const whole = String(total + section);
  return { value: cents ? `${whole}.${String(cents).padStart(2, '0')}` : whole, end };
}

const DIGITS = '〇零一二三四五六七八九两壹贰叁肆伍陆柒捌玖弌弍';
const VALUES = [0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 2, 1, 2, 3, 4, 5, 6, 7, 8, 9, 1, 2];
const UNITS: Readonly<Record<string, number>> = {
  十: 10,
  拾: 10,
  百: 100,
  佰: 100,
  千: 1_000,
  仟: 1_000,
  万: 10_000,
  亿: 100_000_000,
};
const SMALL: Readonly<Record<string, number>> = Object.fromEntries([
  ...'zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen'
    .split(' ')
    .map((word, i): [string, number] => [word, i]),
  ...'twenty thirty forty fifty sixty seventy eighty ninety'
    .split(' ')
    .map((word, i): [string, number] => [word, (i + 2) * 10]),
]);
