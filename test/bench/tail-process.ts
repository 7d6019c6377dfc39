import type { Request } from 'autocannon';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { performance, PerformanceObserver } from 'node:perf_hooks';
import { fileURLToPath } from 'node:url';
import { underLoad, WrongAnswer, type Load } from './load.js';

/** A load in a process of its own. Its requests must be plain values. */
export interface TailAsked {
  readonly origin: string;
  readonly token: string;
  readonly requests: readonly Request[];
  readonly seconds: number;
}

export interface Tail extends Load {
  /** The share of the time in which the process that asked collected its own garbage and noticed no answer. */
  readonly collecting: number;
}

/** V8 compiles what asks, and the server what answers. */
const WARM_UP_SECONDS = 3;
/**
 * A process that asks collects garbage for 2 to 3 % of the time, or, in about every third process, for 15 %: then a
 * request that was answered meanwhile seems to have taken up to 15 ms longer, and the slowest hundredth is that of the
 * client. Another process is asked instead.
 */
const MOST_COLLECTING = 0.05;
const MOST_PROCESSES = 6;

/** The load as measured by a process that hardly paused itself; of the last one if all did. */
export async function tailOf(asked: TailAsked): Promise<Tail> {
  for (let left = MOST_PROCESSES; ; left--) {
    const child = fork(new URL('./tail-process.ts', import.meta.url), { execArgv: ['--import=tsx'] });
    const ended = once(child, 'exit').then(() => {
      throw new WrongAnswer('the process that asks ended without an answer; what it has written says why');
    });
    child.send(asked);
    const [tail] = (await Promise.race([once(child, 'message'), ended])) as [Tail]; // the only message
    if (tail.collecting <= MOST_COLLECTING || left === 1) return tail;
    console.error(`asked again: the client collected garbage for ${Math.round(100 * tail.collecting)} % of the time`);
  }
}

async function measured({ origin, token, requests, seconds }: TailAsked): Promise<Tail> {
  await underLoad(origin, [...requests], { token, seconds: WARM_UP_SECONDS });
  let collectedMs = 0;
  const add = (collections: readonly { readonly duration: number }[]): void => {
    for (const { duration } of collections) collectedMs += duration;
  };
  const observer = new PerformanceObserver((list) => add(list.getEntries()));
  observer.observe({ entryTypes: ['gc'] });
  const began = performance.now();
  const load = await underLoad(origin, [...requests], { token, seconds });
  add(observer.takeRecords());
  observer.disconnect();
  const collecting = collectedMs / (performance.now() - began);
  return { ...load, collecting };
}

if (process.argv[1] === fileURLToPath(import.meta.url))
  process.once('message', (message) => {
    void measured(message as TailAsked) // from the parent alone
      .then((tail) => process.send?.(tail, () => process.disconnect()));
  });
