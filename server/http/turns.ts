import { performance } from 'node:perf_hooks';
import { fail, type Failure } from '../../data-plane-agent/base/failures.js';

/**
 * Lets requests begin as fast as the process works, in turns of the tenants, and refuses at once what would wait too
 * long. Without it all requests that arrive are begun, each of them slows down the others, and under more load than the
 * process can bear none is answered in time.
 */
export interface Turns {
  /** `undefined` if the request may begin now; otherwise resolves when it may. Throws OVERLOADED. */
  take(tenantId: string): Promise<void> | undefined;
  /** Whether a request of the tenant would be refused now. */
  isOver(tenantId: string): boolean;
  /** Requests that wait. */
  readonly waiting: number;
}

export interface TurnsOptions {
  /** Whether what the requests work with can take more: a database may have no connection left. */
  readonly mayBegin?: () => boolean;
  /** Milliseconds; a request that would wait longer is refused: who waits for a page asks again instead. */
  readonly longestWaitMs?: number | undefined;
  /** For tests: milliseconds that never go back, and what calls a function in the next turn of the event loop. */
  readonly now?: () => number;
  readonly nextTurn?: (run: () => void) => unknown;
  readonly later?: (run: () => void, ms: number) => unknown;
}

/** Requests begin in a turn of the event loop until this time has passed; then others can arrive, or be refused. */
const BEGIN_MS = 5;
const LONGEST_WAIT_MS = 500;
const MOST_WAITING_OF_EACH = 1_000;
/** How long to wait before asking again whether more can be taken. */
const ASK_AGAIN_MS = 2;
/** Of the time between two requests that begin one after the other: what a new measurement counts. */
const WEIGHT = 1 / 16;
/** A pause between two requests that is longer was not work. */
const LONGEST_PACE_MS = 100;

export const overloaded = (): Failure => fail('OVERLOADED', { retryAfterSeconds: 1 });

interface Waiting {
  readonly since: number;
  readonly begin: () => void;
}

export function createTurns({
  mayBegin = () => true,
  longestWaitMs = LONGEST_WAIT_MS,
  now = () => performance.now(),
  nextTurn = setImmediate,
  later = (run, ms) => setTimeout(run, ms).unref(),
}: TurnsOptions = {}): Turns {
  /** By tenant. The tenant that has waited longest since its last turn comes first. */
  const queues = new Map<string, Waiting[]>();
  let waiting = 0;
  let isPumping = false;
  /** When the first request of the present turn of the event loop began. */
  let turnBegan: number | undefined;
  let lastBegan = 0;
  /** Milliseconds from one request to the next while some wait. */
  let pace = 1;

  const hasTime = (): boolean => turnBegan === undefined || now() - turnBegan < BEGIN_MS;
  const begun = (at: number): void => {
    if (turnBegan !== undefined) return;
    turnBegan = at;
    nextTurn(() => (turnBegan = undefined));
  };

  const isOver = (tenantId: string): boolean => {
    const own = queues.get(tenantId);
    const [oldest] = own ?? [];
    if (!own || !oldest) return false;
    return (
      own.length >= MOST_WAITING_OF_EACH ||
      own.length * queues.size * pace > longestWaitMs ||
      now() - oldest.since > longestWaitMs
    );
  };

  const beginNext = (): void => {
    const [first] = queues;
    if (!first) return;
    const [tenantId, [next, ...others]] = first;
    queues.delete(tenantId);
    if (others.length > 0) queues.set(tenantId, others);
    if (!next) return;
    waiting -= 1;
    const at = now();
    pace += WEIGHT * (Math.min(at - lastBegan, LONGEST_PACE_MS) - pace);
    lastBegan = at;
    begun(at);
    next.begin();
  };

  const pump = (): void => {
    if (waiting === 0) {
      isPumping = false;
      return;
    }
    if (!mayBegin()) {
      later(pump, ASK_AGAIN_MS);
      return;
    }
    if (!hasTime()) {
      nextTurn(pump);
      return;
    }
    beginNext();
    // After everything that the request can do at once: a tick is called when no microtask is left.
    queueMicrotask(() => process.nextTick(pump));
  };

  return {
    get waiting() {
      return waiting;
    },
    isOver,
    take: (tenantId) => {
      if (waiting === 0 && hasTime() && mayBegin()) {
        begun(now());
        return undefined;
      }
      if (isOver(tenantId)) throw overloaded();
      return new Promise((resolve) => {
        const at = now();
        const own = queues.get(tenantId);
        const one = { since: at, begin: resolve };
        if (own) own.push(one);
        else queues.set(tenantId, [one]);
        waiting += 1;
        if (isPumping) return;
        isPumping = true;
        lastBegan = at;
        nextTurn(pump);
      });
    },
  };
}
