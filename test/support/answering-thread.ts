import { setTimeout as sleep } from 'node:timers/promises';
import { getHeapSpaceStatistics } from 'node:v8';
import { parentPort } from 'node:worker_threads';
import { systemClock } from '../../data-plane-agent/base/clock.js';
import { createHttpApp } from '../../data-plane-agent/base/http/app.js';
import { listen } from '../../data-plane-agent/base/http/listen.js';
import { createLog } from '../../data-plane-agent/base/log.js';

/**
 * Answers requests in a thread, and so in a heap, of its own. Posts its port, and for each message how many bytes have
 * come into the old generation so far, also if they have left it again.
 */
export interface Answering {
  readonly port: number;
}
export interface Counted {
  readonly oldBytes: number;
}

const app = createHttpApp({
  clock: systemClock,
  log: createLog({ level: 'silent', name: 'test' }),
  trustProxy: 0,
  corsOrigins: [],
  observers: [],
  isTransient: () => false,
  pages: [],
  routes: [
    async (ctx) => {
      await sleep(20);
      ctx.body = 'done';
    },
  ],
});
const handle = app.callback();
const { port } = await listen((request, answer) => void handle(request, answer), { host: '127.0.0.1', port: 0 });

function present(): number {
  const old = getHeapSpaceStatistics().find(({ space_name: name }) => name === 'old_space');
  if (!old) throw new Error('V8 names no space `old_space`');
  return old.space_used_size;
}
let [come, last] = [0, present()];
const look = (): void => {
  const now = present();
  come += Math.max(0, now - last);
  last = now;
};
setInterval(look, 5);

parentPort?.postMessage({ port } satisfies Answering);
parentPort?.on('message', () => {
  look();
  parentPort?.postMessage({ oldBytes: come } satisfies Counted);
});
