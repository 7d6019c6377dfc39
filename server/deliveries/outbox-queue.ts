import type { Clock } from '../../data-plane-agent/base/clock.js';
import type { Database } from '../../data-plane-agent/base/database/database.js';
import { isId } from '../../data-plane-agent/base/ids.js';
import type { OutboxMessage } from '../../data-plane-agent/plane/contract/records/outbox.js';
import { ChannelStore } from '../store/channels.js';
import { adapterOf } from '../notifications/channels/index.js';
import { recordedOutcome, type Outcome, type Queue, type Settled } from '../notifications/engine.js';
import { FILE_INFECTED } from './topics/file-infected.js';
import type { Topic, TopicPlace } from './topics/topic.js';

/** A message of a dead process is delivered again after this time, which is longer than any attempt. */
const LEASE_MS = 2 * 60_000;

/** The outbox of one organisation's data plane. Its lanes are its channels; messages without a channel have others. */
export function outboxQueue({
  database,
  clock,
  topics,
  ...place
}: TopicPlace & {
  /** The platform's. */
  readonly database: Database;
  readonly clock: Clock;
  readonly topics: ReadonlyMap<string, Topic>;
}): Queue<OutboxMessage> {
  const { tenantId, plane } = place;
  return {
    name: `outbox ${tenantId}`,
    tenantId,
    reserve: (lane) =>
      database.write({ tenantId: null }, async (tx) => {
        const channels = new ChannelStore(tx, tenantId);
        const channel = await (lane === FILE_INFECTED
          ? channels.default()
          : isId(lane)
            ? channels.byId(lane)
            : undefined);
        return channel ? channels.reserveSlot({ id: channel.id, at: clock.now(), ...adapterOf(channel.kind).pace }) : 0;
      }),
    lease: async (lane, id) =>
      (await plane.leaseMessages({ lane, id: id ?? null, limit: 1, leaseMs: LEASE_MS })).messages[0],
    attempt: async (message) =>
      (await topics.get(message.topic)?.attempt(message, place)) ?? {
        delivered: false,
        error: `messages about ${message.topic} are not delivered`,
        isFinal: true,
      },
    settle: async (message, outcome) =>
      (await topics.get(message.topic)?.settle?.(message, outcome, place)) ?? settle(message, outcome, place),
  };
}

async function settle({ id, attempts }: OutboxMessage, outcome: Outcome, { plane }: TopicPlace): Promise<Settled> {
  const counts = await plane.settleMessages({
    outcomes: [{ id, attempts, ...recordedOutcome(outcome) }],
  });
  if (counts.settled > 0) return 'delivered';
  return counts.queued > 0 ? 'queued' : counts.failed > 0 ? 'failed' : 'lost';
}
