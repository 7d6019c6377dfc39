import { ImportInput, ImportReport } from '../../contract/records/imports.js';
import { reportOf } from '../../domain/imports/report.js';
import { operation } from '../../steps/operation-context.js';
import { enterCandidates } from '../../steps/imports/enter-candidates.js';
import { importInSteps } from '../../steps/imports/import-in-steps.js';
import { isLongImport, prepareCandidates } from '../../steps/imports/prepare-candidates.js';

/**
 * Imports contracts from a file or a list, each completely or not at all, and stores a report. A short import is one
 * transaction: an interrupted one leaves nothing. A long one has many, between which others write: an interrupted one is
 * finished. A repeated idempotency key returns the same report.
 */
export const importContracts = operation({
  effect: 'write',
  queued: true,
  input: ImportInput,
  output: ImportReport,
  fails: ['IMPORT_FILE_INVALID', 'IMPORT_INTERRUPTED'],
  isLong: isLongImport,
  inSteps: importInSteps,
  prepare: async (context, call, input) => ({ input, prepared: await prepareCandidates(context, call, input) }),
  async run(context, call, { input, prepared }) {
    const { rejected, ...imported } = await enterCandidates(context, call, { input, prepared });
    const report = await reportOf(context.newId(), { ...imported, rights: call.rights });
    await context.store.imports.insert({ id: report.batchId ?? '', report, rejected });
    return report;
  },
});
