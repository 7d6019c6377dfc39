import { c, table, type RecordOf } from '../../base/database/columns.js';
import type { ImportReport } from '../contract/records/imports.js';
import type { CsvFormat } from '../contract/records/sheet.js';

/** Reports of imports, with the rows that failed. */
export const importBatches = table('import_batches', {
  id: c.text('id'),
  report: c.json<ImportReport>('report'),
  rejected: c.json<Rejected>('rejected'),
  createdBy: c.orNull(c.text('created_by')),
  createdAt: c.instant('created_at'),
  expiresAt: c.instant('expires_at'),
});
export type ImportBatchRow = RecordOf<typeof importBatches>;

/** The failed rows as they were sent, with their header. Texts are guarded for CSV. */
export interface Rejected {
  /** How the file was written; `undefined` for lists, for workbooks, and in batches of an earlier version. */
  readonly csv?: Pick<CsvFormat, 'delimiter' | 'byteOrderMark'>;
  readonly header: readonly string[];
  /** Columns with account numbers. */
  readonly accounts: readonly number[];
  /** Columns of custom fields, by their codes. */
  readonly custom: readonly { readonly at: number; readonly code: string }[];
  readonly rows: readonly { readonly row: number; readonly cells: readonly string[] }[];
}
