import type { Transaction } from '../../data-plane-agent/base/database/database.js';
import type { Actor } from '../access/actor.js';
import { AuditStore } from '../store/audit.js';
import { ChannelStore, type ChannelRecord } from '../store/channels.js';
import { TenantStore } from '../store/tenants.js';
import type { Sent } from './send.js';

/**
 * Records how an attempt through a channel went. A receiver that no longer exists disables the channel, which is
 * audited, unless the channel has another target by now.
 */
export async function recordOutcome(
  tx: Transaction,
  {
    tenantId,
    channel,
    sent,
    at,
  }: {
    readonly tenantId: string;
    /** As it was when the message was sent. */
    readonly channel: Pick<ChannelRecord, 'id' | 'target'>;
    readonly sent: Sent;
    readonly at: number;
  },
): Promise<void> {
  const store = new ChannelStore(tx, tenantId);
  const { id } = channel;
  if (sent.delivered) {
    await store.delivered({ id, at });
    const count = sent.refused?.length ?? 0;
    if (count > 0) await store.failed({ id, at, error: `the mail server refused ${count} of the addresses` });
    return;
  }
  // The lock of every change of the tenant's channels, so that none of them overwrites the disabling.
  if (sent.disables) await new TenantStore(tx).lock(tenantId);
  await store.failed({ id, at, error: sent.error });
  if (!sent.disables || !(await store.disableGone({ ...channel, at }))) return;
  await new AuditStore(tx).append({
    tenantId,
    at,
    actor: NOTIFICATIONS_SYSTEM,
    action: 'channel_disabled',
    recordKind: 'notification_channel',
    recordId: id,
    changes: { enabled: { from: true, to: false }, reason: 'gone' },
  });
}

/** The actor of deliveries through channels in the audit. */
export const NOTIFICATIONS_SYSTEM: Actor = {
  kind: 'system',
  id: null,
  name: 'notifications',
  ip: null,
  requestId: 'notification-delivery',
};
