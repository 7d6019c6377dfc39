import { constants, PerformanceObserver, type PerformanceEntry } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/**
 * The longest stretch in which the thread did nothing but one piece of work, in milliseconds of its processor that its
 * own code took. What depends on the machine is not counted: waiting for a processor, and the kernel's part, which is
 * to hand out memory and to write files. Nor is what collects the whole heap, of which the tests themselves and all
 * that they have loaded are the greater part.
 */
export async function longestWork(work: () => Promise<void>): Promise<number> {
  const stretches: Stretch[] = [];
  const collections: PerformanceEntry[] = [];
  const observer = new PerformanceObserver((list) => void collections.push(...list.getEntries().filter(isOfWholeHeap)));
  observer.observe({ entryTypes: ['gc'] });
  let last = { at: performance.now(), cpu: processorMs() };
  const look = (): void => {
    const now = { at: performance.now(), cpu: processorMs() };
    stretches.push({ from: last.at, to: now.at, ms: Math.min(now.at - last.at, now.cpu - last.cpu) });
    last = now;
  };
  const timer = setInterval(look, 1);
  try {
    await work();
    await sleep(2); // what began with the answer ends first
    look();
    await sleep(1); // what was observed is told a turn later
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

/** Collects what earlier tests left behind, so that the work that is looked at next does not pay for it. */
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

const processorMs = (): number => process.threadCpuUsage().user / 1_000;
