import { readFileSync } from 'node:fs';

/** Processor time of the current thread, in milliseconds. */
export interface ProcessorTime {
  readonly user: number;
  /** With the time that the kernel worked for the thread. */
  readonly all: number;
}

export const processorTime: () => ProcessorTime =
  'threadCpuUsage' in process
    ? () => {
        const { user, system } = process.threadCpuUsage();
        return { user: user / 1_000, all: (user + system) / 1_000 };
      }
    : ofOlderNode;

/**
 * Node.js 22 reports user time only for all threads together. That may be too much, never too little; the time of the
 * thread itself, from Linux, includes the kernel's.
 */
function ofOlderNode(): ProcessorTime {
  const user = process.cpuUsage().user / 1_000;
  return { user, all: ofThread() ?? user };
}

function ofThread(): number | undefined {
  if (process.platform !== 'linux') return undefined;
  return Number(readFileSync('/proc/thread-self/schedstat', 'utf8').split(' ', 1)[0]) / 1_000_000;
}
