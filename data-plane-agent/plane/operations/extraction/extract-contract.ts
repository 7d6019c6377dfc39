import { fail, invalid } from '../../../base/failures.js';
import { turns } from '../../../base/turns.js';
import { ExtractInput, ExtractionRun } from '../../contract/records/extraction.js';
import { ENGINE, extraction, type Extraction } from '../../domain/extraction/extract.js';
import type { ExtractionRunRow } from '../../domain/extraction/rows.js';
import { operation } from '../tools.js';
import { answerOf } from './run-answer.js';

/**
 * Reads a contract from its text and keeps what was read, for review. Nothing is written to a contract, however sure it is. The text itself is
 * not kept: only the words that each reading rests on.
 */
export const extractContract = operation({
  effect: 'write',
  input: ExtractInput,
  output: ExtractionRun,
  fails: ['REFERENCE_INVALID', 'FILE_REFERENCE_INVALID'],
  async run(tools, call, { contractId, fileRef, fileName, text }) {
    const { store, clock, newId } = tools;
    const given = text ?? undefined;
    if (given !== undefined && fileRef) throw invalid({ path: 'fileRef', problem: 'must be left out when text is given' });
    if (given === undefined && !fileRef) throw invalid({ path: 'text', problem: 'is required when there is no fileRef' });
    if (given?.trim() === '') throw invalid({ path: 'text', problem: 'must not be empty' });
    if (contractId && !(await store.contracts.find(contractId))) throw fail('REFERENCE_INVALID', { field: 'contractId', value: contractId });
    // There are no stored files yet whose bytes could be read.
    if (given === undefined) throw fail('FILE_REFERENCE_INVALID', { field: 'fileRef', value: fileRef ?? '' });

    const read = await readInTurns(given, call.currencyCode);
    const now = clock.now();
    const row: ExtractionRunRow = {
      id: newId(),
      contractId: contractId ?? null,
      status: 'needs_review',
      sourceKind: 'text',
      fileId: null,
      fileName: fileName ?? null,
      engineName: ENGINE.name,
      engineVersion: ENGINE.version,
      overallConfidence: Math.round(read.overallConfidence * 100),
      fields: read.fields,
      missingFields: read.missingFields,
      warnings: read.warnings,
      createdBy: call.actor.id,
      createdAt: now,
      updatedAt: now,
    };
    await store.extractions.removeOld(now);
    await store.extractions.insert(row);
    return answerOf(tools, call, row);
  },
});

/** A long text takes a while: others get their turn in between. */
async function readInTurns(text: string, currencyCode: string): Promise<Extraction> {
  const steps = extraction(text, { currencyCode });
  for (const turn = turns(); ; await turn()) {
    const step = steps.next();
    if (step.done) return step.value;
  }
}
