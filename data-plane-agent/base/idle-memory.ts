import { performance } from 'node:perf_hooks';
import { setFlagsFromString } from 'node:v8';
import { restCaches } from './expiring-cache.js';

/** How often the process looks at how busy it was, in milliseconds. */
const EVERY_MS = 1_000;
/**
 * A process that works for less of the time than `below` is quiet, as one is that runs scheduled jobs; one that works
 * for more than `above` is busy. The collection itself, and work that takes longer in the other mode, are between them.
 */
const QUIET = { below: 0.1, above: 0.4 } as const;
/** So many quiet looks in a row make a process idle. */
const LOOKS = 2;

export type MemoryMode = 'speed' | 'saving';

/** How long the event loop has worked and waited so far, in milliseconds. */
export interface LoopTimes {
  readonly active: number;
  readonly idle: number;
}

/**
 * Has V8 give memory back to the system while the process is idle, and use what it likes while it is busy. V8 has a
 * collector for that purpose, which works in small steps beside the process, but from Node.js 24 on it waits for a
 * figure that only browsers have, and so for minutes. In the mode in which V8 saves memory it begins by itself within
 * ten seconds. A busy process would spend twice the processor time in that mode, so that the first busy second ends it.
 */
export function saveMemoryWhenIdle(
  setMode: (mode: MemoryMode) => void,
  utilization: () => LoopTimes = performance.eventLoopUtilization,
): { stop(): void } {
  let mode: MemoryMode = 'speed';
  let quiet = 0;
  let last = utilization();
  const timer = setInterval(() => {
    const now = utilization();
    const isQuiet = shareBetween(last, now) < (mode === 'saving' ? QUIET.above : QUIET.below);
    quiet = isQuiet ? quiet + 1 : 0;
    last = now;
    const wanted = quiet >= LOOKS ? 'saving' : 'speed';
    if (wanted !== mode) setMode((mode = wanted));
  }, EVERY_MS).unref();
  return {
    stop: () => {
      clearInterval(timer);
      if (mode === 'saving') setMode((mode = 'speed'));
    },
  };
}

/** The share of the time that the loop worked. Without any time it did not. */
function shareBetween(before: LoopTimes, after: LoopTimes): number {
  const active = after.active - before.active;
  const all = active + after.idle - before.idle;
  return all > 0 ? active / all : 0;
}

/** The first Node.js whose V8 has the mode, and needs it. */
const SINCE = 24;

/**
 * Sets the mode of this process, threads included: V8 reads the flag whenever it plans a collection. What caches drop
 * before is in the first of them.
 */
export function memoryModeOf(nodeVersion: string): (mode: MemoryMode) => void {
  const hasFlag = Number.parseInt(nodeVersion, 10) >= SINCE;
  return (mode) => {
    if (mode === 'saving') restCaches();
    if (hasFlag) setFlagsFromString(mode === 'saving' ? '--memory-saver-mode' : '--no-memory-saver-mode');
  };
}
