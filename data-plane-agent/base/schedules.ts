import schedule from 'node-schedule';
import type { Leases } from './database/leases.js';
import type { Log } from './log.js';
import { inFirstSpan, type Tracer } from './tracing/spans.js';

/**
 * Periodic work that runs in one process at a time. It must be safe to run twice: a lease may change hands during a
 * run.
 */
export interface Job {
  readonly name: string;
  /** A cron expression with seconds: when to check for work. */
  readonly rule: string;
  /** For work on the process's own state: runs in every process, without a lease. */
  readonly everywhere?: true;
  /** Checked before taking the lease, which is a write; without it the job always runs. */
  isDue?(): Promise<boolean>;
  /** The signal fires when the process is about to end: finish started work and start no more. */
  run(signal: AbortSignal): Promise<unknown>;
}

export interface Schedules {
  /** `everywhere` starts only the jobs that run in every process; a later `start()` starts the others as well. */
  start(which?: 'all' | 'everywhere'): void;
  /** Starts no more jobs and waits for the running ones. */
  stop(): Promise<void>;
  /** Runs a job now, unless it is already running here or in another process. Failures are logged. */
  run(name: string): Promise<void>;
}

/** The lease of a process that died expires after this time; a running one renews it. */
const LEASE_MS = 60_000;

export function createSchedules({
  jobs,
  leases,
  log,
  tracer,
}: {
  jobs: readonly Job[];
  leases: Pick<Leases, 'during'>;
  log: Log;
  /** Each run is a trace of its own. */
  tracer?: Tracer | undefined;
}): Schedules {
  const stopping = new AbortController();
  const running = new Map<string, Promise<void>>();
  const timers = new Map<string, schedule.Job>();

  const work = async ({ name, everywhere, isDue, run }: Job): Promise<void> => {
    const start = { name: `job ${name}`, kind: 'internal', facts: { 'duebook.job': name } } as const;
    const perform = (): Promise<unknown> => inFirstSpan(tracer, start, () => run(stopping.signal));
    try {
      if (isDue && !(await isDue())) return;
      await (everywhere ? perform() : leases.during(name, LEASE_MS, perform));
    } catch (error) {
      // Retried at the next scheduled time.
      log.error({ err: error, job: name }, 'scheduled work failed');
    }
  };

  const begin = (job: Job): Promise<void> => {
    const before = running.get(job.name);
    if (before || stopping.signal.aborted) return before ?? Promise.resolve();
    const current = work(job).finally(() => running.delete(job.name));
    running.set(job.name, current);
    return current;
  };

  return {
    start: (which = 'all') => {
      if (stopping.signal.aborted) return;
      for (const job of jobs)
        if (!timers.has(job.name) && (which === 'all' || job.everywhere))
          timers.set(
            job.name,
            schedule.scheduleJob(job.rule, () => void begin(job)),
          );
    },
    stop: async () => {
      stopping.abort();
      for (const timer of timers.values()) timer.cancel();
      await Promise.all(running.values());
    },
    run: async (name) => {
      const job = jobs.find((candidate) => candidate.name === name);
      if (!job) throw new Error(`there is no job ${name}`);
      await begin(job);
    },
  };
}
