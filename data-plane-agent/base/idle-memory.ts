import { performance } from 'node:perf_hooks';
import { setFlagsFromString } from 'node:v8';
import { restCaches } from './expiring-cache.js';

/** How often the process looks at how busy it was, in milliseconds. */
const EVERY_MS = 1_000;
/** A process that works for less than this share of the time is quiet, as one is that runs scheduled jobs. */
const QUIET = 0.1;
/** So many quiet looks in a row make a process idle. */
const QUIET_LOOKS = 2;
/** One look with this share of work makes it busy. The collection of a large heap may take less than that. */
const BUSY = 0.4;
/** So do as many looks in a row with this share: from there on the mode that saves memory makes answers slower. */
const LIVELY = 0.2;
const LIVELY_LOOKS = 3;
/** So many looks after the mode that saves memory began, the memory has been given back, and the mode ends. */
const SAVING_LOOKS = 30;
/** It begins again after as much work as makes this many looks: a process that is never busy makes garbage too. */
const WORK_LOOKS = 10;

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
 * two seconds. A busy process would spend twice the processor time in that mode, so that the first busy second ends it,
 * and so do three seconds of some work. One that has a request now and then would spend up to two fifths more in it,
 * for nothing once the memory has been given back, so that it ends after half a minute at the latest, and begins again
 * only when the process has worked for ten seconds in all.
 */
export function saveMemoryWhenIdle(
  setMode: (mode: MemoryMode) => void,
  utilization: () => LoopTimes = performance.eventLoopUtilization,
): { stop(): void } {
  let mode: MemoryMode = 'speed';
  let quiet = 0;
  let lively = 0;
  /** How long the mode that saves memory has lasted, in looks. */
  let saved = 0;
  /** How long the process has worked since memory was given back, in looks. */
  let worked = WORK_LOOKS;
  let last = utilization();
  const timer = setInterval(() => {
    const now = utilization();
    const share = shareBetween(last, now);
    last = now;
    quiet = share < QUIET ? quiet + 1 : 0;
    lively = share >= LIVELY ? lively + 1 : 0;
    if (mode === 'speed') {
      worked += share;
      if (worked < WORK_LOOKS || quiet < QUIET_LOOKS) return;
      saved = 0;
      setMode((mode = 'saving'));
    } else if (++saved >= SAVING_LOOKS) {
      worked = 0;
      setMode((mode = 'speed'));
    } else if (share >= BUSY || lively >= LIVELY_LOOKS) {
      setMode((mode = 'speed'));
    }
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
 * How long V8 waits after a collection until it looks whether memory is to be given back, and then from look to look, in
 * milliseconds. With its own eight seconds a process that had become idle gave memory back after up to eleven.
 */
const LOOK_AFTER_MS = 2_000;

/**
 * Sets the mode of this process, threads included: V8 reads the flags whenever it plans a collection. What caches drop
 * before is in the first of them.
 */
export function memoryModeOf(nodeVersion: string): (mode: MemoryMode) => void {
  const hasFlag = Number.parseInt(nodeVersion, 10) >= SINCE;
  if (hasFlag) setFlagsFromString(`--gc-memory-reducer-start-delay-ms=${LOOK_AFTER_MS}`);
  return (mode) => {
    if (mode === 'saving') restCaches();
    if (hasFlag) setFlagsFromString(mode === 'saving' ? '--memory-saver-mode' : '--no-memory-saver-mode');
  };
}
