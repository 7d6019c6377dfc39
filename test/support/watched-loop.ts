import { constants, PerformanceObserver, type PerformanceEntry } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { processorTime } from './processor-time.js';

/**
 * The longest time that the thread was blocked by one piece of work, in milliseconds of user processor time. Factors of
 * the machine are excluded: waiting for a processor, and kernel time for allocating memory and writing files. Major
 * garbage collections are excluded too, because most of the heap belongs to the tests.
 */
export async function longestWork(work: () => Promise<void>): Promise<number> {
  const stretches: Stretch[] = [];
  const collections: PerformanceEntry[] = [];
  const observer = new PerformanceObserver((list) => void collections.push(...list.getEntries().filter(isOfWholeHeap)));
  observer.observe({ entryTypes: ['gc'] });
  let last = { at: performance.now(), ...processorTime() };
  const look = (): void => {
    const now = { at: performance.now(), ...processorTime() };
    const ms = Math.min(now.at - last.at, now.all - last.all, now.user - last.user);
    stretches.push({ from: last.at, to: now.at, ms });
    last = now;
  };
  const timer = setInterval(look, 1);
  try {
    await work();
    await sleep(2); // work started with the answer ends first
    look();
    await sleep(1); // observers are called one turn later
    return Math.max(
      ...stretches.filter(({ ms }) => ms > 5).map(({ from, to, ms }) => ms - collectedMs(collections, from, to)),
      0,
    );
  } finally {
    clearInterval(timer);
    observer.disconnect();
  }
}

interface Stretch {
  readonly from: number;
  readonly to: number;
  readonly ms: number;
}

/** Collects the garbage of earlier tests, so that it does not affect the next measurement. */
export function collectGarbage(): void {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  collect();
}

const WHOLE_HEAP: readonly (number | undefined)[] = [
  constants.NODE_PERFORMANCE_GC_MAJOR,
  constants.NODE_PERFORMANCE_GC_INCREMENTAL,
  constants.NODE_PERFORMANCE_GC_WEAKCB,
];

// The types of Node.js lack the details of a garbage collection entry.
const isOfWholeHeap = (entry: PerformanceEntry): boolean =>
  WHOLE_HEAP.includes((entry as PerformanceEntry & { readonly detail?: { readonly kind?: number } }).detail?.kind);

const collectedMs = (collections: readonly PerformanceEntry[], from: number, to: number): number =>
  collections.reduce(
    (sum, { startTime, duration }) => sum + Math.max(0, Math.min(to, startTime + duration) - Math.max(from, startTime)),
    0,
  );
