import type { Transaction } from '../../base/database/database.js';
import type { Call } from '../contract/call.js';
import { STRAY_MS } from '../domain/files/strays.js';
import { uploads, type UploadRow } from '../tables/files.js';
import type { DueMarks } from './due-work.js';

/** Values of `claimed_until` in epoch milliseconds: never claimed, and claimed before but free. */
const [NEVER_CLAIMED, FREE_AGAIN] = [0, 1];

/** Uploads that were presigned and are not yet confirmed. */
export class UploadStore {
  constructor(
    private readonly tx: Transaction,
    private readonly call: Call,
    private readonly due: DueMarks,
  ) {}

  /**
   * Makes other presign requests of the tenant wait until this transaction ends, so that counts stay correct. SQLite
   * has one writer.
   */
  async hold(): Promise<void> {
    if (this.tx.dialect === 'postgres')
      await this.tx.get('SELECT pg_advisory_xact_lock(hashtextextended(?, 0))', [`${this.call.tenantId}/file_uploads`]);
  }

  /** The number of uploads whose URL is still valid, and when the first of them expires (epoch milliseconds). */
  async open(now: number): Promise<{ readonly count: number; readonly firstEndsAt: number }> {
    const row = await this.tx.get(
      'SELECT count(*) AS n, coalesce(min(expires_at), 0) AS ends FROM file_uploads WHERE tenant_id = ? AND expires_at > ?',
      [this.call.tenantId, now],
    );
    return { count: Number(row?.['n']), firstEndsAt: Number(row?.['ends']) };
  }

  async find(id: string): Promise<UploadRow | undefined> {
    const row = await this.tx.get(`SELECT ${uploads.columnNames} FROM file_uploads WHERE tenant_id = ? AND id = ?`, [
      this.call.tenantId,
      id,
    ]);
    return row && uploads.decode(row);
  }

  /** The ids of any uploads. */
  async some(limit: number): Promise<string[]> {
    const rows = await this.tx.all('SELECT id FROM file_uploads WHERE tenant_id = ? LIMIT ?', [
      this.call.tenantId,
      limit,
    ]);
    return rows.map((row) => String(row['id']));
  }

  async insert(row: UploadRow): Promise<void> {
    await uploads.insert(this.tx, this.call.tenantId, [row]);
    // Objects may be put to the URL until it expires, whether the upload is confirmed or not, and must be found
    // afterwards.
    for (const kind of ['file-sweep', 'file-orphans'] as const) this.due.at(kind, row.expiresAt + STRAY_MS);
  }

  /** Claims the upload until `until`; returns whether the caller now has it. */
  async claim(id: string, now: number, until: number): Promise<boolean> {
    return (
      (await this.tx.run(
        'UPDATE file_uploads SET claimed_until = ? WHERE tenant_id = ? AND id = ? AND claimed_until <= ?',
        [until, this.call.tenantId, id, now],
      )) > 0
    );
  }

  /** Extends a claim that ends at `until` to `next`; returns whether the caller still had it. */
  async renew(id: string, until: number, next: number): Promise<boolean> {
    return (
      (await this.tx.run(
        'UPDATE file_uploads SET claimed_until = ? WHERE tenant_id = ? AND id = ? AND claimed_until = ?',
        [next, this.call.tenantId, id, until],
      )) > 0
    );
  }

  /** Releases a claim. `isClean`: no other request has claimed the upload before. */
  async release(id: string, until: number, { isClean }: { readonly isClean: boolean }): Promise<void> {
    await this.tx.run(
      'UPDATE file_uploads SET claimed_until = ? WHERE tenant_id = ? AND id = ? AND claimed_until = ?',
      [isClean ? NEVER_CLAIMED : FREE_AGAIN, this.call.tenantId, id, until],
    );
  }

  /** Deletes a claimed upload; returns `false` when another request has claimed it since. */
  async finish(id: string, until: number): Promise<boolean> {
    return (
      (await this.tx.run('DELETE FROM file_uploads WHERE tenant_id = ? AND id = ? AND claimed_until = ?', [
        this.call.tenantId,
        id,
        until,
      ])) > 0
    );
  }

  async remove(id: string): Promise<void> {
    await this.tx.run('DELETE FROM file_uploads WHERE tenant_id = ? AND id = ?', [this.call.tenantId, id]);
  }

  /** Uploads presigned before an instant, oldest first. */
  async announcedBefore(at: number, limit: number): Promise<UploadRow[]> {
    const rows = await this.tx.all(
      `SELECT ${uploads.columnNames} FROM file_uploads WHERE tenant_id = ? AND created_at < ? ORDER BY created_at LIMIT ?`,
      [this.call.tenantId, at, limit],
    );
    return rows.map((row) => uploads.decode(row));
  }
}
