import type { GivenWarning } from '../../../base/warnings.js';
import type { ExtractedCandidate, ExtractedField } from '../../tables/extractions.js';
import { Readings, type Candidate } from './candidates.js';
import { crossCheck } from './checks.js';
import { readClauses } from './clauses.js';
import { documentOf, pageAt, rawText, type Document } from './document.js';
import { readFields } from './fields.js';
import { readGoods } from './goods.js';
import { byPlace, CONTRACT_FIELDS, isTaken, placeOf } from './keys.js';
import { labelHits } from './label-hits.js';
import { readParties } from './parties.js';
import { readRunningDays } from './periods.js';
import { addPayments, readSchedule } from './plan.js';
import { readRunningText } from './running-text.js';
import { readStages } from './stages.js';
import { tablesOf } from './tables.js';
import { keepOfOtherPaper, otherPaper, readTitle } from './titles.js';

/** Moves when the rules read another value from the same text. */
export const ENGINE = { name: 'rules', version: '2' } as const;

export interface Extraction {
  readonly fields: readonly ExtractedField[];
  readonly missingFields: readonly string[];
  readonly warnings: readonly GivenWarning[];
  /** The mean over the fields that were found; 0 when none was. */
  readonly overallConfidence: number;
}

export interface Context {
  /** Of amounts that name none. */
  readonly currencyCode: string;
  /**
   * The pages of the text in their order: of those that were recognised from pictures, how sure the recognition is,
   * from 0 to 1.
   */
  readonly pages?: readonly { readonly confidence?: number }[];
}

const MAX_CANDIDATES = 3;
/** Two readings this near to each other are as likely. */
const TIE = 0.04;

/**
 * Reads a contract from its text, by rules and in time that grows with its length alone. Everything that is answered
 * stands in the text, at the place that is named with it: nothing is made up, and what the text says of how it should
 * be read is text like any other. Pages are parted by form feeds. It goes in steps of a few milliseconds, so that
 * whoever drives it can do other things in between.
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
  const stages = schedule.length > 0 ? { payments: schedule, warnings: [] } : yield* readStages(document);
  addPayments(stages.payments, readings, total && { value: Number(total.value), currency });
  const paper = otherPaper(document);
  const warnings =
    paper === undefined ? [...stages.warnings, ...crossCheck(readings, currency)] : [keepOfOtherPaper(paper, readings)];
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

/** The same at one go. */
export function extract(text: string, context: Context): Extraction {
  const steps = extraction(text, context);
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value;
  }
}

/** Of two readings that are as likely neither is sure. */
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

/** Every field of a contract of which nothing was found, lines and terms among them. */
function missingOf(fields: readonly ExtractedField[]): string[] {
  const found = new Set(fields.map(({ fieldKey }) => placeOf(fieldKey)?.list ?? fieldKey));
  return CONTRACT_FIELDS.filter((name) => !found.has(name));
}
