import type { Clock } from '../../data-plane-agent/base/clock.js';
import type { Transaction } from '../../data-plane-agent/base/database/database.js';
import { fail } from '../../data-plane-agent/base/failures.js';
import { isId, newId } from '../../data-plane-agent/base/ids.js';
import type { Actor } from '../access/actor.js';
import { recordOutcome } from '../notifications/channel-outcome.js';
import type { NoticeSender, Sent } from '../notifications/send.js';
import { AuditStore } from '../store/audit.js';
import { ChannelStore } from '../store/channels.js';
import type { KeyedDatabase } from '../store/keyed-database.js';
import { LoginFailureStore } from '../store/login-failures.js';

/** The outcome of a test message. `status` is that of an HTTP receiver. */
export interface ChannelTestResult {
  readonly delivered: boolean;
  readonly status: number | null;
  readonly error: string | null;
}

/**
 * Sends a test message through a channel now, whether it is enabled or not, so that it can be tested before it is
 * enabled. The outcome is recorded like that of any message. A mail channel without a target sends to `email`. Throws
 * NOT_FOUND, RATE_LIMITED.
 */
export type TestChannel = (
  test: {
    readonly tenant: { readonly id: string; readonly name: string };
    readonly channelId: string;
    readonly email: string;
    readonly language: string;
  },
  actor: Actor,
) => Promise<ChannelTestResult>;

const MINUTE_MS = 60_000;
const PER_CHANNEL = 20;
const PER_TENANT = 60;

export function createChannelTest({
  database,
  clock,
  sender,
}: {
  database: KeyedDatabase;
  clock: Clock;
  sender: NoticeSender;
}): TestChannel {
  const scope = { tenantId: null };
  return async ({ tenant, channelId, email, language }, actor) => {
    const repeated = await database.answered<ChannelTestResult>(actor.keyed);
    if (repeated) return repeated.answer;
    const channel = await database.write(scope, async (tx) => {
      const found = isId(channelId) ? await new ChannelStore(tx, tenant.id).byId(channelId) : undefined;
      if (!found) throw fail('NOT_FOUND', {});
      await countOne(tx, { key: `channel-test:${channelId}`, limit: PER_CHANNEL, at: clock.now() });
      await countOne(tx, { key: `channel-tests:${tenant.id}`, limit: PER_TENANT, at: clock.now() });
      return found;
    });
    const sent = await sender.send({
      tenantId: tenant.id,
      channel,
      id: newId(),
      notice: { type: 'channel.test', tenantName: tenant.name, channelName: channel.name, at: clock.now() },
      language,
      recipients: [email],
    });
    return database.write({ ...scope, keyed: actor.keyed }, async (tx) => {
      const at = clock.now();
      await recordOutcome(tx, { tenantId: tenant.id, channel, sent, at });
      const result = resultOf(sent);
      await new AuditStore(tx).append({
        tenantId: tenant.id,
        at,
        actor,
        action: 'channel_tested',
        recordKind: 'notification_channel',
        recordId: channelId,
        changes: { delivered: result.delivered, ...(result.status === null ? {} : { status: result.status }) },
      });
      return result;
    });
  };
}

const resultOf = (sent: Sent): ChannelTestResult => ({
  delivered: sent.delivered,
  status: sent.status ?? null,
  error: sent.delivered ? refusedOf(sent.refused ?? []) : sent.error,
});

const refusedOf = (refused: readonly string[]): string | null =>
  refused.length === 0 ? null : `the mail server refused ${refused.join(', ')}`.slice(0, 500);

/** In a transaction of its own, before anything is sent. A refused test does not count. */
async function countOne(
  tx: Transaction,
  { key, limit, at }: { key: string; limit: number; at: number },
): Promise<void> {
  const counted = await new LoginFailureStore(tx).count({ key, at, windowMs: MINUTE_MS, slides: false });
  if (counted && counted.failures > limit)
    throw fail('RATE_LIMITED', { retryAfterSeconds: Math.max(1, Math.ceil((counted.expiresAt - at) / 1_000)) });
}
