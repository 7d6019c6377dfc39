/** Runs a limited number of tasks at once and queues a limited number; others are refused. */
export interface Semaphore {
  run<T>(work: () => Promise<T>): Promise<T>;
}

export function createSemaphore({
  atOnce,
  waiting,
  refuse,
}: {
  atOnce: number;
  waiting: number;
  refuse: () => Error;
}): Semaphore {
  const queue: (() => void)[] = [];
  let running = 0;
  return {
    run: async (work) => {
      if (running >= atOnce) {
        if (queue.length >= waiting) throw refuse();
        // A finished task passes its slot to the next one, so that a new task cannot get ahead of the queue.
        await new Promise<void>((resolve) => queue.push(resolve));
      } else {
        running += 1;
      }
      try {
        return await work();
      } finally {
        const next = queue.shift();
        if (next) next();
        else running -= 1;
      }
    },
  };
}
