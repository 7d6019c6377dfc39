import { checker } from '../../../base/validation.js';
import type { Issue } from '../../../base/issue.js';
import type { FieldReview } from '../../contract/records/extraction.js';
import { ContractInput } from '../../contract/records/contracts.js';
import { AmountReader } from '../amounts.js';
import { isAccountField, masked } from '../sensitive.js';
import { placeOf, schemaOf } from './keys.js';
import type { ExtractionRunRow, FieldReviewRow } from '../../tables/extractions.js';

/** A review whose fields exist, and whose values match the fields' schemas. */
export interface CheckedReview extends FieldReview {
  /** The path used in messages, such as `fields[2]`. */
  readonly path: string;
}

/** Checks the parts of a review that do not depend on the run; returns normalized values. */
export function checkedReviews(sent: readonly FieldReview[]): {
  readonly reviews: CheckedReview[];
  readonly issues: Issue[];
} {
  const issues: Issue[] = [];
  const reviews = sent.map((review, i): CheckedReview => {
    const path = `fields[${i}]`;
    const { value, issues: own } = checkedValue(review, path);
    issues.push(...own);
    const { fieldKey, status } = review;
    return { fieldKey, status, path, ...(value === undefined ? {} : { overrideValue: value }) };
  });
  return { reviews, issues };
}

function checkedValue(
  { fieldKey, status, overrideValue }: FieldReview,
  path: string,
): { readonly value?: unknown; readonly issues: Issue[] } {
  const place = placeOf(fieldKey);
  const at = `${path}.overrideValue`;
  if (!place)
    return {
      issues: [
        {
          path: `${path}.fieldKey`,
          problem: 'must be a field of contracts, such as partyA, payments[0].amount or terms[0].note',
        },
      ],
    };
  if (status !== 'overridden')
    return {
      issues:
        overrideValue === undefined || overrideValue === null
          ? []
          : [{ path: at, problem: 'must be left out unless status is overridden' }],
    };
  if (overrideValue === undefined) return { issues: [{ path: at, problem: 'is required' }] };
  const checked = checker(schemaOf(place))(overrideValue);
  if (checked.ok) return { value: checked.value, issues: [] };
  return { issues: checked.issues.map((issue) => ({ path: joined(at, issue.path), problem: issue.problem })) };
}

/** Joins paths: `payments` and `2.amount` result in `payments[2].amount`. */
const joined = (path: string, rest: string): string =>
  (rest === '' ? path : /^\d/.test(rest) ? `${path}${rest.replace(/^\d+/, '[$&]')}` : `${path}.${rest}`).slice(0, 300);

interface Context {
  readonly row: ExtractionRunRow;
  readonly present: ReadonlyMap<string, FieldReviewRow>;
  /** The contract's currency, or the default one. */
  readonly currencyCode: string;
}

/** The reviews of fields after this review. Throws a 400 that names values invalid for the run or the currency. */
export function reviewed(
  reviews: readonly CheckedReview[],
  { row, present, currencyCode }: Context,
  by: { readonly actorId: string | null; readonly now: number },
): Map<string, FieldReviewRow> {
  const found = new Map(row.fields.map((field) => [field.fieldKey, field.value]));
  const amounts = new AmountReader();
  const fresh = new Map<string, FieldReviewRow>();
  for (const { fieldKey, status, overrideValue, path } of reviews) {
    if (status === 'accepted' && !found.has(fieldKey))
      amounts.refuse(`${path}.status`, 'must be overridden or rejected: nothing was found for this field');
    fresh.set(fieldKey, {
      runId: row.id,
      fieldKey,
      status,
      overrideValue: unmaskedValue(fieldKey, overrideValue, found.get(fieldKey)) ?? null,
      reviewedBy: by.actorId,
      reviewedAt: by.now,
    });
  }
  const after = new Map([...present, ...fresh]);
  const values = chosenValues(row, after);
  for (const { fieldKey, status, path } of reviews)
    if (status === 'overridden')
      checkAmount(amounts, { path: `${path}.overrideValue`, fieldKey, values, currencyCode });
  amounts.done();
  return fresh;
}

