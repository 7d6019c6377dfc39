import { c, table, type RecordOf } from '../../base/database/columns.js';
import type { Call } from '../contract/call.js';
import type { ImportReport } from '../contract/records/imports.js';
import type { CsvFormat } from '../contract/records/sheet.js';

/** Reports of imports, with the rows that failed. */
export const importBatches = table('import_batches', {
  id: c.id('id'),
  report: c.json<ImportReport>('report'),
  rejected: c.json<Rejected>('rejected'),
  createdBy: c.orNull(c.id('created_by')),
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

/**
 * Imports of several transactions that have not ended. `staging`: the input is being stored, and nothing was entered;
 * `entering`: the import will be finished, if need be by another process.
 */
export const runningImports = table('running_imports', {
  id: c.id('id'),
  state: c.word<'staging' | 'entering'>('state'),
  /** The call in whose name it is finished. */
  call: c.json<Call>('call'),
  idempotencyKey: c.orNull(c.text('idempotency_key')),
  /** Identifies whoever works on it, until the lease ends. */
  holder: c.id('holder'),
  leasedUntil: c.instant('leased_until'),
  /** How often work on it was begun since a part of it was last completed; the one that completed it is the first. */
  attempts: c.int('attempts'),
});
export type RunningImportRow = RecordOf<typeof runningImports>;
