import { AggregatorRegistry } from 'prom-client';
import type { MeasuredMetrics } from '../data-plane-agent/base/http/metrics.js';

/** How long the workers have to say what they have measured. */
const ANSWER_MS = 3_000;

/** A worker that can be asked. */
export interface Measuring {
  readonly id: number;
  ask(requestId: number): void;
}

/**
 * Collects what the workers have measured. What a worker had counted that has ended since is kept, as far as it was
 * asked for, so that the sums do not fall.
 */
export class GatheredMetrics {
  private readonly waiting = new Map<number, { readonly from: number; answered(metrics: MeasuredMetrics): void }>();
  private readonly last = new Map<number, MeasuredMetrics>();
  private ended: MeasuredMetrics = [];
  private requests = 0;

  constructor(private readonly answerMs = ANSWER_MS) {}

  /** Null if one of the workers does not answer in time, or ends. */
  async of(workers: readonly Measuring[]): Promise<readonly MeasuredMetrics[] | null> {
    const ids: number[] = [];
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<null>((resolve) => {
      timer = setTimeout(() => resolve(null), this.answerMs);
    });
    const answers = workers.map(
      (worker) =>
        new Promise<MeasuredMetrics>((resolve) => {
          const requestId = ++this.requests;
          ids.push(requestId);
          this.waiting.set(requestId, { from: worker.id, answered: resolve });
          worker.ask(requestId);
        }),
    );
    try {
      const all = await Promise.race([Promise.all(answers), late]);
      return all && [...all, this.ended];
    } finally {
      clearTimeout(timer);
      for (const id of ids) this.waiting.delete(id);
    }
  }

  answered(requestId: number, metrics: MeasuredMetrics): void {
    const request = this.waiting.get(requestId);
    if (!request) return; // too late
    this.note(request.from, metrics);
    request.answered(metrics);
  }

  note(id: number, metrics: MeasuredMetrics): void {
    this.last.set(id, metrics);
  }

  /** Keeps the counts of a worker that has ended. */
  async workerEnded(id: number): Promise<void> {
    const counts = this.last.get(id)?.filter(isCount);
    this.last.delete(id);
    if (counts) this.ended = await AggregatorRegistry.aggregate([this.ended, counts]).getMetricsAsJSON();
  }
}

/** The library's types number the kinds of metrics; it names them. */
const isCount = ({ type }: { readonly type: unknown }): boolean => type === 'counter' || type === 'histogram';
