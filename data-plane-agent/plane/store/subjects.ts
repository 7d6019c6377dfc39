import type { Clock } from '../../base/clock.js';
import type { Transaction } from '../../base/database/database.js';
import { isId } from '../../base/ids.js';
import type { Call } from '../contract/call.js';

/** How long a subject company stays closed when nobody says what became of its removal, in milliseconds: longer than any request takes. */
const CLOSED_MS = 10 * 60_000;

/**
 * Which subject companies are being removed. The control plane keeps them, in another database: it closes one here, so that nothing is entered for it, then
 * removes it there, or opens it again.
 */
export class SubjectStore {
  private readonly held = new Set<string>();

  constructor(
    private readonly tx: Transaction,
    private readonly call: Call,
    private readonly clock: Clock,
  ) {}

  /** Whether something may be entered for it; if so, nobody closes it before this transaction, or savepoint, ends. */
  async isOpen(subjectId: string): Promise<boolean> {
    if (this.held.has(subjectId)) return true;
    await this.lock(subjectId, 'shared');
    return (await this.tx.get('SELECT 1 AS found FROM closed_subjects WHERE tenant_id = ? AND subject_id = ? AND ends_at > ?', [this.call.tenantId, subjectId, this.clock.now()])) === undefined;
  }

  /** For who enters much: asks of each that is open once. Outside of savepoints, with which a lock would end. */
  async hold(subjectIds: Iterable<string>): Promise<void> {
    for (const id of subjectIds) if (await this.isOpen(id)) this.held.add(id);
  }

  /** Closes it where it has no contracts, those in the trash included; answers how many it has. `id` is the closing's own. Waits for whoever enters something just now. */
  async close({ id, subjectId }: { id: string; subjectId: string }): Promise<number> {
    if (!isId(subjectId)) return 0;
    await this.lock(subjectId, 'alone');
    const row = await this.tx.get('SELECT count(*) AS n FROM contracts WHERE tenant_id = ? AND subject_id = ?', [this.call.tenantId, subjectId]);
    const contracts = Number(row?.['n']);
    const now = this.clock.now();
    await this.tx.run('DELETE FROM closed_subjects WHERE tenant_id = ? AND ends_at <= ?', [this.call.tenantId, now]);
    if (contracts === 0) await this.tx.run('INSERT INTO closed_subjects (tenant_id, id, subject_id, ends_at) VALUES (?, ?, ?, ?)', [this.call.tenantId, id, subjectId, now + CLOSED_MS]);
    return contracts;
  }

  /** Takes back one closing; another's stands. */
  async reopen(id: string): Promise<void> {
    await this.tx.run('DELETE FROM closed_subjects WHERE tenant_id = ? AND id = ?', [this.call.tenantId, id]);
  }

  /** On PostgreSQL; SQLite has one writer. */
  private async lock(subjectId: string, how: 'shared' | 'alone'): Promise<void> {
    if (this.tx.dialect !== 'postgres') return;
    const take = how === 'shared' ? 'pg_advisory_xact_lock_shared' : 'pg_advisory_xact_lock';
    await this.tx.get(`SELECT ${take}(hashtextextended(?, 0))::text AS taken`, [`${this.call.tenantId}/subject/${subjectId}`]);
  }
}
