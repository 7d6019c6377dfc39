import { c, table, type RecordOf } from '../../base/database/columns.js';
import type { ImportReport } from '../contract/records/imports.js';

/** Imports as they were reported, with the rows that were not entered. */
export const importBatches = table('import_batches', {
  id: c.text('id'),
  report: c.json<ImportReport>('report'),
  rejected: c.json<Rejected>('rejected'),
  createdBy: c.orNull(c.text('created_by')),
  createdAt: c.instant('created_at'),
  expiresAt: c.instant('expires_at'),
});
export type ImportBatchRow = RecordOf<typeof importBatches>;

/** The rows that were not entered, as they came, under their header. Texts are as they stand in a CSV. */
export interface Rejected {
  readonly header: readonly string[];
  /** Which columns hold account numbers. */
  readonly accounts: readonly number[];
  /** Which columns hold custom fields, by their codes. */
  readonly custom: readonly { readonly at: number; readonly code: string }[];
  readonly rows: readonly { readonly row: number; readonly cells: readonly string[] }[];
}
