import * as dates from './words/dates.js';
import * as goods from './words/goods.js';
import * as lines from './words/lines.js';
import * as money from './words/money.js';
import * as others from './words/others.js';
import * as papers from './words/papers.js';
import * as parties from './words/parties.js';
import * as paying from './words/paying.js';

/** What a label introduces. `stop` labels introduce data without a field, and only end the value before them. */
export type LabelKind =
  | 'contractNo'
  | 'archiveCode'
  | 'projectName'
  | 'type'
  | 'equipmentName'
  | 'equipmentModel'
  | 'quantity'
  | 'unitPrice'
  | 'totalAmount'
  | 'totalRent'
  | 'currencyCode'
  | 'paymentMethod'
  | 'paymentCycle'
  | 'payeeAccount'
  | 'payeeBank'
  | 'deposit'
  | 'periodicRent'
  | 'signDate'
  | 'startDate'
  | 'endDate'
  | 'term'
  | 'invoicePoints'
  | 'remark'
  | 'party:A'
  | 'party:B'
  | 'party:giver'
  | 'party:taker'
  | 'party:owner'
  | 'name'
  | 'line:no'
  | 'line:due'
  | 'line:amount'
  | 'line:share'
  | 'stop';

/**
 * The labels of fields in common forms of sales, purchase, equipment lease and finance lease contracts in Chinese and
 * English. The weight is the likelihood that the label means the field. Words are written as in `plain`: lower case,
 * simplified characters, no blanks between Chinese characters.
 */
export const LABELS: readonly (readonly [kind: LabelKind, weight: number, words: readonly string[]])[] = [
  ['contractNo', 1, papers.CONTRACT_NO],
  ['contractNo', 0.8, papers.CONTRACT_NO_LIKELY],
  ['archiveCode', 1, papers.ARCHIVE_CODE],
  ['projectName', 1, papers.PROJECT_NAME],
  ['type', 1, papers.TYPE],
  ['equipmentName', 1, goods.EQUIPMENT_NAME],
  ['equipmentName', 0.75, goods.EQUIPMENT_NAME_LIKELY],
  ['equipmentName', 0.5, goods.EQUIPMENT_NAME_PERHAPS],
  ['equipmentModel', 1, goods.EQUIPMENT_MODEL],
  ['equipmentModel', 0.85, goods.EQUIPMENT_MODEL_LIKELY],
  ['equipmentModel', 0.5, goods.EQUIPMENT_MODEL_PERHAPS],
  ['quantity', 1, goods.QUANTITY],
  ['unitPrice', 1, goods.UNIT_PRICE],
  ['totalAmount', 1, money.TOTAL_AMOUNT],
  ['totalRent', 1, money.TOTAL_RENT],
  ['totalAmount', 0.85, money.TOTAL_AMOUNT_LIKELY],
  ['currencyCode', 1, money.CURRENCY_CODE],
  ['paymentMethod', 1, paying.PAYMENT_METHOD],
  ['paymentMethod', 0.85, paying.PAYMENT_METHOD_LIKELY],
  ['paymentCycle', 1, paying.PAYMENT_CYCLE],
  ['payeeAccount', 1, paying.PAYEE_ACCOUNT],
  ['payeeAccount', 0.9, paying.PAYEE_ACCOUNT_LIKELY],
  ['payeeBank', 1, paying.PAYEE_BANK],
  ['payeeBank', 0.9, paying.PAYEE_BANK_LIKELY],
  ['deposit', 1, money.DEPOSIT],
  ['periodicRent', 1, money.PERIODIC_RENT],
  ['periodicRent', 0.85, money.PERIODIC_RENT_LIKELY],
  ['signDate', 1, dates.SIGN_DATE],
  ['signDate', 0.75, dates.SIGN_DATE_LIKELY],
  ['startDate', 1, dates.START_DATE],
  ['startDate', 0.85, dates.START_DATE_LIKELY],
  ['endDate', 1, dates.END_DATE],
  ['term', 1, dates.TERM],
  ['invoicePoints', 1, money.INVOICE_POINTS],
  ['remark', 1, papers.REMARK],
  ['party:A', 1, parties.PARTY_A],
  ['party:B', 1, parties.PARTY_B],
  ['party:giver', 1, parties.PARTY_GIVER],
  ['party:taker', 1, parties.PARTY_TAKER],
  ['party:owner', 1, parties.PARTY_OWNER],
  ['name', 1, parties.NAME],
  ['line:no', 1, lines.LINE_NO],
  ['line:no', 0.7, lines.LINE_NO_LIKELY],
  ['line:due', 1, lines.LINE_DUE],
  ['line:amount', 1, lines.LINE_AMOUNT],
  ['line:share', 1, lines.LINE_SHARE],
  ['stop', 1, others.ELSEWHERE],
];
