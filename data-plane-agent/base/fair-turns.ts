/** Lets one piece of work run after the other. Of those who wait each has a turn in his turn, however much one of them asks for. */
export function createFairTurns(): <T>(who: string, work: () => Promise<T>) => Promise<T> {
  /** Who has waited longest since his last turn is first. */
  const waiting = new Map<string, (() => void)[]>();
  let isBusy = false;

  const queue = (who: string): Promise<void> =>
    new Promise((resolve) => {
      const own = waiting.get(who);
      if (own) own.push(resolve);
      else waiting.set(who, [resolve]);
    });
  const handOn = (): void => {
    const [first] = waiting;
    if (!first) {
      isBusy = false;
      return;
    }
    const [who, [begin, ...later]] = first;
    waiting.delete(who);
    if (later.length > 0) waiting.set(who, later);
    begin?.();
  };

  return async (who, work) => {
    if (isBusy) await queue(who);
    isBusy = true;
    try {
      return await work();
    } finally {
      handOn();
    }
  };
}
