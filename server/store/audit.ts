import type { Transaction } from '../../data-plane-agent/base/database/database.js';
import { newId } from '../../data-plane-agent/base/ids.js';
import { iso } from '../../data-plane-agent/base/instants.js';
import type { AuditEvent } from './audit-event.js';
import { AuditRepeatStore, isRepeating, type Repeated } from './audit-repeats.js';

/**
 * The platform's audit: events are written in the transaction of the change and never updated. Events that a caller can
 * cause any number of times are recorded the first time in an hour and then counted; the count is recorded when the
 * hour is over (`server/audit/repeats.ts`).
 */
export class AuditStore {
  constructor(private readonly tx: Transaction) {}

  async append(event: AuditEvent): Promise<void> {
    if (!isRepeating(event)) return this.write(INSERT, event);
    // Runs a statement even if nothing is written, so that both cases take the same time.
    await this.write(INSERT_IF, event, [(await new AuditRepeatStore(this.tx).count(event)) ? 1 : 0]);
  }

  /** Records how often an event was repeated. */
  async appendRepeats({ event, times, since, until }: Repeated, { at }: { at: number }): Promise<void> {
    await this.write(INSERT, {
      ...event,
      at,
      changes: { ...event.changes, repeats: times, since: iso(since), until: iso(until) },
    });
  }

  /** When the newest event of an action that belongs to no organisation happened. */
  async lastAt(action: string): Promise<number | undefined> {
    const row = await this.tx.get('SELECT max(at) AS at FROM audit_log WHERE tenant_id IS NULL AND action = ?', [
      action,
    ]);
    const at = row?.['at'] ?? null;
    return at === null ? undefined : Number(at);
  }

  private async write(
    sql: string,
    { id = newId(), tenantId, at, actor, action, recordKind, recordId, changes = {} }: AuditEvent,
    condition: readonly number[] = [],
  ): Promise<void> {
    const row = [
      id,
      tenantId,
      at,
      actor.kind,
      actor.id,
      actor.name,
      actor.ip,
      actor.requestId,
      action,
      recordKind,
      recordId,
      JSON.stringify(changes),
    ];
    await this.tx.run(sql, [...row, ...condition]);
  }
}

const COLUMNS =
  'INSERT INTO audit_log (id, tenant_id, at, actor_kind, actor_id, actor_name, ip, request_id, action, record_kind, record_id, changes)';
const INSERT = `${COLUMNS} VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`;
const INSERT_IF = `${COLUMNS} SELECT ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ? WHERE ? = 1`;
