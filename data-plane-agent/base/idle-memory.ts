import { constants, performance, PerformanceObserver, type NodeGCPerformanceDetail } from 'node:perf_hooks';
import { setFlagsFromString } from 'node:v8';
import { collectGarbage } from './collect-garbage.js';
import { restCaches } from './expiring-cache.js';
import { isLongWorkUnderWay, onLongWork } from './long-work.js';

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
/** So many looks after the mode began, the memory is given back in a quiet look, if V8 has not begun by itself. */
const COLLECT_LOOKS = 4;
/** While memory is saved, work is looked for this often as well, in milliseconds: two looks in a row make it busy. */
const QUICK_MS = 250;
const QUICK_LOOKS = 2;

export type MemoryMode = 'speed' | 'saving';

/** How long the event loop has worked and waited so far, in milliseconds. */
export interface LoopTimes {
  readonly active: number;
  readonly idle: number;
}

/** What is looked at, and the last means. */
interface Looks {
  utilization(): LoopTimes;
  /** How many times all memory was looked through for garbage. */
  collections(): number;
  /** Gives memory back while nothing else happens. */
  collect(): void;
  /** Whether a thread does long work, of which `utilization` says nothing. */
  isLongWorkUnderWay(): boolean;
  /** Calls `begun` when long work begins, or goes on, until the returned function is called. */
  onLongWork(begun: () => void): () => void;
}

const OF_PROCESS: Looks = {
  utilization: performance.eventLoopUtilization,
  collections: collectionsFromNowOn(),
  collect: collectGarbage,
  isLongWorkUnderWay,
  onLongWork,
};

/**
 * Has V8 give memory back to the system while the process is idle, and use what it likes while it is busy. V8 has a
 * collector for that purpose, which works in small steps beside the process, but from Node.js 24 on it waits for a
 * figure that only browsers have, and so for minutes. In the mode in which V8 saves memory it begins by itself within
 * two seconds, mostly; after four it is made to in the next quiet second, so that memory after a load does not depend on
 * V8's own estimates.
 *
 * A busy process would spend twice the processor time in that mode, so that half a busy second ends it, and so do three
 * seconds of some work. Long work ends it as it begins: an import would have all memory looked through several times in
 * its first half second, each time for up to 80 ms in which nothing is answered. A process whose thread does long work is
 * not idle, however little it does itself.
 *
 * What was given back costs time to get again: space for young objects, and compiled code that nothing refers to between
 * two requests. One that has a request now and then, or is busy every few seconds, would spend up to two fifths more, for
 * nothing once the memory has been given back. So the mode ends after half a minute at the latest, and begins again only
 * when the process has worked for ten seconds since.
 */
export function saveMemoryWhenIdle(
  setMode: (mode: MemoryMode) => void,
  { utilization, collections, collect, isLongWorkUnderWay, onLongWork }: Looks = OF_PROCESS,
): { stop(): void } {
  let mode: MemoryMode = 'speed';
  let quiet = 0;
  let lively = 0;
  /** How long the mode that saves memory has lasted, in looks. */
  let saved = 0;
  let collectionsBefore = 0;
  let quickTimer: NodeJS.Timeout | undefined;
  /** How long the process has worked since memory was given back, in looks. */
  let worked = WORK_LOOKS;
  const share = shareSince(utilization);

  const beginSaving = (): void => {
    saved = 0;
    collectionsBefore = collections();
    setMode((mode = 'saving'));
    lookSoon(shareSince(utilization), 0);
  };
  const lookSoon = (shareOfLook: () => number, busyBefore: number): void => {
    quickTimer = setTimeout(() => {
      const busy = shareOfLook() >= BUSY ? busyBefore + 1 : 0;
      if (busy >= QUICK_LOOKS) endSaving();
      else lookSoon(shareOfLook, busy);
    }, QUICK_MS).unref();
  };
  const endSaving = (): void => {
    clearTimeout(quickTimer);
    if (saved >= SAVING_LOOKS || collections() > collectionsBefore) worked = 0;
    setMode((mode = 'speed'));
  };

  const timer = setInterval(() => {
    const work = Math.max(share(), isLongWorkUnderWay() ? 1 : 0);
    quiet = work < QUIET ? quiet + 1 : 0;
    lively = work >= LIVELY ? lively + 1 : 0;
    if (mode === 'speed') {
      worked += work;
      if (worked >= WORK_LOOKS && quiet >= QUIET_LOOKS) beginSaving();
      return;
    }
    saved++;
    if (saved >= SAVING_LOOKS || work >= BUSY || lively >= LIVELY_LOOKS) endSaving();
    else if (saved >= COLLECT_LOOKS && work < QUIET && collections() === collectionsBefore) collect();
  }, EVERY_MS).unref();
  const stopListening = onLongWork(() => {
    if (mode === 'saving') endSaving();
  });
  return {
    stop: () => {
      clearInterval(timer);
      stopListening();
      if (mode === 'saving') endSaving();
    },
  };
}

/** Counts the collections of all memory, from its first call on. */
function collectionsFromNowOn(): () => number {
  let count = 0;
  let observer: PerformanceObserver | undefined;
  return () => {
    if (!observer) {
      observer = new PerformanceObserver((entries) => {
        for (const entry of entries.getEntries())
          if ('detail' in entry && isOfAllMemory(entry.detail as NodeGCPerformanceDetail)) count++;
      });
      observer.observe({ entryTypes: ['gc'] });
    }
    return count;
  };
}

const isOfAllMemory = ({ kind }: NodeGCPerformanceDetail): boolean => kind === constants.NODE_PERFORMANCE_GC_MAJOR;

/** Returns a function that returns the share of the time that the loop worked since its last call. */
function shareSince(utilization: () => LoopTimes): () => number {
  let last = utilization();
  return () => {
    const now = utilization();
    const share = shareBetween(last, now);
    last = now;
    return share;
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
