import { fail } from '../../../base/failures.js';
import { s } from '../../../base/schema.js';
import { ExtractionRun } from '../../contract/records/extraction.js';
import { operation } from '../../steps/operation-context.js';
import { answerOf } from '../../steps/extraction/run-answer.js';

export const getExtraction = operation({
  effect: 'read',
  input: s.object({ runId: s.id() }),
  output: ExtractionRun,
  fails: [],
  async run({ store }, call, { runId }) {
    const row = await store.extractions.find(runId);
    if (!row) throw fail('NOT_FOUND', {});
    return answerOf({ store }, call, { row });
  },
});
