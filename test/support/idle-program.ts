import { memoryModeOf, saveMemoryWhenIdle } from '../../data-plane-agent/base/idle-memory.js';

/** The argument of `idle-program.js`, as JSON. */
export interface IdleLimit {
  readonly withinMs: number;
}

/** Makes garbage and then does nothing: exits with 0 as soon as most of its heap went back to the system, or with 1. */
const { withinMs } = JSON.parse(process.argv[2] ?? '') as IdleLimit;

saveMemoryWhenIdle(memoryModeOf(process.versions.node));
const made: string[][] = [];
for (let i = 0; i < 500_000; i++) made.push([`value ${i}`]);
const most = process.memoryUsage().heapTotal;
made.length = 0;
setInterval(() => {
  if (process.memoryUsage().heapTotal < most / 2) process.exit(0);
}, 500);
setTimeout(() => process.exit(1), withinMs);
