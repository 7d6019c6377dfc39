import type { Transaction } from '../../data-plane-agent/base/database/database.js';
import { newId } from '../../data-plane-agent/base/ids.js';
import type { KeyedRequest } from '../http/request.js';

/** Who did something, as the audit keeps it. */
export interface Actor {
  readonly kind: 'user' | 'system' | 'cli';
  /** The member's id, where there is one. */
  readonly id: string | null;
  readonly name: string;
  readonly ip: string | null;
  readonly requestId: string;
  /** Of a member who changes a way to sign in: the session that must be a recent one. */
  readonly sessionId?: string;
  /** Of a request under an idempotency key: what he asks for happens once. */
  readonly keyed?: KeyedRequest;
}

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
}

/** The platform's audit: written in the transaction of the change that it tells, never changed. */
export class AuditStore {
  constructor(private readonly tx: Transaction) {}

  async append({ id = newId(), tenantId, at, actor, action, recordKind, recordId, changes = {} }: AuditEvent): Promise<void> {
    await this.tx.run(
      'INSERT INTO audit_log (id, tenant_id, at, actor_kind, actor_id, actor_name, ip, request_id, action, record_kind, record_id, changes) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)',
      [id, tenantId, at, actor.kind, actor.id, actor.name, actor.ip, actor.requestId, action, recordKind, recordId, JSON.stringify(changes)],
    );
  }
}
