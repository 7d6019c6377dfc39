import type { Transaction } from '../../base/database/database.js';
import { fail } from '../../base/failures.js';
import { isId } from '../../base/ids.js';
import type { Call } from '../contract/call.js';

/** The records of stored files; their bytes are in the object store. */
export class FileStore {
  constructor(
    private readonly tx: Transaction,
    private readonly call: Call,
  ) {}

  /** Refuses a file reference that does not exist within the caller's scope. `null` and `undefined` refer to nothing. */
  async check(field: string, fileId: string | null | undefined): Promise<void> {
    if (fileId === null || fileId === undefined) return;
    if (!(await this.exists(fileId))) throw fail('FILE_REFERENCE_INVALID', { field, value: fileId });
  }

  private async exists(fileId: string): Promise<boolean> {
    if (!isId(fileId)) return false;
    const row = await this.tx.get('SELECT subject_id FROM files WHERE tenant_id = ? AND id = ?', [this.call.tenantId, fileId]);
    if (!row) return false;
    return this.call.subjectScope === null || row['subject_id'] === null || this.call.subjectScope.includes(String(row['subject_id']));
  }
}
