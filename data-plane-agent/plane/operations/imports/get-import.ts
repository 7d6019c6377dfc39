import { fail } from '../../../base/failures.js';
import { s } from '../../../base/schema.js';
import { ImportReport } from '../../contract/records/imports.js';
import { reportFor } from '../../domain/imports/report.js';
import { operation } from '../../steps/operation-context.js';

/** The report of an import, until it expires. */
export const getImport = operation({
  effect: 'read',
  input: s.object({ batchId: s.id() }),
  output: ImportReport,
  fails: [],
  async run({ store }, { actor, rights }, { batchId }) {
    const batch = await store.imports.find(batchId);
    if (!batch) throw fail('NOT_FOUND', {});
    const isOwn = actor.id !== null && batch.createdBy === actor.id;
    return reportFor(batch.report, rights, isOwn ? null : await store.fields.visible());
  },
});
