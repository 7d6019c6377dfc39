import { fail } from '../../../base/failures.js';
import { s } from '../../../base/schema.js';
import { rejectedCsv } from '../../domain/imports/rejected.js';
import { reportFor } from '../../domain/imports/report.js';
import { operation } from '../../steps/operation-context.js';

/** The rejected rows of an import as CSV. */
export const getImportErrors = operation({
  effect: 'read',
  input: s.object({ batchId: s.id() }),
  output: s.object({ csv: s.verbatim({ max: 1_000_000_000 }) }),
  fails: [],
  async run({ store }, { actor, rights }, { batchId }) {
    const batch = await store.imports.find(batchId);
    if (!batch) throw fail('NOT_FOUND', {});
    const isOwn = actor.id !== null && batch.createdBy === actor.id;
    const fields = await store.fields.visible();
    const report = reportFor(batch.report, rights, isOwn ? null : fields);
    return { csv: rejectedCsv(batch.rejected, report, { isOwn, rights, fields }) };
  },
});
