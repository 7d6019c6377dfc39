import { setTimeout as sleep } from 'node:timers/promises';
import type { Log } from '../../data-plane-agent/base/log.js';
import type { SkipReason } from '../../data-plane-agent/plane/contract/vocabulary.js';

/**
 * A queue of messages that are to be delivered. Several processes may work on one queue: a message is leased by one of
 * them for one attempt.
 */
export interface Queue<M extends QueuedMessage = QueuedMessage> {
  /** Tells the lanes of different queues apart, and names the queue in the log. */
  readonly name: string;
  readonly tenantId: string | null;
  /**
   * Reserves the next place in the pace of the lane. Returns 0 if a message may be sent now, otherwise after how many
   * milliseconds it is worth asking again.
   */
  reserve(lane: string): Promise<number>;
  /** The message of the lane that has been due longest, or the one with the id. */
  lease(lane: string, id?: string): Promise<M | undefined>;
  /** Makes one attempt, within half a minute. A rejection counts as a failed attempt. */
  attempt(message: M): Promise<Outcome>;
  /** Records how the attempt ended. */
  settle(message: M, outcome: Outcome): Promise<Settled>;
}

export interface QueuedMessage {
  readonly id: string;
  readonly topic: string;
  /** Including the present one. */
  readonly attempts: number;
}

export type Outcome = Delivered | NotDelivered;
/** What is recorded of a notice that was rendered. */
interface Rendered {
  readonly recipients?: readonly string[];
  readonly subject?: string;
  /** The kind of the channel that it was sent through. */
  readonly kind?: string;
}
export interface Delivered extends Rendered {
  readonly delivered: true;
  /** Why nothing was sent: what the message is about, or its channel, no longer needs it. */
  readonly reason?: SkipReason;
}
export interface NotDelivered extends Rendered {
  readonly delivered: false;
  /** Recorded and shown: a sentence or a code, without secrets. */
  readonly error: string;
  readonly retryAfterMs?: number | undefined;
  readonly isFinal?: boolean | undefined;
  /** This installation is set up without what it takes: the log warns of it only when the message is given up. */
  readonly isUnconfigured?: boolean | undefined;
  /** For the log: the reason, and what the operator can do. */
  readonly cause?: unknown;
  readonly fix?: string | undefined;
}

/** An outcome as the data plane records it. */
export const recordedOutcome = (outcome: Outcome) =>
  outcome.delivered
    ? { error: null, ...(outcome.reason === undefined ? {} : { reason: outcome.reason }) }
    : { error: outcome.error, retryAfterMs: outcome.retryAfterMs ?? null, isFinal: outcome.isFinal ?? false };

/** `lost`: the lease had expired, so that the attempt does not count. */
export type Settled = 'delivered' | 'queued' | 'failed' | 'lost';

/** Delivers the messages of all queues: each lane at its own pace, and none of them waits for another. */
export interface DeliveryEngine {
  /**
   * Starts to work on lanes, as far as there is room. Resolves when the work on them has ended, also that which was begun
   * by another call. After the signal is
   * aborted no further attempt is started.
   */
  work(queue: Queue, lanes: readonly string[], signal?: AbortSignal): Promise<void>;
  /** Attempts one message now, even if others of the lane have waited longer. Does nothing if it is leased. */
  deliver(queue: Queue, lane: string, id: string): Promise<void>;
  /** Starts no more attempts, and waits for those under way. */
  stop(): Promise<void>;
}

/** An attempt that counts, and its result. */
export interface SettledAttempt {
  readonly queue: Pick<Queue, 'name' | 'tenantId'>;
  readonly message: QueuedMessage;
  readonly outcome: Outcome;
  readonly settled: Exclude<Settled, 'lost'>;
}

export interface EngineOptions {
  readonly log: Log;
  /** Called after each attempt that counts. */
  readonly onSettled?: (attempt: SettledAttempt) => void;
}

/** Attempts in parallel, over all queues. */
const WORKERS = 32;
/** Attempts in parallel in a lane whose last attempt succeeded; otherwise one. */
const LANE_WORKERS = 4;
/** The longest time to wait for a place in the pace of a lane; a longer one is left to the next round. */
const MOST_WAIT_MS = 250;
/** The same for a single message, whose sender waits: longer than between two messages to a chat. */
const MOST_WAIT_FOR_ONE_MS = 3_500;
/** How often to ask for a place that others were faster to reserve. */
const MOST_WAITS = 3;
/** A lane with many messages gives up its place after this time, so that others get their turn. */
const TURN_MS = 30_000;

