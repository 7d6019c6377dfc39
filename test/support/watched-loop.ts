import { constants, PerformanceObserver, type PerformanceEntry } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';

/**
 * The longest stretch in which the thread did nothing but one piece of work, in milliseconds of its processor that its own code took. What depends on
 * the machine is not counted: waiting for a processor, and the kernel's part, which is to hand out memory and to write files. Nor is a collection of
 * the whole heap, of which the tests themselves and all that they have loaded are the greater part.
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
    return Math.max(...stretches.filter(({ ms }) => ms > 5).map(({ from, to, ms }) => ms - collectedMs(collections, from, to)), 0);
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

// The types of Node.js leave out what an entry about a collection tells.
const isOfWholeHeap = (entry: PerformanceEntry): boolean => (entry as PerformanceEntry & { readonly detail?: { readonly kind?: number } }).detail?.kind === constants.NODE_PERFORMANCE_GC_MAJOR;

const collectedMs = (collections: readonly PerformanceEntry[], from: number, to: number): number =>
  collections.reduce((sum, { startTime, duration }) => sum + Math.max(0, Math.min(to, startTime + duration) - Math.max(from, startTime)), 0);

const processorMs = (): number => process.threadCpuUsage().user / 1_000;
