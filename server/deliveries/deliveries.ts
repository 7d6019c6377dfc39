import { setTimeout as sleep } from 'node:timers/promises';
import type { Clock } from '../../data-plane-agent/base/clock.js';
import type { Database } from '../../data-plane-agent/base/database/database.js';
import type { BoundPlane } from '../../data-plane-agent/plane/contract/data-plane.js';
import type { Operations } from '../../data-plane-agent/plane/operations/index.js';
import type { DeliveryEngine, Queue } from '../notifications/engine.js';
import { outboxQueue } from './outbox-queue.js';
import { topicsOf } from './topics/index.js';
import type { TopicParts } from './topics/topic.js';

/** Delivers what the data planes of organisations have queued. */
export interface Deliveries {
  /** Starts to deliver the due messages of an organisation, without waiting for the receivers. */
  start(tenantId: string): Promise<void>;
  /**
   * For a request that has queued messages: delivers the due messages of the organisation, and waits for that at most a
   * few seconds. What is not delivered by then follows.
   */
  drain(tenantId: string): Promise<void>;
  /** For a request that has queued one message: attempts it before all others, and waits at most half a minute. */
  deliver(tenantId: string, message: { readonly id: string; readonly lane: string }): Promise<void>;
}

/** How long a request waits for many messages. */
const DRAIN_MS = 5_000;
const DELIVER_MS = 30_000;

export function createDeliveries({
  engine,
  planeOf,
  ...parts
}: TopicParts & {
  readonly database: Database;
  readonly clock: Clock;
  readonly engine: DeliveryEngine;
  /** The data plane of an organisation, bound to a call by the system. */
  readonly planeOf: (tenantId: string) => Promise<BoundPlane<Operations>>;
}): Deliveries {
  const { database, clock } = parts;
  const topics = topicsOf(parts);
  const queueOf = (tenantId: string, plane: BoundPlane<Operations>): Queue =>
    outboxQueue({ tenantId, plane, database, clock, topics });
  // With a plane of its own: attempts that are under way when a schedule ends are not aborted.
  const work = async (tenantId: string): Promise<{ readonly ended: Promise<void> }> => {
    const plane = await planeOf(tenantId);
    const { lanes } = await plane.listDueLanes({});
    const names = lanes.map(({ lane }) => lane);
    return { ended: engine.work(queueOf(tenantId, plane), names) };
  };

  return {
    start: async (tenantId) => void (await work(tenantId)),
    drain: async (tenantId) => {
      const { ended } = await work(tenantId);
      await atMost(DRAIN_MS, ended);
    },
    deliver: async (tenantId, { id, lane }) => {
      await atMost(DELIVER_MS, engine.deliver(queueOf(tenantId, await planeOf(tenantId)), lane, id));
    },
  };
}

/** The work goes on when the time is over. */
async function atMost(ms: number, work: Promise<void>): Promise<void> {
  const over = new AbortController();
  try {
    await Promise.race([work, sleep(ms, undefined, { signal: over.signal })]);
  } finally {
    over.abort();
  }
}
