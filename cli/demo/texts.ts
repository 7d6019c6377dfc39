import type { TermInput } from '../../data-plane-agent/plane/contract/records/contracts.js';
import type { Language } from './wares.js';

/** The sentences of the demo's contracts, in the three languages in which its companies write. */
export interface Texts {
  project(place: string, ware: string, type: 'sale' | 'lease'): string;
  readonly transfer: string;
  readonly milestones: string;
  readonly cycle: Readonly<Record<1 | 3, string>>;
  /** What the lines of a sale are for; a plan of three, four or five lines takes as many. */
  readonly steps: Readonly<Record<3 | 4 | 5, readonly string[]>>;
  readonly contact: string;
  readonly contacts: readonly [string, ...string[]];
  readonly site: string;
  readonly discount: string;
  readonly slowPayer: string;
  readonly overpaid: string;
  readonly mistyped: string;
  /** Each number once, as the tax office or the company itself numbers invoices. */
  invoiceNo(serial: number): string;
  readonly invoiceMistyped: string;
  readonly invoiceWrongBuyer: string;
  /** Remark of a contract that was taken over. */
  readonly twice: string;
  readonly terms: Readonly<Record<TermInput['kind'], Readonly<{ title: string; note: string }>>>;
}

export const TEXTS: Readonly<Record<Language, Texts>> = {
  zh: {
    project: (place, ware, type) => `${place}工厂${ware}${type === 'sale' ? '采购' : '租赁'}项目`,
    transfer: '电汇',
    milestones: '按节点',
    cycle: { 1: '月付', 3: '季付' },
    steps: {
      3: ['预付款', '发货款', '质保金'],
      4: ['预付款', '发货款', '验收款', '质保金'],
      5: ['定金', '预付款', '发货款', '验收款', '质保金'],
    },
    contact: '客户联系人',
    contacts: ['设备科 李工', '采购部 赵经理', '财务部 孙会计', '生产部 吴主任'],
    site: '安装地点',
    discount: '合同总价含年度框架协议优惠。',
    slowPayer: '客户付款审批周期较长，到期前一周需提醒。',
    overpaid: '客户多付，待确认退款或抵下一期。',
    mistyped: '金额录入有误，已按银行回单更正。',
    invoiceNo: (serial) => `25${String(serial).padStart(18, '0')}`,
    invoiceMistyped: '金额多录一位，作废重开。',
    invoiceWrongBuyer: '购方税号有误，红冲后重开。',
    twice: '重复录入。',
    terms: {
      deposit: { title: '押金', note: '押金相当于两期租金，设备退还验收合格后十五日内无息退还。' },
      delivery: { title: '交货', note: '预付款到账后四十五日内交货，运费及保险由供方承担。' },
      debug: { title: '调试', note: '供方派工程师现场安装调试，并培训需方操作人员不少于三日。' },
      payment: { title: '付款', note: '逾期付款按日万分之三计收违约金。' },
      expiry: { title: '到期', note: '租期届满前三十日，双方书面确认续租或退还。' },
      other: { title: '质保', note: '自验收合格之日起质保十二个月，易损件除外。' },
    },
  },
  en: {
    project: (place, ware, type) => `${ware} ${type === 'sale' ? 'for' : 'rental,'} ${place} works`,
    transfer: 'Bank transfer',
    milestones: 'By milestone',
    cycle: { 1: 'Monthly', 3: 'Quarterly' },
    steps: {
      3: ['Advance payment', 'On delivery', 'Retention'],
      4: ['Advance payment', 'On delivery', 'On acceptance', 'Retention'],
      5: ['Deposit', 'Advance payment', 'On delivery', 'On acceptance', 'Retention'],
    },
    contact: 'Customer contact',
    contacts: [
      'Ms Keller, purchasing',
      'Mr Rossi, plant manager',
      'Ms Lindqvist, accounts payable',
      'Mr Bakker, maintenance',
    ],
    site: 'Place of installation',
    discount: 'The total includes the discount of the yearly framework agreement.',
    slowPayer: 'Pays late as a rule: remind a week before the due date.',
    overpaid: 'Customer paid too much; refund or set off against the next line.',
    mistyped: 'Amount mistyped at first; corrected from the bank statement.',
    invoiceNo: (serial) => `EU-INV-${String(serial).padStart(6, '0')}`,
    invoiceMistyped: 'One digit too many; voided and written again.',
    invoiceWrongBuyer: 'VAT number of the buyer was wrong; credited and written again.',
    twice: 'Entered twice.',
    terms: {
      deposit: {
        title: 'Deposit',
        note: 'Two instalments, returned without interest within fifteen days after the equipment came back in order.',
      },
      delivery: {
        title: 'Delivery',
        note: 'Within 45 days after the advance payment, DAP at the place of installation.',
      },
      debug: {
        title: 'Commissioning',
        note: 'Installation and commissioning on site by our engineers, with three days of operator training.',
      },
      payment: { title: 'Late payment', note: 'Statutory interest runs from the day after the due date.' },
      expiry: {
        title: 'End of term',
        note: 'Thirty days before the end the parties agree in writing on renewal or return.',
      },
      other: { title: 'Warranty', note: 'Twelve months from acceptance; wearing parts excepted.' },
    },
  },
  ja: {
    project: (place, ware, type) => `${place}工場 ${ware}${type === 'sale' ? '導入' : 'リース'}`,
    transfer: '銀行振込',
    milestones: '出来高払い',
    cycle: { 1: '毎月払い', 3: '四半期払い' },
    steps: {
      3: ['前払金', '納入時', '留保金'],
      4: ['前払金', '納入時', '検収時', '留保金'],
      5: ['手付金', '前払金', '納入時', '検収時', '留保金'],
    },
    contact: '顧客担当者',
    contacts: ['設備課 山本様', '購買部 中村様', '経理部 小林様', '生産技術部 加藤様'],
    site: '設置場所',
    discount: '総額は年間基本契約の値引きを含む。',
    slowPayer: '支払いが遅れがち。期日の一週間前に連絡する。',
    overpaid: '過入金。返金または次回分への充当を確認中。',
    mistyped: '入力誤り。入金明細により訂正済み。',
    invoiceNo: (serial) => `JP-請求-${String(serial).padStart(6, '0')}`,
    invoiceMistyped: '桁数の誤り。取消のうえ再発行。',
    invoiceWrongBuyer: '宛先の登録番号に誤り。赤伝のうえ再発行。',
    twice: '二重登録。',
    terms: {
      deposit: { title: '保証金', note: '二回分相当。返却検査の合格後十五日以内に無利息で返還する。' },
      delivery: { title: '納入', note: '前払金の入金後四十五日以内に据付場所へ納入する。' },
      debug: { title: '試運転', note: '据付・試運転および三日間の操作教育を含む。' },
      payment: { title: '遅延損害金', note: '期日の翌日から年三分の遅延損害金を申し受ける。' },
      expiry: { title: '満了', note: '満了の三十日前までに更新または返却を書面で確認する。' },
      other: { title: '保証', note: '検収日から十二か月。消耗部品を除く。' },
    },
  },
};
