import type { Transaction } from '../../base/database/database.js';
import type { Call } from '../contract/call.js';
import { STRAY_MS } from '../domain/files/strays.js';
import { uploads, type UploadRow } from '../tables/files.js';
import type { DueMarks } from './due-work.js';

/** In milliseconds, as of any claim: at the beginning, and just after it. */
const [NEVER_CLAIMED, LONG_OVER] = [0, 1];

/** Uploads that are announced and not yet confirmed. */
export class UploadStore {
  constructor(
    private readonly tx: Transaction,
    private readonly call: Call,
    private readonly due: DueMarks,
  ) {}

  /**
   * Others who announce uploads of the tenant wait until this transaction has ended, so that what is counted stays
   * true. SQLite has one writer.
   */
  async hold(): Promise<void> {
    if (this.tx.dialect === 'postgres')
      await this.tx.get('SELECT pg_advisory_xact_lock(hashtextextended(?, 0))', [`${this.call.tenantId}/file_uploads`]);
  }

  /** Of those whose URL is still good: how many, and when the first of them ends. */
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

  async insert(row: UploadRow): Promise<void> {
    await uploads.insert(this.tx, this.call.tenantId, [row]);
    // Confirmed or not: what is put to its URL until then is to be found.
    for (const kind of ['file-sweep', 'file-orphans'] as const) this.due.at(kind, row.expiresAt + STRAY_MS);
  }

  /** Whether the upload is this caller's alone until then. */
  async claim(id: string, now: number, until: number): Promise<boolean> {
    return (
      (await this.tx.run(
        'UPDATE file_uploads SET claimed_until = ? WHERE tenant_id = ? AND id = ? AND claimed_until <= ?',
        [until, this.call.tenantId, id, now],
      )) > 0
    );
  }

  /** Whether it was held until the first instant, and is until the second one now. */
  async renew(id: string, until: number, next: number): Promise<boolean> {
    return (
      (await this.tx.run(
        'UPDATE file_uploads SET claimed_until = ? WHERE tenant_id = ? AND id = ? AND claimed_until = ?',
        [next, this.call.tenantId, id, until],
      )) > 0
    );
  }

  /** `isClean`: nobody else has claimed it before. */
  async release(id: string, until: number, { isClean }: { readonly isClean: boolean }): Promise<void> {
    await this.tx.run(
      'UPDATE file_uploads SET claimed_until = ? WHERE tenant_id = ? AND id = ? AND claimed_until = ?',
      [isClean ? NEVER_CLAIMED : LONG_OVER, this.call.tenantId, id, until],
    );
  }

  /** Ends an upload with the claim that was made on it; not when another has claimed it since. */
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

  /** Announced before an instant, the oldest first. */
  async announcedBefore(at: number, limit: number): Promise<UploadRow[]> {
    const rows = await this.tx.all(
      `SELECT ${uploads.columnNames} FROM file_uploads WHERE tenant_id = ? AND created_at < ? ORDER BY created_at LIMIT ?`,
      [this.call.tenantId, at, limit],
    );
    return rows.map((row) => uploads.decode(row));
  }
}
