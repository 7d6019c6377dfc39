/** Delays, which tests advance by themselves. */
export interface Timers {
  /** Milliseconds since some instant; never set back, unlike a clock. */
  elapsed(): number;
  /** Calls `run` once after `ms` milliseconds. Returns what cancels it. A pending timer keeps no process alive. */
  after(ms: number, run: () => void): () => void;
}

export const systemTimers: Timers = {
  elapsed: () => performance.now(),
  after: (ms, run) => {
    const timer = setTimeout(run, ms).unref();
    return () => clearTimeout(timer);
  },
};
