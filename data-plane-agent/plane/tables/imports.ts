import { c, table, type RecordOf } from '../../base/database/columns.js';
import type { ImportReport } from '../contract/records/imports.js';
import type { Rejected } from '../domain/imports/rejected.js';

/** Imports as they were reported, with the rows that were not entered. */
export const importBatches = table('import_batches', {
  id: c.text('id'),
  report: c.json<ImportReport>('report'),
  rejected: c.json<Rejected>('rejected'),
  createdBy: c.orNull(c.text('created_by')),
  createdAt: c.int('created_at'),
  expiresAt: c.int('expires_at'),
});
export type ImportBatchRow = RecordOf<typeof importBatches>;
