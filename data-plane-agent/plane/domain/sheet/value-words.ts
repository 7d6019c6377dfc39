import { normal } from '../../../base/text.js';
import { TERM_KINDS } from '../../contract/vocabulary.js';
import { wordKey } from './word-key.js';

type Words = Readonly<Record<string, readonly string[]>>;

const TYPES: Words = {
  sale: [
    'Sales',
    'Sell',
    'Selling',
    'Sales contract',
    '销售',
    '销售合同',
    '买卖',
    '买卖合同',
    '购销',
    '购销合同',
    '出售',
  ],
  lease: [
    'Leases',
    'Leasing',
    'Rent',
    'Rental',
    'Rental contract',
    'Lease contract',
    'Leaseback',
    'Sale and leaseback',
    'Finance lease',
    'Financial lease',
    'Operating lease',
    'Hire',
    '租赁',
    '租赁合同',
    '设备租赁',
    '出租',
    '融资租赁',
    '融资性租赁',
    '融资租赁合同',
    '经营租赁',
    '经营性租赁',
    '经营租赁合同',
    '售后回租',
  ],
};
const STATUSES: Words = {
  in_progress: ['Ongoing', 'Running', 'Open', '进行中', '执行中', '履行中', '在执行', '正在履行', '未完成'],
  completed: ['Complete', 'Done', 'Finished', 'Closed', '已完成', '完成', '已完结', '已结束', '履行完毕', '执行完毕'],
};
const STAGES: Words = {
  draft: ['草稿', '起草', '拟稿', '起草中'],
  extracted: ['已提取', '已识别'],
  review: ['In review', 'Under review', 'Reviewing', '审核', '审核中', '审批中', '评审', '评审中'],
  approved: ['已批准', '已审批', '审批通过', '已审核'],
  signed: ['已签署', '已签订', '已签', '签署', '已签约'],
  active: ['In force', 'In effect', 'Effective', '履行中', '执行中', '生效', '已生效', '生效中'],
  completed: ['Complete', '已完成', '完成', '履行完毕'],
  archived: ['Archive', '已归档', '归档'],
};
const RECONCILIATION: Words = {
  pending: ['Open', 'Unmatched', 'Not reconciled', '待对账', '未对账', '待核对', '未核对'],
  matched: ['Match', 'Reconciled', '已对账', '已核对', '已匹配', '对账完成'],
  exception: ['Exceptions', 'Mismatch', 'Difference', '异常', '对账异常', '有差异', '不符'],
};
const KINDS: Words = {
  deposit: ['定金', '订金', '押金', '保证金'],
  delivery: ['交货', '交付', '发货'],
  debug: ['Debugging', 'Commissioning', 'Installation', '调试', '安装调试', '安装'],
  payment: ['Payments', '付款', '支付', '收款'],
  expiry: ['Expiration', 'Termination', '到期', '终止', '期满'],
  other: ['Others', '其他', '其它'],
};
/** Signs of several currencies, such as `$` and `¥`, are not read. */
const CURRENCIES: Words = {
  CNY: ['RMB', 'CNY ¥', 'RMB ¥', 'CN¥', '人民币', '人民币元', '元', 'Renminbi', 'Yuan', 'Chinese yuan'],
  USD: ['US$', 'US Dollar', 'US Dollars', '美元', '美金'],
  EUR: ['€', 'Euro', 'Euros', '欧元'],
  GBP: ['£', 'Pound sterling', 'British pound', '英镑'],
  HKD: ['HK$', 'Hong Kong dollar', '港币', '港元'],
  JPY: ['JP¥', 'Yen', 'Japanese yen', '日元', '日圆', '円'],
  TWD: ['NT$', '新台币'],
  SGD: ['S$', 'Singapore dollar', '新加坡元', '新元'],
  AUD: ['A$', 'Australian dollar', '澳元', '澳大利亚元'],
  CAD: ['C$', 'Canadian dollar', '加元', '加拿大元'],
  KRW: ['₩', 'Won', '韩元'],
};

const indexOf = (words: Words): ReadonlyMap<string, string> =>
  new Map(Object.entries(words).flatMap(([code, others]) => [code, ...others].map((word) => [wordKey(word), code])));

const BY_COLUMN: ReadonlyMap<string, ReadonlyMap<string, string>> = new Map(
  Object.entries({
    type: TYPES,
    status: STATUSES,
    workflowStage: STAGES,
    'line.reconciliationStatus': RECONCILIATION,
    currencyCode: CURRENCIES,
    'line.currencyCode': CURRENCIES,
  }).map(([column, words]) => [column, indexOf(words)]),
);
const CODES: ReadonlyMap<string, ReadonlySet<string>> = new Map(
  [...BY_COLUMN].map(([column, words]) => [column, new Set(words.values())]),
);
const TERM_KIND = indexOf({ ...Object.fromEntries(TERM_KINDS.map((kind) => [kind, []])), ...KINDS });

/** The full-width sign is what Chinese keyboards write for the yuan; the narrow one may be a yen as well. */
const FULL_WIDTH_YUAN = '￥';
const LONGEST = 100;

/** The code that a cell of a column names in words; the text itself where it is no known word. */
export function codeOfWord(column: string, text: string): string {
  const words = BY_COLUMN.get(column);
  if (!words || text.length > LONGEST) return text;
  if (column.endsWith('currencyCode') && text.trim() === FULL_WIDTH_YUAN) return 'CNY';
  return words.get(wordKey(text)) ?? text;
}

/** The code that a text is or names in words; `undefined` for any other text. */
export function knownCode(column: string, text: string): string | undefined {
  const code = codeOfWord(column, text.trim());
  return CODES.get(column)?.has(code) ? code : undefined;
}

/** Signs of several currencies, and codes of some of them. */
const SHARED_SIGNS: Readonly<Record<string, readonly string[]>> = {
  $: ['USD', 'CAD', 'AUD', 'HKD', 'SGD'],
  '¥': ['CNY', 'JPY'],
};

/** Words to mention when a text is neither a code nor a known word. */
const WORDS_TO_MENTION: Readonly<Record<string, string>> = {
  type: '销售, 租赁, Sales or Rental',
  status: '进行中, 已完成, Ongoing or Finished',
  workflowStage: '审核中, 已签署, Under review or In force',
  'line.reconciliationStatus': '待对账, 已对账, Unmatched or Reconciled',
};

/**
 * Why a text of a column with codes has no code, as the end of a sentence that begins with the column name; `undefined`
 * where the check of the value says all there is to say.
 */
export function problemOfWord(column: string, text: string): string | undefined {
  const words = BY_COLUMN.get(column);
  if (!words || text.length > LONGEST || new Set(words.values()).has(codeOfWord(column, text))) return undefined;
  const mentioned = WORDS_TO_MENTION[column];
  if (mentioned !== undefined)
    return `must be one of ${[...new Set(words.values())].join(', ')}, or a word for it such as ${mentioned}`;
  const sign = wordKey(text);
  const several = Object.hasOwn(SHARED_SIGNS, sign) ? SHARED_SIGNS[sign] : undefined;
  return several && `must be the code of a currency: ${sign} is the sign of several, such as ${several.join(', ')}`;
}

/** Terms in a cell, with codes for kinds that are named in words. */
export const withTermKinds = (list: readonly unknown[]): unknown[] =>
  list.map((term) => {
    if (typeof term !== 'object' || term === null || !('kind' in term) || typeof term.kind !== 'string') return term;
    const plain = normal(term.kind, { max: LONGEST });
    return plain.ok ? { ...term, kind: TERM_KIND.get(wordKey(plain.text)) ?? term.kind } : term;
  });
