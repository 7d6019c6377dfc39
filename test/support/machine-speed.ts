import { processorTime } from './processor-time.js';

/**
 * The processor time of the reference work in milliseconds on the machine on which the bounds of the tests were set, the
 * least of several hundred measurements: two virtual cores of an AMD EPYC at 2.6 GHz, Node.js 24.
 */
const NOMINAL_MS = 50;
const RUNS = 8;

/**
 * How many times its nominal time the reference work takes at this moment, but at least 1. The same work does not
 * always need the same processor time: it needs more while other processes use the core's second thread, its caches and
 * the memory, while the clock frequency is lower, and on a slower machine. A time divided by this factor estimates the
 * time on the machine of the bounds. On a faster machine the bounds are not lower.
 */
export const slowdown = (): number => Math.max(1, referenceMs() / NOMINAL_MS);

/** Runs the work several times, because a single run has a garbage collection or has none. */
export function referenceMs(): number {
  const before = processorTime().all;
  for (let run = 0; run < RUNS; run++) JSON.stringify(JSON.parse(TEXT));
  return processorTime().all - before;
}

/** Larger than the caches of a core, as the bodies are. What the server does with large bodies is mostly this. */
const TEXT = JSON.stringify(
  Array.from({ length: 16_000 }, (_, i) => ({
    id: i,
    name: `name of ${i}`,
    note: 'x'.repeat(i % 100),
    list: [i, null],
  })),
);
