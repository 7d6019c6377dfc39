import { ImportInput, ImportReport } from '../../contract/records/imports.js';
import { reportOf } from '../../domain/imports/report.js';
import { operation } from '../../steps/operation-context.js';
import { enterCandidates, type EnteredImport } from '../../steps/imports/enter-candidates.js';
import { isLongImport, prepareCandidates } from '../../steps/imports/prepare-candidates.js';

/** Reports the result of an import by running and undoing it, so that preview and import cannot differ. */
export const previewImport = operation({
  effect: 'write',
  isUpkeep: true,
  queued: true,
  input: ImportInput,
  output: ImportReport,
  fails: ['IMPORT_FILE_INVALID'],
  isLong: isLongImport,
  prepare: async (context, call, input) => ({ input, prepared: await prepareCandidates(context, call, input) }),
  async run(context, call, { input, prepared }) {
    try {
      return await context.savepoint(
        async () => {
          throw new Undone(await enterCandidates(context, call, { input, prepared }));
        },
        { isUndoneAlone: true },
      );
    } catch (error) {
      if (error instanceof Undone) return reportOf(null, { ...error.imported, rights: call.rights });
      throw error;
    }
  },
});

/** Thrown to roll back a savepoint that succeeded. */
class Undone extends Error {
  constructor(readonly imported: EnteredImport) {
    super('undone');
  }
}
