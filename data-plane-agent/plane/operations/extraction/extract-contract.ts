import { fail, invalid } from '../../../base/failures.js';
import { ExtractInput, ExtractionRun } from '../../contract/records/extraction.js';
import { ENGINE } from '../../domain/extraction/engine.js';
import type { ExtractionRunRow } from '../../tables/extractions.js';
import { checkScan } from '../../steps/files/check-scan.js';
import { sourceIssues } from '../../domain/extraction/source-issues.js';
import { multiStepOperation, type OperationContext, type MultiStepContext } from '../../steps/operation-context.js';
import { NOTHING_READ, READING_LEASE_MS, readDocument } from '../../steps/extraction/read-document.js';
import { readYielding } from '../../domain/extraction/read-yielding.js';
import { answerOf } from '../../steps/extraction/run-answer.js';

/**
 * Extracts contract data from a text or a file, and stores it for review; no contract is changed. Of the text only the
 * words behind each value are stored. A file is read after the operation returns, with the run in status `processing`
 * until then.
 */
export const extractContract = multiStepOperation({
  effect: 'write',
  input: ExtractInput,
  output: ExtractionRun,
  fails: ['REFERENCE_INVALID', 'FILE_REFERENCE_INVALID', 'FILE_INFECTED', 'FILE_SCAN_PENDING'],
  async perform(work, call, { contractId, fileRef, fileName, text }) {
    const { clock, newId, conclude } = work;
    const given = text ?? undefined;
    const issues = sourceIssues({ text, fileRef });
    if (issues.length > 0) throw invalid(...issues);

    const id = newId();
    const read =
      given === undefined ? NOTHING_READ : await readYielding(given, { currencyCode: call.currencyCode }, work.signal);
    const answer = await conclude(async (context) => {
      const { contracts, extractions } = context.store;
      if (contractId && !(await contracts.find(contractId)))
        throw fail('REFERENCE_INVALID', { field: 'contractId', value: contractId });
      const source =
        given === undefined
          ? await documentOf(context, work, fileRef ?? '')
          : {
              sourceKind: 'text' as const,
              fileId: null,
              fileName: fileName ?? null,
              readingTries: 0,
              readingDueAt: null,
            };
      const now = clock.now();
      const run: ExtractionRunRow = {
        id,
        contractId: contractId ?? null,
        ...read,
        ...source,
        engineName: ENGINE.name,
        engineVersion: ENGINE.version,
        currencyCode: call.currencyCode,
        createdBy: call.actor.id,
        createdAt: now,
        updatedAt: now,
      };
      await extractions.removeOld(now);
      await extractions.insert(run);
      return answerOf(context, call, { row: run });
    });
    if (answer.status === 'processing' && answer.id === id) work.afterwards(() => readDocument(work, call, id));
    return answer;
  },
});

/** The file that a run reads. Files not found clean are refused. */
async function documentOf(
  { store }: OperationContext,
  { files: { policy }, clock }: MultiStepContext,
  fileRef: string,
): Promise<Pick<ExtractionRunRow, 'sourceKind' | 'fileId' | 'fileName' | 'readingTries' | 'readingDueAt'>> {
  const file = await store.files.find(fileRef);
  if (!file) throw fail('FILE_REFERENCE_INVALID', { field: 'fileRef', value: fileRef });
  checkScan(file, { ...policy, downloadRequiresCleanScan: true });
  return {
    sourceKind: 'file',
    fileId: file.id,
    fileName: file.fileName,
    readingTries: 1,
    readingDueAt: clock.now() + READING_LEASE_MS,
  };
}
