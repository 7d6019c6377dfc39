import { setTimeout as sleep } from 'node:timers/promises';

/** The longest stretch in which the thread did nothing but one piece of work, in milliseconds of its processor: what it waited for a processor is not counted. */
export async function longestWork(work: () => Promise<void>): Promise<number> {
  let longest = 0;
  let last = { at: performance.now(), cpu: processorMs() };
  const look = (): void => {
    const now = { at: performance.now(), cpu: processorMs() };
    longest = Math.max(longest, Math.min(now.at - last.at, now.cpu - last.cpu));
    last = now;
  };
  const timer = setInterval(look, 1);
  try {
    await work();
    await sleep(2); // what began with the answer ends first
    look();
    return longest;
  } finally {
    clearInterval(timer);
  }
}

function processorMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
}
