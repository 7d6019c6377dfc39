import cluster, { type Worker } from 'node:cluster';
import { RateLimiterClusterMaster } from 'rate-limiter-flexible';
import { createLifecycle } from '../data-plane-agent/base/lifecycle.js';
import type { Log } from '../data-plane-agent/base/log.js';
import { GatheredMetrics } from './gathered-metrics.js';
import { closeUntaken } from './handed-connections.js';
import type { Started } from './start.js';
import { fromWorker, WORKER_ARGUMENT, type FromWorker, type ToWorker, type WorkerStart } from './worker-messages.js';

/** The workers have 25 seconds to end; those that are left are then killed. */
const STOP_MS = 27_000;
const KILL_AFTER_MS = 26_000;
/** The pause before a worker is started in place of one that ended; it doubles while they end early. */
const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 30_000;
/** A worker that ended within this time ended early. */
const EARLY_MS = 60_000;
/** When no worker is left, and so many in a row could not start, the service ends. */
const MOST_FAILED_STARTS = 5;

export interface Supervised {
  readonly process: NodeJS.Process;
  readonly log: Log;
  /** How many workers run. */
  readonly count: number;
  readonly settings: Pick<WorkerStart, 'settings' | 'production'>;
  /** Called once, when the first worker is ready. */
  readonly onReady: (started: Started) => void;
}

/**
 * Runs the service in several processes that share its port. The first one migrates the databases, the others follow; a
 * worker that ends is replaced. SIGTERM and SIGINT end them all, and this process exits with 0 when each has completed
 * its requests. If this process dies, the channel to it ends, and with it each worker.
 */
export function supervise(parts: Supervised): void {
  // Connections are accepted here and handed out in turn: evenly, and none is lost with a worker that has just ended.
  cluster.schedulingPolicy = cluster.SCHED_RR;
  // JSON has no NaN, which some metrics are.
  cluster.setupPrimary({ args: [WORKER_ARGUMENT], serialization: 'advanced' });
  // Counts requests for the limit of requests, when the workers ask for it.
  new RateLimiterClusterMaster();
  new Supervisor(parts).begin();
}

interface Member {
  readonly worker: Worker;
  readonly startedAt: number;
  isReady: boolean;
  runsJobs: boolean;
}

class Supervisor {
  private readonly members = new Set<Member>();
  private readonly pauses = new Set<NodeJS.Timeout>();
  private readonly metrics = new GatheredMetrics();
  private readonly lifecycle;
  private hasBeenReady = false;
  private isStopping = false;
  private earlyEnds = 0;
  private failedStarts = 0;
  private allEnded: () => void = () => undefined;

  constructor(private readonly parts: Supervised) {
    this.lifecycle = createLifecycle({ log: parts.log, limitMs: STOP_MS });
  }

  begin(): void {
    this.lifecycle.onStop('workers', 'server', () => this.stop());
    this.lifecycle.listen(this.parts.process);
    this.fork();
  }

  private fork(): void {
    const worker = cluster.fork();
    closeUntaken(worker.process);
    const member: Member = { worker, startedAt: performance.now(), isReady: false, runsJobs: false };
    this.members.add(member);
    worker.on('message', (message: unknown) => {
      const known = fromWorker(message);
      if (known) this.received(member, known);
    });
    worker.on('exit', (code: number | null, signal: string | null) => this.ended(member, { code, signal }));
    // A message to a worker that has just ended. That it ended is reported by itself.
    worker.on('error', (error) =>
      this.parts.log.debug({ err: error, worker: worker.process.pid }, 'worker not reached'),
    );
  }

  private received(member: Member, message: FromWorker): void {
    switch (message.kind) {
      case 'hello':
        // While no worker listens, one that answers probes early is better than none.
        member.runsJobs = !this.some((other) => other.runsJobs);
        return send(member, {
          kind: 'start',
          start: {
            ...this.parts.settings,
            workers: this.parts.count,
            listens: this.some(({ isReady }) => isReady) ? 'when ready' : 'at once',
            runsJobs: member.runsJobs,
          },
        });
      case 'ready':
        return this.ready(member, message);
      case 'gather':
        return void this.gather(member, message);
      case 'metrics':
        return this.metrics.answered(message.id, message.metrics);
    }
  }