/** Replaces the masked form of the found value, sent back unchanged, by the found value. */
const unmaskedValue = (key: string, sent: unknown, found: unknown): unknown =>
  isAccountField(key) && typeof found === 'string' && sent === masked(found) ? found : sent;

const MONEY: ReadonlySet<string> = new Set([
  'totalAmount',
  'deposit',
  'periodicRent',
  'amount',
  'receivedAmount',
  'invoiceAmount',
]);

function checkAmount(
  amounts: AmountReader,
  {
    path,
    fieldKey,
    values,
    currencyCode,
  }: { path: string; fieldKey: string; values: ReadonlyMap<string, unknown>; currencyCode: string },
): void {
  const value = values.get(fieldKey);
  const place = placeOf(fieldKey);
  if (!place || typeof value !== 'number') return;
  if (place.name === 'unitPrice') amounts.unitPrice(path, value);
  if (!MONEY.has(place.name)) return;
  const own = place.list === undefined ? undefined : values.get(`${place.list}[${place.index}].currencyCode`);
  const named = own ?? values.get('currencyCode');
  amounts.minor(path, value, typeof named === 'string' ? named : currencyCode);
}

/** The accepted and overriding values by field. */
export function chosenValues(
  row: ExtractionRunRow,
  present: ReadonlyMap<string, FieldReviewRow>,
): Map<string, unknown> {
  const found = new Map(row.fields.map((field) => [field.fieldKey, field.value]));
  const values = new Map<string, unknown>();
  for (const [key, { status, overrideValue }] of present) {
    if (status === 'overridden') values.set(key, overrideValue);
    else if (status === 'accepted' && found.has(key)) values.set(key, found.get(key));
  }
  return values;
}

/**
 * The values as a change of a contract. Lines and terms are ordered by their numbers, and are merged into a list that
 * was overridden as a whole.
 */
export function changesOf(values: ReadonlyMap<string, unknown>): Record<string, unknown> {
  const changes: Record<string, unknown> = {};
  const items = {
    payments: new Map<number, Record<string, unknown>>(),
    terms: new Map<number, Record<string, unknown>>(),
  };
  for (const [key, value] of values) {
    const place = placeOf(key);
    if (!place) continue;
    if (place.list === undefined) changes[place.name] = value;
    else {
      const item = items[place.list].get(place.index) ?? {};
      items[place.list].set(place.index, item);
      item[place.name] = value;
    }
  }
  for (const list of ['payments', 'terms'] as const) {
    if (items[list].size === 0) continue;
    const whole = Array.isArray(changes[list]) ? (changes[list] as readonly Record<string, unknown>[]) : [];
    const laid = new Map(whole.map((item, i) => [i, item]));
    for (const [index, item] of items[list]) laid.set(index, { ...laid.get(index), ...item });
    changes[list] = [...laid].toSorted(([a], [b]) => a - b).map(([, item]) => item);
  }
  return changes;
}

const REQUIRED: readonly string[] = (ContractInput as { required?: readonly string[] }).required ?? [];
const OF_ITEM = { payments: ['period', 'dueDate', 'amount'], terms: ['kind', 'title', 'note'] } as const;

/**
 * The missing required fields: those of a new contract, and those of each line and term. Items are numbered as they
 * would be written.
 */
export function lackingFields(
  changes: Readonly<Record<string, unknown>>,
  { isNew }: { readonly isNew: boolean },
): string[] {
  const has = (record: Readonly<Record<string, unknown>>, name: string) =>
    record[name] !== undefined && record[name] !== null;
  const own = isNew ? REQUIRED.filter((name) => !has(changes, name)) : [];
  const items = (['payments', 'terms'] as const).flatMap((list) =>
    ((changes[list] ?? []) as readonly Record<string, unknown>[]).flatMap((item, i) =>
      OF_ITEM[list].filter((name) => !has(item, name)).map((name) => `${list}[${i}].${name}`),
    ),
  );
  return [...own, ...items];
}
