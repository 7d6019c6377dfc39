/** Work that is repeated while the process runs, one run at a time. */
export interface Repeated {
  every(ms: number, what: string, work: () => Promise<void>): void;
  stop(): void;
}

/** `onFailed` is called for the first of several failures in a row, such as while a database is away. */
export function createRepeated(onFailed: (error: unknown, what: string) => void): Repeated {
  const timers: NodeJS.Timeout[] = [];
  return {
    every: (ms, what, work) => {
      let isRunning = false;
      let hasFailed = false;
      const run = async (): Promise<void> => {
        try {
          await work();
          hasFailed = false;
        } catch (error) {
          if (!hasFailed) onFailed(error, what);
          hasFailed = true;
        }
      };
      const timer = setInterval(() => {
        if (isRunning) return;
        isRunning = true;
        void run().finally(() => (isRunning = false));
      }, ms);
      timers.push(timer.unref());
    },
    stop: () => {
      for (const timer of timers) clearInterval(timer);
    },
  };
}
