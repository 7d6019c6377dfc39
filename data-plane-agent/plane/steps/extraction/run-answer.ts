import type { Call } from '../../contract/call.js';
import type { Warning } from '../../contract/records/common.js';
import { SHOWN_REVIEWS, type ExtractionRun } from '../../contract/records/extraction.js';
import { runAnswer } from '../../domain/extraction/answer.js';
import type { ExtractionRunRow } from '../../tables/extractions.js';
import type { OperationContext } from '../operation-context.js';

/** A run with its reviews, as every operation returns it. */
export async function answerOf(
  { store }: Pick<OperationContext, 'store'>,
  call: Call,
  { row, warnings = [] }: { readonly row: ExtractionRunRow; readonly warnings?: readonly Warning[] | undefined },
): Promise<ExtractionRun> {
  const fieldReviews = await store.extractions.fieldReviews(row.id);
  const reviews = await store.extractions.reviews(row.id, SHOWN_REVIEWS);
  const customFields = new Set(
    fieldReviews.has('dynamicFields') ? (await store.fields.visible()).map(({ id }) => id) : [],
  );
  return runAnswer({ row, fieldReviews, reviews, customFields }, call, warnings);
}
