import { ImportInput, ImportReport } from '../../contract/records/imports.js';
import { reportOf } from '../../domain/imports/report.js';
import { operation } from '../../steps/operation-context.js';
import { enterCandidates } from '../../steps/imports/enter-candidates.js';
import { prepareCandidates } from '../../steps/imports/prepare-candidates.js';

/**
 * Enters the contracts of a file or a list: each whole or not at all, the bad ones reported, and the report kept. It is
 * one transaction, so that one which is broken off leaves nothing, and one that is asked for again under its key
 * answers what it answered.
 */
export const importContracts = operation({
  effect: 'write',
  queued: true,
  input: ImportInput,
  output: ImportReport,
  fails: ['IMPORT_FILE_INVALID'],
  prepare: async (context, call, input) => ({ input, prepared: await prepareCandidates(context, call, input) }),
  async run(context, call, { input, prepared }) {
    const { rejected, ...told } = await enterCandidates(context, call, { input, prepared });
    const report = await reportOf(context.newId(), { ...told, rights: call.rights });
    await context.store.imports.insert({ id: report.batchId ?? '', report, rejected });
    return report;
  },
});
