import type { Transaction } from '../../data-plane-agent/base/database/database.js';
import type { Actor } from '../access/actor.js';
import { AuditStore } from '../store/audit.js';
import { CalendarConnectionStore } from '../store/calendar-connections.js';

/**
 * Ends the tenant's calendar connection, of this member only if one is given, and audits it. A schedule revokes the
 * grant at the provider after the commit.
 */
export async function endCalendar(
  tx: Transaction,
  {
    tenantId,
    memberId,
    at,
    actor,
    reason,
  }: {
    readonly tenantId: string;
    readonly memberId?: string;
    readonly at: number;
    readonly actor: Actor;
    readonly reason: 'member_disabled' | 'member_not_admin' | 'connected_again';
  },
): Promise<void> {
  const ended = await new CalendarConnectionStore(tx).end({
    tenantId,
    at,
    ...(memberId === undefined ? {} : { memberId }),
  });
  if (!ended) return;
  await new AuditStore(tx).append({
    tenantId,
    at,
    actor,
    action: 'calendar_disconnected',
    recordKind: 'calendar_connection',
    recordId: ended.id,
    changes: { provider: ended.providerId, memberId: ended.memberId, reason },
  });
}
