import type { Transaction } from '../../base/database/database.js';
import { fail } from '../../base/failures.js';
import { isId } from '../../base/ids.js';
import type { Call } from '../contract/call.js';
import type { FileKind } from '../contract/vocabulary.js';
import type { ContractRow } from '../domain/rows.js';

/** The records of stored files; their bytes are in the object store. */
export class FileStore {
  constructor(
    private readonly tx: Transaction,
    private readonly call: Call,
  ) {}

  /** Refuses a file reference that does not exist within the caller's scope, or is of no such kind. `null` and `undefined` refer to nothing. */
  async check(field: string, fileId: string | null | undefined, { kinds }: { readonly kinds?: readonly string[] } = {}): Promise<void> {
    if (fileId === null || fileId === undefined) return;
    if (!(await this.exists(fileId, kinds))) throw fail('FILE_REFERENCE_INVALID', { field, value: fileId });
  }

  /** The kinds of the files that a contract has: those filed under it, and the one that it names as its attachment. */
  async kindsOf({ id, contractAttachment }: Pick<ContractRow, 'id' | 'contractAttachment'>): Promise<Set<FileKind>> {
    const rows = await this.tx.all('SELECT DISTINCT kind FROM files WHERE tenant_id = ? AND (contract_id = ? OR id = ?)', [this.call.tenantId, id, contractAttachment]);
    return new Set(rows.map((row) => String(row['kind']) as FileKind)); // kept as checked when the file was presigned
  }

  private async exists(fileId: string, kinds: readonly string[] | undefined): Promise<boolean> {
    if (!isId(fileId)) return false;
    const row = await this.tx.get('SELECT subject_id, kind FROM files WHERE tenant_id = ? AND id = ?', [this.call.tenantId, fileId]);
    if (!row || !(kinds?.includes(String(row['kind'])) ?? true)) return false;
    return this.call.subjectScope === null || row['subject_id'] === null || this.call.subjectScope.includes(String(row['subject_id']));
  }
}
