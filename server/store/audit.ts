import type { Transaction } from '../../data-plane-agent/base/database/database.js';
import { newId } from '../../data-plane-agent/base/ids.js';
import { iso } from '../../data-plane-agent/base/instants.js';
import type { Actor } from '../access/actor.js';
import { AuditRepeatStore, isRepeating, type Repeated } from './audit-repeats.js';

export interface AuditEvent {
  /** Made unless given: whoever answers with it needs it before. */
  readonly id?: string;
  /** `null` where no tenant is known: a login that named none. */
  readonly tenantId: string | null;
  readonly at: number;
  readonly actor: Actor;
  /** What happened, in the past tense: `member_added`. */
  readonly action: string;
  readonly recordKind: string;
  readonly recordId: string | null;
  /** Changed fields with before and after, or what else tells the event; never a secret. */
  readonly changes?: Readonly<Record<string, unknown>>;
  /** How many of them there were, when they were counted before; and when the last one was. */
  readonly times?: number;
  readonly until?: number;
}

/**
 * The platform's audit: written in the transaction of the change that it tells, never changed. What can be caused
 * without end is told at once the first time in an hour, and then counted: the count is told when the hour is over
 * (`server/audit/repeats.ts`).
 */
export class AuditStore {
  constructor(private readonly tx: Transaction) {}

  async append(event: AuditEvent): Promise<void> {
    if (!isRepeating(event)) return this.write(INSERT, event);
    // A statement also where it writes nothing: what is told for the first time must not take longer.
    await this.write(INSERT_IF, event, [(await new AuditRepeatStore(this.tx).count(event)) ? 1 : 0]);
  }

  /** How often an event came again. */
  async appendRepeats({ event, times, since, until }: Repeated, { at }: { at: number }): Promise<void> {
    await this.write(INSERT, {
      ...event,
      at,
      changes: { ...event.changes, repeats: times, since: iso(since), until: iso(until) },
    });
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
