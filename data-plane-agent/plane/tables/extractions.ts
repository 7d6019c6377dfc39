import { c, table, type RecordOf } from '../../base/database/columns.js';
import type { WarningCode } from '../../base/warnings.js';
import type { FieldReview, ReviewStatus, RunStatus } from '../contract/records/extraction.js';
import type { Warning } from '../contract/records/common.js';

/** What was read of one text or document. The text itself is not kept: only the words that a reading rests on. */
export const extractionRuns = table('extraction_runs', {
  id: c.text('id'),
  contractId: c.orNull(c.text('contract_id')),
  status: c.word<RunStatus>('status'),
  sourceKind: c.word<'text' | 'file'>('source_kind'),
  fileId: c.orNull(c.text('file_id')),
  fileName: c.orNull(c.text('file_name')),
  engineName: c.text('engine_name'),
  engineVersion: c.text('engine_version'),
  /** In hundredths. */
  overallConfidence: c.int('overall_confidence'),
  fields: c.json<readonly ExtractedField[]>('fields'),
  missingFields: c.json<readonly string[]>('missing_fields'),
  warnings: c.json<readonly Warning[]>('warnings'),
  /** Of amounts that name none: the tenant's when the run was begun. */
  currencyCode: c.orNull(c.text('currency_code')),
  /**
   * Of a document: how often its reading was begun, and when it is to be begun again unless it has come to an end by
   * then.
   */
  readingTries: c.int('reading_tries'),
  readingDueAt: c.orNull(c.instant('reading_due_at')),
  createdBy: c.orNull(c.text('created_by')),
  createdAt: c.instant('created_at'),
  updatedAt: c.instant('updated_at'),
});
export type ExtractionRunRow = RecordOf<typeof extractionRuns>;

/** How a field stands after its last review. */
export const extractionFieldReviews = table('extraction_field_reviews', {
  runId: c.text('run_id'),
  fieldKey: c.text('field_key'),
  status: c.word<ReviewStatus>('status'),
  overrideValue: c.json<unknown>('override_value'),
  reviewedBy: c.orNull(c.text('reviewed_by')),
  reviewedAt: c.instant('reviewed_at'),
});
export type FieldReviewRow = RecordOf<typeof extractionFieldReviews>;

/** Every review, as it was sent. */
export const extractionReviews = table('extraction_reviews', {
  id: c.text('id'),
  runId: c.text('run_id'),
  fields: c.json<readonly FieldReview[]>('fields'),
  metadata: c.orNull(c.json<Record<string, unknown>>('metadata')),
  applied: c.flag('applied'),
  actorId: c.orNull(c.text('actor_id')),
  actorName: c.text('actor_name'),
  createdAt: c.instant('created_at'),
});
export type ReviewRow = RecordOf<typeof extractionReviews>;

/** Where a value stands: the page from 1, and UTF-16 places in the text as it was sent, `end` exclusive. */
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
  /** The readings, the surest first: the first is the field's. */
  readonly candidates: readonly ExtractedCandidate[];
  /** Codes of what makes the reading doubtful. */
  readonly doubts: readonly WarningCode[];
}
