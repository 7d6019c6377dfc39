import { yielding } from '../../../base/yielding.js';
import type { Context } from './extract.js';
import type { ExtractionRunRow } from '../../tables/extractions.js';

/**
 * Reads a text and returns the result for a run. Yields to the event loop between steps, where `signal` can abort it. The
 * rules are loaded with the first text.
 */
export async function readYielding(
  text: string,
  context: Context,
  signal?: AbortSignal,
): Promise<Pick<ExtractionRunRow, 'status' | 'overallConfidence' | 'fields' | 'missingFields' | 'warnings'>> {
  const { extraction } = await import('./extract.js');
  const steps = extraction(text, context);
  for (const pause = yielding(signal); ; await pause()) {
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
