import { performance } from 'node:perf_hooks';
import { fail, type Failure } from '../../data-plane-agent/base/failures.js';
import { afterArrivals } from '../../data-plane-agent/base/yielding.js';

/**
 * Lets requests begin as fast as the process works, in turns of the tenants, and refuses at once what would wait too
 * long. Without it all requests that arrive are begun, each of them slows down the others, and under more load than the
 * process can bear none is answered in time.
 */
export interface Turns {
  /** Resolves when the request may begin; not a promise if that is now. Throws OVERLOADED. */
  take(tenantId: string): Turn | Promise<Turn>;
  /** Whether a request of the tenant would be refused now. */
  isOver(tenantId: string): boolean;
  /** Requests that wait. */
  readonly waiting: number;
}

/** A request that has begun. */
export interface Turn {
  ended(): void;
}

export interface TurnsOptions {
  /** Whether what the requests work with can take more: a database may have no connection left. */
  readonly mayBegin?: () => boolean;
  /** Whether the thread has been at work nearly all of the time since this was asked last. */
  readonly isBusy?: () => boolean;
  /** Milliseconds; a request that would wait longer is refused: who waits for a page asks again instead. */
  readonly longestWaitMs?: number | undefined;
  /** For tests: how many requests are the first of the process. */
  readonly firstRequests?: number | undefined;
  /** For tests: milliseconds that never go back, and what calls a function in the next turn of the event loop. */
  readonly now?: () => number;
  readonly nextTurn?: (run: () => void) => unknown;
  readonly later?: (run: () => void, ms: number) => unknown;
}

/**
 * While the thread is busy no more requests are under way: more of them would only make each take longer. Enough that
 * writes share a commit.
 */
const UNDER_WAY = 24;
/**
 * While the thread has little to do, since requests wait for something else, such as an agent, each look lets so many times
 * as many be under way. Not all that wait at once: a thread that has to wait for a core of the machine looks like one that
 * has little to do, and what would begin then would be answered late.
 */
const GROWS_BY = 1.5;
/** Milliseconds. */
const LOOK_EVERY_MS = 20;
/** A request that takes longer, such as an export, does not count any more. */
const COUNTED_MS = 1_000;
/** Requests begin in a turn of the event loop until this time has passed; then others can arrive, or be refused. */
const BEGIN_MS = 5;
/** Of the second in which a person expects an answer, the rest is for the work itself and the way there and back. */
const LONGEST_WAIT_MS = 600;
/**
 * A request joins those that wait if it would begin in this share of the longest wait: work becomes slower at times, and
 * once one has waited for too long, none joins until all that wait have begun.
 */
const JOINS_WITHIN = 5 / 6;
/**
 * A process that has just started loads and compiles what its first requests run, and takes ten times as long for them
 * as later. That they wait says nothing about the load, so they may wait longer, in milliseconds.
 */
const FIRST_REQUESTS = 200;
const LONGEST_FIRST_WAIT_MS = 4_000;
/**
 * Until some have waited this long, a queue is a burst that will soon be over, and its pace is not known yet: as many may
 * join it as come meanwhile. Under four times the load that the process can bear the last of them waits for 0.6 s.
 */
const BURST_MS = 200;
/** A queue that was empty for longer is another one. */
const SAME_QUEUE_MS = 10;
const MOST_WAITING_OF_EACH = 1_000;
/** How long to wait before asking again whether more can be taken. */
const ASK_AGAIN_MS = 2;
/**
 * The pace is that of the last requests: what is this long ago counts by a third. Requests begin in bursts, and some take
 * fifty times as long as others, so that a pace of few of them would let too many join.
 */
const PACE_OF_MS = 500;
/** A pause between two requests that is longer was not work. */
const LONGEST_PACE_MS = 100;

export const overloaded = (): Failure => fail('OVERLOADED', { retryAfterSeconds: 1 });

interface Waiting {
  readonly since: number;
  readonly begin: (turn: Turn) => void;
}

