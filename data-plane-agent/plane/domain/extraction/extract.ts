import type { GivenWarning } from '../../../base/warnings.js';
import type { ExtractedCandidate, ExtractedField } from '../../tables/extractions.js';
import { Readings, type Candidate } from './candidates.js';
import { crossCheck } from './checks.js';
import { readClauses } from './clauses.js';
import { documentOf, pageAt, rawText, type Document } from './document.js';
import { readFields } from './fields.js';
import { readGoods } from './goods.js';
import { byPlace, fieldsOfPaper, isTaken, placeOf } from './keys.js';
import { labelHits } from './label-hits.js';
import { readParties } from './parties.js';
import { readRunningDays } from './periods.js';
import { addPayments, readSchedule } from './plan.js';
import { readRunningText } from './running-text.js';
import { readStages, unread, type Stages } from './stages.js';
import { tablesOf } from './tables.js';
import { keepOfOtherDocument, otherDocument, readTitle, readTitleNumber } from './titles.js';

export interface Extraction {
  readonly fields: readonly ExtractedField[];
  readonly missingFields: readonly string[];
  readonly warnings: readonly GivenWarning[];
  /** The mean over all found fields; 0 without any. */
  readonly overallConfidence: number;
}

export interface Context {
  /** The currency of amounts without one. */
  readonly currencyCode: string;
  /** The pages of the text in order, with the OCR confidence of scanned pages from 0 to 1. */
  readonly pages?: readonly { readonly confidence?: number }[];
}

const MAX_CANDIDATES = 3;
/** Readings whose confidences differ by less are considered equally likely. */
const TIE = 0.04;

/**
 * Reads a contract from its text by rules (of the version in `engine.ts`), in linear time. Every value is taken from the
 * text, and returned with its position; instructions within the text have no effect. Pages are separated by form feeds.
 * The generator yields every few milliseconds, so that the caller can yield to the event loop.
 */
export function* extraction(text: string, { currencyCode, pages = [] }: Context): Generator<undefined, Extraction> {
  const plain = documentOf(text);
  yield;
  const document = { ...plain, hits: yield* labelHits(plain) };
  const readings = new Readings(
    document,
    pages.map(({ confidence }) => confidence),
  );
  yield;
  const tables = tablesOf(document);
  yield;
  readTitle(document, readings);
  readTitleNumber(document, readings);
  const roles = readParties(document, readings);
  yield* readFields(document, { tables, roles, readings });
  yield;
  for (const key of ['payeeAccount', 'payeeBank']) readings.clear(key, 'WHOSE_ACCOUNT', 0.84);
  for (const table of tables) readGoods(document, table, readings);
  readRunningText(document, readings);
  yield;
  readRunningDays(document, readings);
  readClauses(document, readings);
  yield;

  const found = readings.best('currencyCode')?.value;
  const currency = typeof found === 'string' ? found : currencyCode;
  const total = readings.best('totalAmount');
  const schedule = tables.flatMap((table) => readSchedule(document, table));
  const stages =
    schedule.length > 0
      ? { payments: schedule, warnings: [] }
      : yield* readStages(document, total && Number(total.value));
  // An amount of the payment plan is not the security deposit: `1. Deposit EUR 54,000 due 1 April 2026`.
  for (const { amount } of stages.payments) if (amount) readings.dropAt('deposit', amount);
  addPayments(stages.payments, readings, total && { value: Number(total.value), currency });
  const other = otherDocument(document);
  const warnings =
    other === undefined
      ? [...stages.warnings, ...unreadMethod(stages, readings), ...crossCheck(readings, currency)]
      : [keepOfOtherDocument(other, readings)];
  doubtTies(readings);

  const fields = readings
    .keys()
    .toSorted(byPlace)
    .flatMap((key) =>
      fieldOf(
        document,
        key,
        readings.of(key).filter(({ value }) => isTaken(key, value, currency)),
      ),
    );
  const overall = fields.reduce((sum, { confidence }) => sum + confidence, 0) / (fields.length || 1);
  return { fields, missingFields: missingOf(fields), warnings, overallConfidence: rounded(overall) };
}

/** Extracts without pauses. */
export function extract(text: string, context: Context): Extraction {
  const steps = extraction(text, context);
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value;
  }
}

/** A plan given as the method of payment of which nothing was read. */
const unreadMethod = ({ payments, warnings }: Stages, readings: Readings): readonly GivenWarning[] =>
  payments.length === 0 &&
  warnings.length === 0 &&
  readings.of('paymentMethod').some(({ doubts }) => doubts.includes('A_PLAN'))
    ? [unread(0, 0)]
    : [];

/** Lowers the confidence of fields with two equally likely readings. */
function doubtTies(readings: Readings): void {
  for (const key of readings.keys()) {
    const [first, second] = readings.of(key);
    if (first && second && first.confidence - second.confidence < TIE && !first.doubts.includes('SEVERAL_ITEMS'))
      readings.weaken(key, 0.25, 'AMBIGUOUS');
  }
}

function fieldOf(document: Document, fieldKey: string, candidates: readonly Candidate[]): ExtractedField[] {
  const [best] = candidates;
  if (!best) return [];
  const shown = candidates.slice(0, MAX_CANDIDATES).map((candidate) => candidateOf(document, candidate));
  return [{ fieldKey, ...candidateOf(document, best), candidates: shown, doubts: [...new Set(best.doubts)] }];
}

const candidateOf = (document: Document, { value, confidence, start, end }: Candidate): ExtractedCandidate => ({
  value,
  rawText: rawText(document, { start, end }),
  confidence: rounded(confidence),
  location: { page: pageAt(document, start), start, end },
});

const rounded = (confidence: number): number => Math.round(confidence * 100) / 100;

/** The fields that a paper of this type may state and that were not found, including `payments` and `terms`. */
function missingOf(fields: readonly ExtractedField[]): string[] {
  const found = new Set(fields.map(({ fieldKey }) => placeOf(fieldKey)?.list ?? fieldKey));
  const type = fields.find(({ fieldKey }) => fieldKey === 'type')?.value;
  return fieldsOfPaper(type).filter((name) => !found.has(name));
}
