import { normalCut } from '../../../base/text.js';
import { findAmounts, readAmount } from './amounts.js';
import type { Readings } from './candidates.js';
import { countedName } from './counted-names.js';
import type { Document } from './document.js';
import { MEANS_CHINESE, MEANS_ENGLISH } from './means.js';
import { readChineseNumber } from './numerals.js';

/**
 * Patterns for values in running text and titles without a label. Each matches only a short text, and is applied a
 * limited number of times.
 */
const MAX_MATCHES = 40;

interface Pattern {
  readonly key: string;
  readonly confidence: number;
  readonly pattern: RegExp;
  readonly value: (said: string, document: Document, at: number) => unknown;
}

const asWritten = (said: string, { text }: Document, at: number): string =>
  normalCut(text.slice(at, at + said.length).replace(/\s+/g, ' '), { max: 1_000 }).trim();

const PATTERNS: readonly Pattern[] = [
  {
    key: 'quantity',
    confidence: 0.76,
    pattern: /(?:共|合)(?:计)? ?(\d{1,6}|[一二两三四五六七八九十壹贰叁肆伍陆柒捌玖拾]{1,3}) ?[台套辆架部](?![/每])/g,
    value: (said) => Number(readChineseNumber(said, 0)?.value ?? said),
  },
  {
    key: 'equipmentName',
    confidence: 0.75,
    pattern:
      /(?:购买|采购|租赁|承租|出售|出租)的?(?:[甲乙买卖供需]方[\u4e00-\u9fff]{0,6}?的)?((?:\d{1,4} ?[台套辆部架])?[\u4e00-\u9fff]{2,20})\((?=型号|规格)/g,
    value: asWritten,
  },
  {
    key: 'equipmentModel',
    confidence: 0.75,
    pattern:
      /(?:购买|采购|租赁|承租|出售|出租|销售)[^。;\n(]{2,40}\((?:规格型号|型号|规格)[: ]{0,3}([a-z0-9][a-z0-9./-]{1,40})\)/g,
    value: asWritten,
  },
  {
    key: 'quantity',
    confidence: 0.75,
    pattern:
      /(?:购买|采购|租赁|承租|出售|出租|销售)[^。;\n(]{2,40}\((?:规格型号|型号|规格)[^)\n]{1,40}\) {0,2}[共计]?(\d{1,4}|[一二两三四五六七八九十壹贰叁肆伍陆柒捌玖拾]{1,3}) ?[台套辆部架](?![/每])/g,
    value: (said) => Number(readChineseNumber(said, 0)?.value ?? said),
  },
  {
    key: 'equipmentName',
    confidence: 0.76,
    pattern:
      /(?:将|把)[^。;\n]{0,24}?(?:位于|坐落于|座落于|坐落在)([^。;,()\n]{4,60}?)的?(?:房屋|房产|物业|商铺|店铺|厂房|仓库|写字楼|办公用房|场地)(?:\([^)\n]{0,24}\))?[^。;,\n]{0,12}(?:出租|租赁|租)/g,
    value: asWritten,
  },
  {
    key: 'equipmentName',
    confidence: 0.74,
    pattern: /(?:该|本|租赁|出租)房屋(?:坐落|座落|位)(?:于|在)[: ]{0,2}([^。;,()\n_]{4,60})/g,
    value: asWritten,
  },
  {
    key: 'equipmentName',
    confidence: 0.74,
    pattern:
      /(?:lets?|leases?|demises?|rents?)(?![a-z])[^.\n]{0,80}?(?:property|premises|unit|space|building|land) (?:known as|situated? at|located at|being) ([^\n;(]{6,120}?)(?= \(|;|,? (?:for (?:the|a) term|together with|comprising|as shown|more particularly)|\n)/g,
    value: asWritten,
  },
  {
    key: 'payeeBank',
    confidence: 0.74,
    pattern:
      /(?:landlord|lessor|seller|supplier|vendor|contractor|payee)'?s? (?:bank )?account(?: no| number)?[^\n;]{0,40}? (?:with|at|held with) ([a-z][a-z .&'-]{2,60}?bank(?: [a-z]+)?)(?=[,.;\n]| \()/g,
    value: asWritten,
  },
  {
    key: 'payeeBank',
    confidence: 0.74,
    pattern:
      /(?:landlord|lessor|seller|supplier|vendor|contractor|payee|beneficiary)'?s? (?:bank )?account(?: no\.?| number)?:? {0,2}[\d -]{6,34},? {0,2}(?:with|at|held with) ((?:bank of [a-z]{3,20}|[a-z][a-z &'-]{2,40}? bank)(?:, [a-z ]{2,30}? branch)?)(?=[,.;\n]| \(|$)/g,
    value: asWritten,
  },
  {
    key: 'payeeBank',
    confidence: 0.74,
    pattern:
      /(?:收款|卖方|供方|出租方|出租人|出卖人)[^。;\n,]{0,6}(?:开户行|开户银行|银行|账户|账号)[: ]{1,3}([\u4e00-\u9fff]{2,16}银行(?:[\u4e00-\u9fff]{2,16}(?:分行|支行|营业部)){0,2})(?=[,;。\n\d ]|$)/g,
    value: asWritten,
  },
  {
    key: 'projectName',
    confidence: 0.76,
    pattern: /(?:^|\n) {0,40}for the[ \n]{1,4}([^\n.;:]{3,80} project) {0,4}(?=\n|$)/g,
    value: asWritten,
  },
  {
    key: 'invoicePoints',
    confidence: 0.78,
    pattern:
      /(?<![\d.])(\d{1,2}) ?% ?的?(?:的?增值税|vat|gst)|(?:增值税(?:专用)?(?:发票)?|vat|gst|goods and services tax|value added tax)[^%\n\d。;]{0,16}(\d{1,2})(?:\.0{1,2})? ?%/g,
    value: Number,
  },
  {
    key: 'paymentMethod',
    confidence: 0.78,
    pattern: new RegExp(
      `(?:以|通过|采用|采取|用)(${MEANS_CHINESE})(?:的)?(?:方式|形式)?(?:向|支付|付款|结算|汇|付|将[^。;,\\n]{0,12}(?:汇|支付|付至))`,
      'g',
    ),
    value: asWritten,
  },
  {
    key: 'paymentMethod',
    confidence: 0.76,
    pattern: new RegExp(
      `(?:paid|payable|payments?|made|pay|remit\\w{0,4})[^.\\n;]{0,100}? (?:by|via|through) (?:way of |means of |an? )?(${MEANS_ENGLISH})(?![a-z])`,
      'g',
    ),
    value: asWritten,
  },
  {
    key: 'paymentCycle',
    confidence: 0.75,
    pattern: /(按(?:月|季度|季|半年|年)(?:度)?(?:支付|付款|结算|缴纳|付租)|每(?:月|季度|季|半年|年)支付(?:一次)?)/g,
    value: asWritten,
  },
  {
    key: 'paymentCycle',
    confidence: 0.74,
    pattern:
      /(?:payable|paid|pay|due|rent|instal?ments?)[^.\n;]{0,30}? ((?:monthly|quarterly|semi-annually|half-yearly|annually|yearly)(?: in (?:advance|arrears?))?)(?![a-z]| (?:rent|payment|instal|lease|sum|in (?:adv|arr)))/g,
    value: asWritten,
  },
];

