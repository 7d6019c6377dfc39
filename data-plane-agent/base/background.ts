/** Work that goes on after its answer. Whoever ends the process waits for it. */
export interface Background {
  /** It must not reject. */
  add(work: Promise<void>): void;
  /** Resolves when nothing goes on any more. */
  settled(): Promise<void>;
}

export function createBackground(): Background {
  const going = new Set<Promise<void>>();
  return {
    add(work) {
      const mine = work.finally(() => going.delete(mine));
      going.add(mine);
    },
    async settled() {
      while (going.size > 0) await Promise.all(going);
    },
  };
}
