import type { Clock } from '../../base/clock.js';
import type { Transaction } from '../../base/database/database.js';
import { isId } from '../../base/ids.js';
import { inLanes } from '../../base/together.js';
import type { Call } from '../contract/call.js';

/**
 * How long a record stays closed when it is neither deleted nor reopened, in milliseconds: longer than any request
 * takes.
 */
const CLOSED_MS = 10 * 60_000;

/** So many records are asked for in one message to PostgreSQL. */
const LANES = 32;

/**
 * Records of the control plane, which is in another database, that are being deleted. The control plane closes a record
 * here so that no new reference to it can be created, then deletes it there or reopens it.
 */
export class ClosingStore {
  private readonly held = new Set<string>();

  constructor(
    private readonly tx: Transaction,
    private readonly call: Call,
    private readonly clock: Clock,
  ) {}

  /** Whether a record may be referenced. If so, it cannot be closed before this transaction or savepoint ends. */
  async isOpen(recordId: string): Promise<boolean> {
    if (this.held.has(recordId)) return true;
    if (!isId(recordId)) return false;
    await this.lock(recordId, 'shared');
    const [row] = await this.tx.steady(
      'SELECT max(ends_at) AS ends_at FROM closed_records WHERE tenant_id = ? AND record_id = ?',
      [this.call.tenantId, recordId],
    );
    return Number(row?.['ends_at'] ?? 0) <= this.clock.now();
  }

  /**
   * Checks each record once, for operations that create many references. Call it outside of savepoints, because a lock
   * taken within a savepoint ends with it.
   */
  async hold(recordIds: Iterable<string>): Promise<void> {
    await inLanes([...recordIds], LANES, async (id) => {
      if (await this.isOpen(id)) this.held.add(id);
    });
  }

  /**
   * Waits for transactions that are creating references to the record, and blocks others until this transaction ends.
   * Check for existing references after this call.
   */
  async holdAlone(recordId: string): Promise<void> {
    await this.lock(recordId, 'alone');
  }

  /** Closes a record; `holdAlone` must have been called before. `id` identifies this closing. */
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

  /** Ends one closing. Other closings of the same record remain. */
  async reopen(id: string): Promise<void> {
    await this.tx.run('DELETE FROM closed_records WHERE tenant_id = ? AND id = ?', [this.call.tenantId, id]);
  }

  /** SQLite allows only one writer and needs no lock. */
  private async lock(recordId: string, how: 'shared' | 'alone'): Promise<void> {
    if (this.tx.dialect !== 'postgres') return;
    const take = how === 'shared' ? 'pg_advisory_xact_lock_shared' : 'pg_advisory_xact_lock';
    await this.tx.hold(`SELECT ${take}(hashtextextended(?, 0))::text AS taken`, [
      `${this.call.tenantId}/closing/${recordId}`,
    ]);
  }
}
