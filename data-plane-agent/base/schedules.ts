import schedule from 'node-schedule';
import type { Leases } from './database/leases.js';
import type { Log } from './log.js';

/**
 * Work that comes round by itself, in one process at a time. It must be safe to run twice: a lease may change hands in
 * the middle.
 */
export interface Job {
  readonly name: string;
  /** Cron, with seconds: when to look whether there is anything to do. */
  readonly rule: string;
  /** Of what every process has for itself: it runs in each, and takes no lease. */
  readonly everywhere?: true;
  /** Asked before the lease is taken, which writes; without it there always is something. */
  isDue?(): Promise<boolean>;
  /** The signal says that the process is about to end: what has begun is finished, and nothing else begun. */
  run(signal: AbortSignal): Promise<unknown>;
}

export interface Schedules {
  start(): void;
  /** Begins nothing any more, and waits for what is running. */
  stop(): Promise<void>;
  /** Runs a job now, as its rule would: not while it runs here or elsewhere. Failures are logged. */
  run(name: string): Promise<void>;
}

/** A process that died with a lease is replaced after this time; a living one prolongs it. */
const LEASE_MS = 60_000;

export function createSchedules({ jobs, leases, log }: { jobs: readonly Job[]; leases: Leases; log: Log }): Schedules {
  const stopping = new AbortController();
  const running = new Map<string, Promise<void>>();
  let timers: schedule.Job[] = [];

  const work = async ({ name, everywhere, isDue, run }: Job): Promise<void> => {
    try {
      if (isDue && !(await isDue())) return;
      await (everywhere ? run(stopping.signal) : leases.during(name, LEASE_MS, () => run(stopping.signal)));
    } catch (error) {
      // The next round tries again.
      log.error({ err: error, job: name }, 'scheduled work failed');
    }
  };

  const begin = (job: Job): Promise<void> => {
    const before = running.get(job.name);
    if (before || stopping.signal.aborted) return before ?? Promise.resolve();
    const mine = work(job).finally(() => running.delete(job.name));
    running.set(job.name, mine);
    return mine;
  };

  return {
    start: () => {
      timers = jobs.map((job) => schedule.scheduleJob(job.rule, () => void begin(job)));
    },
    stop: async () => {
      stopping.abort();
      for (const timer of timers) timer.cancel();
      await Promise.all(running.values());
    },
    run: async (name) => {
      const job = jobs.find((candidate) => candidate.name === name);
      if (!job) throw new Error(`there is no job ${name}`);
      await begin(job);
    },
  };
}