/** A quantity with its item: `agrees to purchase two (2) units of the inclined bucket elevator, model BE-1800`. */
const SO_MANY =
  /(?:purchase|sell|lease|rent|buy|supply|deliver|hire)s?(?: from| to)?[^.;\n\d]{0,48}? ([a-z-]{3,12} \((\d{1,4})\)|\d{1,4}) (?:new |used )?(?:units?|sets?|pieces?|nos?)(?: of)?(?: the| an?)? ([a-z][a-z0-9 /-]{3,60}?)(?=,| \(|\.|;|\n| model| type| manufactured| together| with | at | for )/g;

/** Items with their number after the verb: `The Seller sells 2 excavators XE-215 to the Buyer`, `出售 2 台挖掘机`. */
const SELLS = [
  /(?<![a-z])(?:sells?|leases?|lets|hires out|rents out|buys?|purchases?)(?: to the [a-z]{3,12})? ((?:\d{1,3}|[a-z-]{3,12} \(\d{1,3}\)) [a-z][a-z0-9 /-]{2,60}?)(?=[,.;(\n]| to the | from the | for | at | in | with |$)/g,
  /(?:购买|采购|租赁|承租|出售|出租|销售) ?((?:\d{1,4}|[一二两三四五六七八九十]) ?[台套辆部架](?!以上|以下|及|\/|每)的?[\u4e00-\u9fffa-z0-9 -]{2,24}?)(?=[(,。;\n]|给|用于|供|以|$)/g,
];

function readSold(document: Document, readings: Readings): void {
  for (const pattern of SELLS) {
    for (const match of takeFew(document.plain.matchAll(pattern))) {
      const said = match[1] ?? '';
      const start = match.index + match[0].lastIndexOf(said);
      const counted = countedName(document, { start, end: start + said.length });
      if (!counted) continue;
      readings.add('equipmentName', { ...counted.name, confidence: 0.74 });
      readings.add('quantity', { ...counted.count, confidence: 0.74 });
    }
  }
}

export function readRunningText(document: Document, readings: Readings): void {
  readSold(document, readings);
  for (const { key, confidence, pattern, value } of PATTERNS) {
    pattern.lastIndex = 0;
    for (let n = 0; n < MAX_MATCHES; n++) {
      const match = pattern.exec(document.plain);
      if (!match) break;
      const said = match[1] ?? match[2] ?? '';
      const start = match.index + match[0].lastIndexOf(said);
      const text = { value: value(said, document, start), start, end: start + said.length };
      const counted = key === 'equipmentName' ? countedName(document, text) : undefined;
      readings.add(key, { ...(counted?.name ?? text), confidence });
      if (counted) readings.add('quantity', { ...counted.count, confidence });
    }
  }
  readPrices(document, readings);
  SO_MANY.lastIndex = 0;
  for (let n = 0; n < MAX_MATCHES; n++) {
    const match = SO_MANY.exec(document.plain);
    if (!match) break;
    const [all, count = '', digits, name = ''] = match;
    const at = match.index + all.indexOf(count);
    const end = match.index + all.length;
    readings.add('quantity', { value: Number(digits ?? count), start: at, end: at + count.length, confidence: 0.78 });
    if (!/^(?:following|equipment|goods|product)|described|listed/.test(name))
      readings.add('equipmentName', {
        value: asWritten(name, document, end - name.length),
        start: end - name.length,
        end,
        confidence: 0.76,
      });
  }
}

const OF_OTHER_ONE = /insur|replac|damage|loss|penalt|fine|charge|hire|rent|deposit|保险|赔偿|押金/;
/** Text after a unit price, and before a periodic rent: `48 payments of $3,275.00`. */
const OF_ONE = / ?(?:per|for each|a|\/) ?(?:unit|set|piece|machine)(?![a-z])/g;
const PAYMENTS_OF =
  /\d{1,3}(?: \([a-z-]+\))? (?:equal )?(?:consecutive )?(?:monthly |quarterly )?(?:rental |rent |lease )?(?:payments|instal?ments) of (?:not less than )?/g;

function readPrices(document: Document, readings: Readings): void {
  for (const match of takeFew(document.plain.matchAll(OF_ONE))) {
    const amount = findAmounts(document, { from: Math.max(0, match.index - 32), to: match.index, limit: 4 }).find(
      ({ end }) => match.index - end >= 0 && match.index - end <= 1,
    );
    // The price for replacing or hiring an item is not its unit price.
    const said =
      document.plain
        .slice(Math.max(0, match.index - 90), match.index)
        .split(/[\n.;](?!\d)/)
        .at(-1) ?? '';
    if (amount && !OF_OTHER_ONE.test(said)) readings.addAmount('unitPrice', amount, { confidence: 0.76 });
  }
  if (readings.best('type')?.value !== 'lease') return;
  for (const match of takeFew(document.plain.matchAll(PAYMENTS_OF))) {
    const amount = readAmount(document, match.index + match[0].length);
    if (amount && !amount.isBare) readings.addAmount('periodicRent', amount, { confidence: 0.78 });
  }
}

function* takeFew<T>(matches: Iterable<T>): Generator<T> {
  let n = 0;
  for (const match of matches) {
    if (n++ >= MAX_MATCHES) return;
    yield match;
  }
}
