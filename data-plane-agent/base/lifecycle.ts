import type { Log } from './log.js';

/** The order of shutdown: refuse new work, finish requests, finish background work, close links, close databases. */
export type Phase = (typeof PHASES)[number];

export interface Lifecycle {
  readonly state: 'starting' | 'ready' | 'draining' | 'stopped';
  /** Marks startup as complete. Throws once a stop has begun. */
  ready(): void;
  /**
   * Registers a stop handler. Within a phase the one registered last runs first, since it may depend on earlier ones.
   */
  onStop(name: string, phase: Phase, stop: () => void | Promise<void>): void;
  /**
   * Stops everything, phase by phase, within the limit; further calls return the same promise. Resolves to the exit
   * code: 0, or 1 when a handler failed or the limit was reached.
   */
  stop(reason: string): Promise<0 | 1>;
  /** Stops and exits on SIGTERM and SIGINT (with the code of the stop) and on uncaught errors (with 1). */
  listen(process: ProcessLike): void;
}

/** The part of `process` that the lifecycle uses; only entry points pass the real one. */
export interface ProcessLike {
  on(event: string, listener: (cause: unknown) => void): unknown;
  exit(code: number): unknown;
}

/** `limitMs` limits the whole stop, 25 seconds by default. */
export function createLifecycle({ log, limitMs = 25_000 }: { log: Log; limitMs?: number }): Lifecycle {
  const handlers: Handler[] = [];
  let state: Lifecycle['state'] = 'starting';
  let stopping: Promise<0 | 1> | undefined;

  const stopAll = async (reason: string): Promise<0 | 1> => {
    log.info({ reason }, 'stopping');
    const failed = await runPhases(handlers, { log, limitMs });
    state = 'stopped';
    log.info({ failed }, 'stopped');
    log.flush();
    return failed.length === 0 ? 0 : 1;
  };
  const stop = (reason: string): Promise<0 | 1> => {
    if (stopping !== undefined) return stopping;
    state = 'draining';
    // Starts a tick later, so that a handler that calls `stop` itself gets this promise.
    stopping = Promise.resolve(reason).then(stopAll);
    return stopping;
  };

  return {
    get state() {
      return state;
    },
    ready: () => {
      if (state !== 'starting') throw new Error(`cannot become ready when ${state}`);
      state = 'ready';
    },
    onStop: (name, phase, handler) => {
      if (state === 'stopped') throw new Error(`${name} was started after the stop`);
      handlers.push({ name, phase, stop: handler });
    },
    stop,
    listen: (process) => listenTo(process, { log, stop }),
  };
}

const PHASES = ['drain', 'server', 'work', 'links', 'databases'] as const;

interface Handler {
  name: string;
  phase: Phase;
  stop: () => void | Promise<void>;
}

/** Runs the handlers one after the other. Returns the names of those that failed or did not finish in time. */
async function runPhases(handlers: Handler[], { log, limitMs }: { log: Log; limitMs: number }): Promise<string[]> {
  const failed: string[] = [];
  const limit = deadline(limitMs);
  for (const phase of PHASES) {
    // One at a time, so that handlers registered during the stop run as well.
    for (let next = takeLast(handlers, phase); next !== undefined; next = takeLast(handlers, phase)) {
      const { name } = next;
      const outcome = await Promise.race([settle(next), limit.reached]);
      if (outcome.ok) continue;
      failed.push(name);
      if ('error' in outcome) log.error({ err: outcome.error, phase, handler: name }, 'stop handler failed');
      else log.error({ phase, handler: name, limitMs }, 'stop handler did not end in time');
    }
  }
  limit.clear();
  return failed;
}

function takeLast(handlers: Handler[], phase: Phase): Handler | undefined {
  const index = handlers.findLastIndex((handler) => handler.phase === phase);
  return index < 0 ? undefined : handlers.splice(index, 1)[0];
}

type Outcome = { ok: true } | { ok: false; error: unknown } | { ok: false; late: true };

async function settle({ stop }: Handler): Promise<Outcome> {
  try {
    await stop();
    return { ok: true };
  } catch (error) {
    return { ok: false, error };
  }
}

/** One deadline for all handlers. After it the remaining ones are called but not awaited. */
function deadline(limitMs: number): { reached: Promise<Outcome>; clear(): void } {
  let timer: NodeJS.Timeout;
  const reached = new Promise<Outcome>((resolve) => {
    timer = setTimeout(() => resolve({ ok: false, late: true }), limitMs);
  });
  return { reached, clear: () => clearTimeout(timer) };
}

function listenTo(process: ProcessLike, { log, stop }: { log: Log; stop: (reason: string) => Promise<0 | 1> }): void {
  // An uncaught error during a regular stop must also set the exit code.
  let crashed = false;
  const stopAndExit = async (reason: string): Promise<void> => {
    const code = await stop(reason);
    process.exit(crashed ? 1 : code);
  };
  for (const signal of ['SIGTERM', 'SIGINT']) process.on(signal, () => void stopAndExit(signal));
  for (const event of ['uncaughtException', 'unhandledRejection']) {
    process.on(event, (cause) => {
      crashed = true;
      log.fatal({ err: cause, event }, 'uncaught error');
      void stopAndExit(event);
    });
  }
}
