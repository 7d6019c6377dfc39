/** Work that continues after the response was sent. Shutdown waits for it. */
export interface Background {
  /** `work` must not reject. */
  add(work: Promise<void>): void;
  /** Resolves when no work is left. */
  settled(): Promise<void>;
}

export function createBackground(): Background {
  const running = new Set<Promise<void>>();
  return {
    add(work) {
      const tracked = work.finally(() => running.delete(tracked));
      running.add(tracked);
    },
    async settled() {
      while (running.size > 0) await Promise.all(running);
    },
  };
}
