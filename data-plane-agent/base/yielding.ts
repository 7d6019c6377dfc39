import { noteLongWork } from './long-work.js';

/**
 * How long work may block the event loop, in milliseconds. A request waits little longer than this each time that it waits
 * for something itself, which on PostgreSQL may be six times: with 10 ms the first ones beside an import took 75 ms.
 */
const SLICE_MS = 5;
/** Work that has used so many slices is long: a transaction of a request may use one or two. */
const LONG_SLICES = 3;
/**
 * Iterations of the event loop between two pieces of work that each take most of one. libuv accepts one connection per
 * iteration: with one iteration per piece, a client that opens many connections would wait for seconds. An iteration
 * without work takes microseconds.
 */
const ITERATIONS = 32;
/** Milliseconds that they may take together: if there is other work in them, the waiting work has its share all the same. */
const ITERATIONS_MS = 5;

/** Calls `run` after connections and requests that have arrived by then are accepted and read, or most of them. */
export function afterArrivals(run: () => void): void {
  // From the next iteration on: the caller may still be at work in this one.
  setImmediate(() => iterate(run, ITERATIONS, performance.now() + ITERATIONS_MS));
}

function iterate(run: () => void, iterations: number, until: number): void {
  if (iterations <= 0 || performance.now() > until) run();
  else setImmediate(iterate, run, iterations - 1, until);
}

/**
 * For long synchronous work, such as work on SQLite: call the returned function between its steps. It yields to the
 * event loop when the time slice is over, and not more often, since an open transaction blocks other writers: before
 * that there is nothing to wait for, and it returns no promise. When the signal aborts, its promise rejects with the
 * signal's reason.
 *
 * The slice belongs to the iteration of the event loop and not to the caller: several pieces of work that follow one
 * another, or that run at the same time, share it. If each had its own, the delays would add up.
 */
export function yielding(signal?: AbortSignal): YieldIfDue {
  begin();
  let slices = 0;
  return () => {
    if (performance.now() - begin() < SLICE_MS) return undefined;
    if (++slices >= LONG_SLICES) noteLongWork();
    return resumed(signal);
  };
}

export type YieldIfDue = () => Promise<void> | undefined;

async function resumed(signal: AbortSignal | undefined): Promise<void> {
  await new Promise<void>((resume) => void waiting.push(resume));
  signal?.throwIfAborted();
}

/** When the slice of this iteration began; `undefined` as long as there was no such work in it. */
let since: number | undefined;
/** The work that has yielded, in the order in which it continues. */
const waiting: (() => void)[] = [];
/** Whether some of it has been waiting since an earlier iteration. */
let isReady = false;
let isScheduled = false;
/** Whether the next piece of waiting work is scheduled for when others have been heard. */
let isComing = false;

function begin(): number {
  schedule();
  return (since ??= performance.now());
}

/** Node.js settles all promises between two immediates: `end` runs when the continued work has yielded or ended. */
function schedule(): void {
  if (isScheduled) return;
  isScheduled = true;
  setImmediate(continueFirst);
  setImmediate(end);
}

/** Continues one piece of work per iteration, with a slice of its own, so that each piece makes the same progress. */
function continueFirst(): void {
  if (!isReady) return;
  since = performance.now();
  waiting.shift()?.();
}

function end(): void {
  since = undefined;
  isScheduled = false;
  isReady = waiting.length > 0;
  if (!isReady || isComing) return;
  isComing = true;
  afterArrivals(() => {
    isComing = false;
    schedule();
  });
}

/** A sequential `map` that yields to the event loop. */
export async function mapYielding<T, R>(
  items: readonly T[],
  work: (item: T, index: number) => R | Promise<R>,
): Promise<R[]> {
  const yieldIfDue = yielding();
  const results: R[] = [];
  for (let i = 0; i < items.length; i++) {
    results.push(await work(items[i] as T, i)); // i is within bounds
    await yieldIfDue();
  }
  return results;
}

/**
 * Does the steps one after the other. Waits for those that return a promise, and returns one itself only if there are
 * any.
 */
export function inOrder<T>(
  items: readonly T[],
  step: (item: T, index: number) => Promise<void> | undefined,
  from = 0,
): Promise<void> | undefined {
  for (let i = from; i < items.length; i++) {
    const ended = step(items[i] as T, i); // i is within bounds
    if (ended) return ended.then(() => inOrder(items, step, i + 1));
  }
  return undefined;
}
