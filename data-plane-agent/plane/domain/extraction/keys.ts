import { toMinor, isAmountProblem, unitPriceText } from '../../../base/money.js';
import type { TSchema } from '../../../base/schema.js';
import { checker } from '../../../base/validation.js';
import { ContractInput, MAX_LINES, TermInput } from '../../contract/records/contracts.js';
import { PaymentLineInput } from '../../contract/records/lines.js';

/** The parsed key of a field in a run: `partyA`, `payments[2].amount`, `terms[0].note`. */
export interface FieldPlace {
  readonly list: 'payments' | 'terms' | undefined;
  readonly index: number;
  /** The field's name in the contract, the line or the term. */
  readonly name: string;
}

/** The contract's own fields in order. */
export const CONTRACT_FIELDS: readonly string[] = Object.keys(ContractInput.properties);

/**
 * The fields that the paper of a contract may state. The others are set by the organisation itself: its archive code,
 * subject company and owner, the state of the record, custom fields.
 */
const OF_PAPERS: ReadonlySet<string> = new Set([
  'contractNo',
  'projectName',
  'type',
  'partyA',
  'partyB',
  'equipmentName',
  'equipmentModel',
  'quantity',
  'unitPrice',
  'totalAmount',
  'currencyCode',
  'paymentMethod',
  'payeeAccount',
  'payeeBank',
  'deposit',
  'periodicRent',
  'paymentCycle',
  'signDate',
  'startDate',
  'endDate',
  'invoicePoints',
  'remark',
  'payments',
  'terms',
] satisfies (keyof ContractInput)[]);

/** The fields that a paper of this type may state, in order. A sale has no rent. */
export const fieldsOfPaper = (type: unknown): string[] =>
  CONTRACT_FIELDS.filter((name) => OF_PAPERS.has(name) && !(type === 'sale' && name === 'periodicRent'));

const ITEM = /^(payments|terms)\[(0|[1-9]\d{0,3})\]\.([A-Za-z]{1,40})$/;
const ITEMS = { payments: PaymentLineInput.properties, terms: TermInput.properties };

/** Parses a field key; `undefined` when there is no such field. */
export function placeOf(key: string): FieldPlace | undefined {
  if (Object.hasOwn(ContractInput.properties, key)) return { list: undefined, index: 0, name: key };
  const [, list, index = '', name = ''] = ITEM.exec(key) ?? [];
  if ((list !== 'payments' && list !== 'terms') || !Object.hasOwn(ITEMS[list], name) || Number(index) >= MAX_LINES)
    return undefined;
  return { list, index: Number(index), name };
}

/** The schema of a field's value. */
export const schemaOf = ({ list, name }: FieldPlace): TSchema => {
  const properties: Readonly<Record<string, TSchema>> = list === undefined ? ContractInput.properties : ITEMS[list];
  const schema = properties[name];
  if (!schema) throw new Error(`no schema for ${name}`);
  return schema;
};

const MONEY: ReadonlySet<string> = new Set([
  'totalAmount',
  'deposit',
  'periodicRent',
  'amount',
  'receivedAmount',
  'invoiceAmount',
]);

/** Whether the value is valid for a contract; invalid values were misread. */
export function isTaken(key: string, value: unknown, currency: string): boolean {
  const place = placeOf(key);
  if (!place || !checker(schemaOf(place))(value).ok) return false;
  if (MONEY.has(place.name)) return typeof value === 'number' && !isAmountProblem(toMinor(value, currency));
  return place.name !== 'unitPrice' || (typeof value === 'number' && !isAmountProblem(unitPriceText(value)));
}

/** Orders keys: the contract's own fields, then lines, then terms. */
export function byPlace(a: string, b: string): number {
  const [one, two] = [rank(a), rank(b)];
  return one.list - two.list || one.index - two.index || one.name - two.name;
}

function rank(key: string): { list: number; index: number; name: number } {
  const place = placeOf(key);
  if (!place) return { list: 9, index: 0, name: 0 };
  const names = place.list === undefined ? CONTRACT_FIELDS : Object.keys(ITEMS[place.list]);
  return {
    list: place.list === undefined ? 0 : place.list === 'payments' ? 1 : 2,
    index: place.index,
    name: names.indexOf(place.name),
  };
}
