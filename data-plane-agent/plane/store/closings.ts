import type { Clock } from '../../base/clock.js';
import type { Transaction } from '../../base/database/database.js';
import type { Call } from '../contract/call.js';

/**
 * How long a record stays closed when nobody says what became of its removal, in milliseconds: longer than any request
 * takes.
 */
const CLOSED_MS = 10 * 60_000;

/**
 * Which records of the control plane, in another database, are being removed: it closes one here, so that nothing comes
 * to name it, then removes it there, or opens it again.
 */
export class ClosingStore {
  private readonly held = new Set<string>();

  constructor(
    private readonly tx: Transaction,
    private readonly call: Call,
    private readonly clock: Clock,
  ) {}

  /** Whether a record may be named; if so, nobody closes it before this transaction, or savepoint, ends. */
  async isOpen(recordId: string): Promise<boolean> {
    if (this.held.has(recordId)) return true;
    await this.lock(recordId, 'shared');
    return (
      (await this.tx.get(
        'SELECT 1 AS found FROM closed_records WHERE tenant_id = ? AND record_id = ? AND ends_at > ?',
        [this.call.tenantId, recordId, this.clock.now()],
      )) === undefined
    );
  }

  /** For who enters much: asks of each that is open once. Outside of savepoints, with which a lock would end. */
  async hold(recordIds: Iterable<string>): Promise<void> {
    for (const id of recordIds) if (await this.isOpen(id)) this.held.add(id);
  }

  /**
   * Waits for whoever names it just now, and keeps others from it until the transaction ends: what names it is asked
   * after this.
   */
  async holdAlone(recordId: string): Promise<void> {
    await this.lock(recordId, 'alone');
  }

  /** Closes it; `holdAlone` came before. `id` is the closing's own. */
  async close({ id, recordId }: { id: string; recordId: string }): Promise<void> {
    const now = this.clock.now();
    await this.tx.run('DELETE FROM closed_records WHERE tenant_id = ? AND ends_at <= ?', [this.call.tenantId, now]);
    await this.tx.run('INSERT INTO closed_records (tenant_id, id, record_id, ends_at) VALUES (?, ?, ?, ?)', [
      this.call.tenantId,
      id,
      recordId,
      now + CLOSED_MS,
    ]);
  }

  /** Takes back one closing; another's stands. */
  async reopen(id: string): Promise<void> {
    await this.tx.run('DELETE FROM closed_records WHERE tenant_id = ? AND id = ?', [this.call.tenantId, id]);
  }

  /** On PostgreSQL; SQLite has one writer. */
  private async lock(recordId: string, how: 'shared' | 'alone'): Promise<void> {
    if (this.tx.dialect !== 'postgres') return;
    const take = how === 'shared' ? 'pg_advisory_xact_lock_shared' : 'pg_advisory_xact_lock';
    await this.tx.get(`SELECT ${take}(hashtextextended(?, 0))::text AS taken`, [
      `${this.call.tenantId}/closing/${recordId}`,
    ]);
  }
}
