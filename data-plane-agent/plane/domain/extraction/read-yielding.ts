import { yielding } from '../../../base/yielding.js';
import { extraction, type Context } from './extract.js';
import type { ExtractionRunRow } from '../../tables/extractions.js';

/**
 * What a run keeps of a text. A long one takes a while: others get their turn in between, and the signal ends it there.
 */
export async function readYielding(
  text: string,
  context: Context,
  signal?: AbortSignal,
): Promise<Pick<ExtractionRunRow, 'status' | 'overallConfidence' | 'fields' | 'missingFields' | 'warnings'>> {
  const steps = extraction(text, context);
  for (const turn = yielding(signal); ; await turn()) {
    const { done, value } = steps.next();
    if (done)
      return {
        status: 'needs_review',
        overallConfidence: Math.round(value.overallConfidence * 100),
        fields: value.fields,
        missingFields: value.missingFields,
        warnings: value.warnings,
      };
  }
}
