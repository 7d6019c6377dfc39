import { createHmac } from 'node:crypto';
import { isAmountProblem, moneyText, toMinor } from '../../../data-plane-agent/base/money.js';
import type { KeyRing } from '../../../data-plane-agent/base/secrets.js';
import type { OpenLine } from '../../../data-plane-agent/plane/contract/records/open-lines.js';
import type { Edition } from '../../access/edition.js';
import { isSimplifiedChinese } from '../../notifications/templates/index.js';
import type { CalendarEvent } from './provider.js';

/** How the events of an organisation are written. */
export interface EventStyle {
  readonly edition: Edition;
  /** Of the organisation, as a BCP 47 tag. */
  readonly language: string;
  readonly timeZone: string;
}

/**
 * The event of an open line. In the edition `enterprise_hybrid`, where contract data stays behind an agent, it shows the
 * contract number and the due date only.
 */
export function eventOf(line: OpenLine, { edition, language, timeZone }: EventStyle): CalendarEvent {
  const { paymentId: lineId, dueDate: day, contractNo } = line;
  const at = { lineId, day, timeZone };
  if (edition === 'enterprise_hybrid') return { ...at, title: contractNo, description: '' };
  const words = isSimplifiedChinese(language) ? CHINESE : ENGLISH;
  const amount = amountText(line);
  return {
    ...at,
    title: words.title({ customer: shortened(line.partyA), contractNo, amount }),
    description: [
      [words.contract, `${contractNo} · ${line.projectName}`],
      [words.customer, line.partyA],
      [words.line, line.period],
      [words.due, day],
      [words.outstanding, amount],
    ]
      .map(([label, value]) => `${label}${words.colon}${value}`)
      .join('\n'),
  };
}

/** What the event shows, without showing it: keyed, because an amount could be guessed from a plain digest. */
export const digestOf = ({ day, title, description, timeZone }: CalendarEvent, key: Uint8Array): string =>
  createHmac('sha256', key)
    .update(JSON.stringify([day, title, description, timeZone]))
    .digest('base64url');

export const digestKey = (keyRing: KeyRing): Uint8Array => keyRing.derive('calendar_events.digest');

interface Words {
  title(of: { readonly customer: string; readonly contractNo: string; readonly amount: string }): string;
  readonly contract: string;
  readonly customer: string;
  readonly line: string;
  readonly due: string;
  readonly outstanding: string;
  readonly colon: string;
}

const ENGLISH: Words = {
  title: ({ customer, contractNo, amount }) => `${amount} due from ${customer} (${contractNo})`,
  contract: 'Contract',
  customer: 'Customer',
  line: 'Payment line',
  due: 'Due',
  outstanding: 'Outstanding',
  colon: ': ',
};

const CHINESE: Words = {
  title: ({ customer, contractNo, amount }) => `应收 ${amount}：${customer}（${contractNo}）`,
  contract: '合同',
  customer: '客户',
  line: '付款期次',
  due: '到期日',
  outstanding: '未收金额',
  colon: '：',
};

function amountText({ outstandingAmount, currencyCode }: OpenLine): string {
  const minor = toMinor(outstandingAmount, currencyCode);
  if (isAmountProblem(minor)) throw new RangeError(`the outstanding amount ${minor.message}`);
  return moneyText(minor, currencyCode);
}

/** Titles are one line in a list. */
const shortened = (name: string): string => ([...name].length > 100 ? `${[...name].slice(0, 99).join('')}…` : name);
