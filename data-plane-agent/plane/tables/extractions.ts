import { c, table, type RecordOf } from '../../base/database/columns.js';
import type { WarningCode } from '../../base/warnings.js';
import type { FieldReview, ReviewStatus, RunStatus } from '../contract/records/extraction.js';
import type { Warning } from '../contract/records/common.js';

/** Extractions from a text or document. The text itself is not stored, only the passages that the values come from. */
export const extractionRuns = table('extraction_runs', {
  id: c.id('id'),
  contractId: c.orNull(c.id('contract_id')),
  status: c.word<RunStatus>('status'),
  sourceKind: c.word<'text' | 'file'>('source_kind'),
  fileId: c.orNull(c.id('file_id')),
  fileName: c.orNull(c.text('file_name')),
  engineName: c.text('engine_name'),
  engineVersion: c.text('engine_version'),
  /** In hundredths. */
  overallConfidence: c.int('overall_confidence'),
  fields: c.json<readonly ExtractedField[]>('fields'),
  missingFields: c.json<readonly string[]>('missing_fields'),
  warnings: c.json<readonly Warning[]>('warnings'),
  /** The currency of amounts without one: the tenant's when the run started. */
  currencyCode: c.orNull(c.text('currency_code')),
  /** For a document: the number of attempts to read it, and when to try again unless it has been read by then. */
  readingTries: c.int('reading_tries'),
  readingDueAt: c.orNull(c.instant('reading_due_at')),
  createdBy: c.orNull(c.id('created_by')),
  createdAt: c.instant('created_at'),
  updatedAt: c.instant('updated_at'),
});
export type ExtractionRunRow = RecordOf<typeof extractionRuns>;

/** The status of a field after its last review. */
export const extractionFieldReviews = table('extraction_field_reviews', {
  runId: c.id('run_id'),
  fieldKey: c.text('field_key'),
  status: c.word<ReviewStatus>('status'),
  overrideValue: c.json<unknown>('override_value'),
  reviewedBy: c.orNull(c.id('reviewed_by')),
  reviewedAt: c.instant('reviewed_at'),
});
export type FieldReviewRow = RecordOf<typeof extractionFieldReviews>;

/** All reviews, as they were sent. */
export const extractionReviews = table('extraction_reviews', {
  id: c.id('id'),
  runId: c.id('run_id'),
  fields: c.json<readonly FieldReview[]>('fields'),
  metadata: c.orNull(c.json<Record<string, unknown>>('metadata')),
  applied: c.flag('applied'),
  actorId: c.orNull(c.id('actor_id')),
  actorName: c.text('actor_name'),
  createdAt: c.instant('created_at'),
});
export type ReviewRow = RecordOf<typeof extractionReviews>;

/** The location of a value: the page, from 1, and UTF-16 offsets in the text as it was sent, `end` exclusive. */
export interface Location {
  readonly page: number;
  readonly start: number;
  readonly end: number;
}

export interface ExtractedCandidate {
  readonly value: unknown;
  readonly rawText: string;
  readonly confidence: number;
  readonly location: Location;
}

export interface ExtractedField extends ExtractedCandidate {
  readonly fieldKey: string;
  /** The possible values, the most likely first; the first is the field's value. */
  readonly candidates: readonly ExtractedCandidate[];
  /** Codes of the warnings that make the value doubtful. */
  readonly doubts: readonly WarningCode[];
}