export function createTurns({
  mayBegin = () => true,
  isBusy = loopIsBusy(),
  longestWaitMs = LONGEST_WAIT_MS,
  firstRequests = FIRST_REQUESTS,
  now = () => performance.now(),
  nextTurn = afterArrivals,
  later = (run, ms) => setTimeout(run, ms).unref(),
}: TurnsOptions = {}): Turns {
  /** By tenant. The tenant that has waited longest since its last turn comes first. */
  const queues = new Map<string, Waiting[]>();
  const underWay = createUnderWay(now, () => unblock());
  let waiting = 0;
  let state: 'idle' | 'pumping' | 'blocked' = 'idle';
  /** When the first request of the present turn of the event loop began. */
  let turnBegan: number | undefined;
  let lastBegan = 0;
  /** Since when requests have been waiting, nearly without a pause. */
  let waitingSince = 0;
  let emptySince = 0;
  const pace = createPace();
  /** How many have begun, up to the number of the first ones. */
  let newBegun = 0;

  const isNew = (): boolean => newBegun < firstRequests;
  const hasTime = (): boolean => turnBegan === undefined || now() - turnBegan < BEGIN_MS;
  const room = createRoom(isBusy, now);
  const hasRoom = (): boolean => {
    if (!mayBegin()) return false;
    const count = underWay.count();
    return count < UNDER_WAY || count < room(count);
  };

  const begun = (at: number): Turn => {
    if (isNew()) newBegun += 1;
    if (turnBegan === undefined) {
      turnBegan = at;
      nextTurn(() => (turnBegan = undefined));
    }
    return underWay.begin(at);
  };

  const isOver = (tenantId: string): boolean => {
    const own = queues.get(tenantId);
    const [oldest] = own ?? [];
    if (!own || !oldest) return false;
    if (own.length >= MOST_WAITING_OF_EACH) return true;
    const waited = now() - oldest.since;
    if (isNew()) return waited > Math.max(longestWaitMs, LONGEST_FIRST_WAIT_MS);
    const isQueue = now() - waitingSince > BURST_MS;
    return (isQueue && own.length * queues.size * pace.ms() > longestWaitMs * JOINS_WITHIN) || waited > longestWaitMs;
  };

  const beginNext = (): void => {
    const [first] = queues;
    if (!first) return;
    const [tenantId, own] = first;
    const next = own.shift();
    queues.delete(tenantId);
    if (own.length > 0) queues.set(tenantId, own);
    if (!next) return;
    waiting -= 1;
    const at = now();
    pace.begun(at - lastBegan);
    lastBegan = at;
    next.begin(begun(at));
  };

  const pump = (): void => {
    if (waiting === 0) {
      state = 'idle';
      emptySince = now();
    } else if (!hasRoom()) {
      state = 'blocked';
      later(unblock, ASK_AGAIN_MS);
    } else if (!hasTime()) {
      nextTurn(pump);
    } else {
      beginNext();
      // After everything that the request can do at once.
      // oxlint-disable-next-line no-restricted-globals -- the only queue that runs after all promise reactions and before I/O
      queueMicrotask(() => process.nextTick(pump));
    }
  };
  function unblock(): void {
    if (state !== 'blocked') return;
    state = 'pumping';
    nextTurn(pump);
  }

  return {
    get waiting() {
      return waiting;
    },
    isOver,
    take: (tenantId) => {
      if (waiting === 0 && hasTime() && hasRoom()) return begun(now());
      if (isOver(tenantId)) throw overloaded();
      return new Promise((resolve) => {
        const at = now();
        if (state === 'idle' && at - emptySince > SAME_QUEUE_MS) waitingSince = at;
        const own = queues.get(tenantId);
        const one = { since: at, begin: resolve };
        if (own) own.push(one);
        else queues.set(tenantId, [one]);
        waiting += 1;
        if (state !== 'idle') return;
        state = 'pumping';
        lastBegan = at;
        nextTurn(pump);
      });
    },
  };
}

/** Milliseconds from one request to the next while some wait. */
function createPace(): { begun(afterMs: number): void; ms(): number } {
  let [time, count] = [1, 1];
  return {
    begun: (afterMs) => {
      const passed = Math.min(afterMs, LONGEST_PACE_MS);
      const left = Math.exp(-passed / PACE_OF_MS);
      [time, count] = [time * left + passed, count * left + 1];
    },
    ms: () => time / count,
  };
}

/** Counts the requests that have begun and not ended, each for `COUNTED_MS` at most. */
function createUnderWay(now: () => number, onEnded: () => void): { begin(at: number): Turn; count(): number } {
  /** In the order in which they began. */
  const counted = new Set<{ readonly at: number }>();
  return {
    begin: (at) => {
      const one = { at };
      counted.add(one);
      return {
        ended: () => {
          if (counted.delete(one)) onEnded();
        },
      };
    },
    count: () => {
      const since = now() - COUNTED_MS;
      for (const one of counted) {
        if (one.at >= since) break;
        counted.delete(one);
      }
      return counted.size;
    },
  };
}

/**
 * How many requests may be under way, given how many are. While the thread is busy for one look no more than there are:
 * to begin what waits for something else takes work as well.
 */
function createRoom(isBusy: () => boolean, now: () => number): (underWay: number) => number {
  let room = UNDER_WAY;
  let lookedAt = -Infinity;
  let wasBusy = true;
  return (underWay) => {
    const at = now();
    if (at - lookedAt < LOOK_EVERY_MS) return room;
    lookedAt = at;
    const busy = isBusy();
    const held = Math.max(underWay, UNDER_WAY);
    if (!busy) room = Math.ceil(held * GROWS_BY);
    else room = wasBusy ? UNDER_WAY : held;
    wasBusy = busy;
    return room;
  };
}

/** Of the time since the last look: how much the event loop worked. */
const BUSY = 0.9;

function loopIsBusy(): () => boolean {
  let last = performance.eventLoopUtilization();
  return () => {
    const present = performance.eventLoopUtilization();
    const { utilization } = performance.eventLoopUtilization(present, last);
    last = present;
    return utilization > BUSY;
  };
}