export function createDeliveryEngine({ log, onSettled = () => undefined }: EngineOptions): DeliveryEngine {
  const stopping = new AbortController();
  const lanes = new Map<string, Lane>();
  const running = new Set<Promise<void>>();
  /** The number of attempts under way. */
  let busy = 0;

  async function workOn(queue: Queue, name: string, signal: AbortSignal): Promise<void> {
    const key = `${queue.name} ${name}`;
    const lane = lanes.get(key) ?? { workers: 0, isHealthy: false, ended: Promise.resolve() };
    const mayStart = () => lane.workers < (lane.isHealthy ? LANE_WORKERS : 1) && busy < WORKERS;
    const helpers: Promise<void>[] = [];
    const worker = async (): Promise<void> => {
      lane.workers += 1;
      const end = performance.now() + TURN_MS;
      try {
        while (performance.now() < end) {
          // A lane that waits for its place takes no room from others.
          if (!(await hasPlace(queue, name, { signal })) || busy >= WORKERS || signal.aborted) return;
          const settled = await attemptOne(queue, name);
          if (settled === undefined) return;
          lane.isHealthy = settled === 'delivered';
          if (settled === 'queued') return; // the receiver may be down: the others are tried in the next round
          if (mayStart()) helpers.push(tracked(worker()));
        }
      } finally {
        lane.workers -= 1;
      }
    };
    if (signal.aborted || !mayStart()) return lane.ended;
    lanes.set(key, lane);
    const allEnded = async (): Promise<void> => {
      await tracked(worker());
      for (let helper = helpers.shift(); helper; helper = helpers.shift()) await helper;
    };
    const ended = allEnded();
    lane.ended = Promise.all([lane.ended, ended]).then(() => undefined);
    await ended;
    if (lane.workers === 0) lanes.delete(key);
  }

  /** Errors are logged: the lane is worked on again in the next round. */
  function tracked(work: Promise<void>): Promise<void> {
    const logged = work
      .catch((error: unknown) => log.error({ err: error }, 'messages not delivered'))
      .finally(() => running.delete(logged));
    running.add(logged);
    return logged;
  }

  async function hasPlace(
    queue: Queue,
    lane: string,
    { signal, atMost = MOST_WAIT_MS }: { signal: AbortSignal; atMost?: number },
  ): Promise<boolean> {
    for (let waits = 0; waits < MOST_WAITS && !signal.aborted; waits++) {
      const wait = await queue.reserve(lane);
      if (wait === 0) return true;
      if (wait > atMost) return false;
      await sleep(wait, undefined, { signal }).catch(() => undefined); // aborted: checked by the loop
    }
    return false;
  }

  async function attemptOne(queue: Queue, lane: string, id?: string): Promise<Settled | undefined> {
    busy += 1;
    try {
      return await attempted(queue, lane, id);
    } finally {
      busy -= 1;
    }
  }

  async function attempted(queue: Queue, lane: string, id?: string): Promise<Settled | undefined> {
    const message = await queue.lease(lane, id);
    if (!message) return undefined;
    const outcome = await queue
      .attempt(message)
      .catch((error: unknown): NotDelivered => ({ delivered: false, error: UNPREPARED, cause: error }));
    const settled = await queue.settle(message, outcome);
    if (!outcome.delivered) logFailure(log, { queue, message, outcome, settled });
    else if (outcome.reason !== undefined) logNotNeeded(log, { queue, message, reason: outcome.reason });
    if (settled !== 'lost') onSettled({ queue, message, outcome, settled });
    return settled;
  }

  return {
    work: async (queue, names, signal) => {
      const stopped = signal ? AbortSignal.any([stopping.signal, signal]) : stopping.signal;
      await Promise.all(names.map((name) => workOn(queue, name, stopped)));
    },
    deliver: async (queue, lane, id) => {
      if (stopping.signal.aborted) return;
      await tracked(
        (async () => {
          if (await hasPlace(queue, lane, { signal: stopping.signal, atMost: MOST_WAIT_FOR_ONE_MS }))
            await attemptOne(queue, lane, id);
        })(),
      );
    },
    stop: async () => {
      stopping.abort();
      await Promise.all(running);
    },
  };
}

interface Lane {
  workers: number;
  /** Whether the last attempt succeeded. */
  isHealthy: boolean;
  /** Resolves when the work on the lane has ended. */
  ended: Promise<void>;
}

export const UNPREPARED = 'the message could not be prepared; the log of the server has the reason';

function logNotNeeded(
  log: Log,
  { queue, message, reason }: { readonly queue: Queue; readonly message: QueuedMessage; readonly reason: SkipReason },
): void {
  const { name, tenantId } = queue;
  log.info({ queue: name, tenantId, topic: message.topic, message: message.id, reason }, 'message not needed any more');
}

function logFailure(
  log: Log,
  {
    queue: { name, tenantId },
    message: { id, topic, attempts },
    outcome: { error, cause, fix, isUnconfigured = false },
    settled,
  }: {
    readonly queue: Queue;
    readonly message: QueuedMessage;
    readonly outcome: NotDelivered;
    readonly settled: Settled;
  },
): void {
  log[isUnconfigured && settled !== 'failed' ? 'info' : 'warn'](
    {
      queue: name,
      tenantId,
      topic,
      message: id,
      attempt: attempts,
      error,
      final: settled === 'failed',
      ...(cause === undefined ? {} : { err: cause }),
      ...(fix === undefined ? {} : { fix }),
    },
    'message not delivered',
  );
}
