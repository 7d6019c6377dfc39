import { ImportInput, ImportReport } from '../../contract/records/imports.js';
import { reportOf } from '../../domain/imports/report.js';
import { operation } from '../../steps/operation-context.js';
import { enterCandidates, type EnteredImport } from '../../steps/imports/enter-candidates.js';
import { prepareCandidates } from '../../steps/imports/prepare-candidates.js';

/** Says what an import would do by doing it, and undoing it: no second set of rules can differ from the first. */
export const previewImport = operation({
  effect: 'write',
  isUpkeep: true,
  queued: true,
  input: ImportInput,
  output: ImportReport,
  fails: ['IMPORT_FILE_INVALID'],
  prepare: async (context, call, input) => ({ input, prepared: await prepareCandidates(context, call, input) }),
  async run(context, call, { input, prepared }) {
    try {
      return await context.savepoint(async () => {
        throw new Undone(await enterCandidates(context, call, { input, prepared }));
      });
    } catch (error) {
      if (error instanceof Undone) return reportOf(null, { ...error.told, rights: call.rights });
      throw error;
    }
  },
});

/** What undoes a savepoint that came to its end. */
class Undone extends Error {
  constructor(readonly told: EnteredImport) {
    super('undone');
  }
}