  private ready(member: Member, started: Started): void {
    member.isReady = true;
    this.failedStarts = 0;
    if (this.hasBeenReady || this.isStopping) return;
    this.hasBeenReady = true;
    this.lifecycle.ready();
    this.parts.onReady(started);
    for (let left = this.parts.count - 1; left > 0; left -= 1) this.fork();
  }

  private async gather(asking: Member, { id, own }: FromWorker & { kind: 'gather' }): Promise<void> {
    this.metrics.note(asking.worker.id, own);
    const others = [...this.members].filter((member) => member !== asking && member.isReady);
    const metrics = await this.metrics.of(
      others.map((member) => ({
        id: member.worker.id,
        ask: (requestId) => send(member, { kind: 'measure', id: requestId }),
      })),
    );
    send(asking, { kind: 'gathered', id, metrics });
  }

  private ended(member: Member, { code, signal }: { code: number | null; signal: string | null }): void {
    this.members.delete(member);
    void this.metrics.workerEnded(member.worker.id);
    if (this.isStopping) {
      if (this.members.size === 0) this.allEnded();
      return;
    }
    const { log } = this.parts;
    if (!this.hasBeenReady) return this.giveUp(code);
    log.error({ worker: member.worker.process.pid, exitCode: code, signal }, 'a worker has ended and is replaced');
    if (!member.isReady) this.failedStarts += 1;
    if (this.failedStarts >= MOST_FAILED_STARTS && !this.some(({ isReady }) => isReady)) {
      log.fatal({ failedStarts: this.failedStarts }, 'no worker can start');
      return this.giveUp(code);
    }
    if (member.runsJobs) this.handOverJobs();
    this.earlyEnds = performance.now() - member.startedAt < EARLY_MS ? this.earlyEnds + 1 : 0;
    const pause = setTimeout(
      () => {
        this.pauses.delete(pause);
        this.fork();
      },
      Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** this.earlyEnds),
    );
    this.pauses.add(pause);
  }

  private handOverJobs(): void {
    const next = [...this.members].find(({ isReady }) => isReady);
    if (!next) return; // the next one that starts runs them
    next.runsJobs = true;
    send(next, { kind: 'run jobs' });
  }

  /** A worker has said why it cannot start. */
  private giveUp(code: number | null): void {
    void this.lifecycle.stop('no worker can start').then(() => this.parts.process.exit(code ?? 1));
  }

  private async stop(): Promise<void> {
    this.isStopping = true;
    for (const pause of this.pauses) clearTimeout(pause);
    if (this.members.size === 0) return;
    const left = [...this.members];
    const codes = left.map(({ worker }) => new Promise<boolean>((resolve) => worker.on('exit', endedWell(resolve))));
    const over = new Promise<void>((resolve) => (this.allEnded = resolve));
    for (const { worker } of left) worker.process.kill('SIGTERM');
    const kill = setTimeout(() => {
      for (const { worker } of this.members) worker.process.kill('SIGKILL');
    }, KILL_AFTER_MS);
    await over;
    clearTimeout(kill);
    if (!(await Promise.all(codes)).every((isWell) => isWell)) throw new Error('a worker did not end as it should');
  }

  private some(is: (member: Member) => boolean): boolean {
    return [...this.members].some(is);
  }
}

/** One that had not begun to listen to signals is ended by it. */
const endedWell =
  (resolve: (isWell: boolean) => void) =>
  (code: number | null, signal: string | null): void =>
    resolve(code === 0 || signal === 'SIGTERM');

function send({ worker }: Member, message: ToWorker): void {
  if (worker.isConnected()) worker.send(message);
}
