import type { MeasuredMetrics } from '../data-plane-agent/base/http/metrics.js';

/** The argument of the program with which the supervisor starts its workers. */
export const WORKER_ARGUMENT = 'worker';

/** What a process of the service does besides answering requests. */
export interface WorkerRole {
  /** `at once`: probes are answered while databases migrate. `when ready`: others answer meanwhile. */
  readonly listens: 'at once' | 'when ready';
  /** Whether it runs the scheduled jobs of the service; one process does. */
  readonly runsJobs: boolean;
}

/** What a worker needs to start: the settings as the supervisor has read and checked them. */
export interface WorkerStart extends WorkerRole {
  /** The texts of settings that are not defaults, by variable name. */
  readonly settings: Readonly<Record<string, string>>;
  readonly production: boolean;
  /** How many processes serve. */
  readonly workers: number;
}

export type FromWorker =
  | { readonly kind: 'hello' }
  | { readonly kind: 'ready'; readonly port: number; readonly isEmpty: boolean }
  /** Asks for the metrics of the other workers, and gives its own. */
  | { readonly kind: 'gather'; readonly id: number; readonly own: MeasuredMetrics }
  | { readonly kind: 'metrics'; readonly id: number; readonly metrics: MeasuredMetrics };

export type ToWorker =
  | { readonly kind: 'start'; readonly start: WorkerStart }
  /** It runs the scheduled jobs from now on: the worker that did so has ended. */
  | { readonly kind: 'run jobs' }
  | { readonly kind: 'measure'; readonly id: number }
  /** Without metrics: not every worker has answered in time. */
  | { readonly kind: 'gathered'; readonly id: number; readonly metrics: readonly MeasuredMetrics[] | null };

/** Other libraries send messages over the same channel. */
const isOurs = (message: unknown): message is { readonly kind: string } =>
  typeof message === 'object' && message !== null && 'kind' in message && typeof message.kind === 'string';

/** Both ends are processes of one program. */
export const fromWorker = (message: unknown): FromWorker | undefined =>
  isOurs(message) ? (message as FromWorker) : undefined;
export const toWorker = (message: unknown): ToWorker | undefined =>
  isOurs(message) ? (message as ToWorker) : undefined;
