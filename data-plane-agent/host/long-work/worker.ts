import { parentPort, workerData } from 'node:worker_threads';
import { systemClock, type Clock } from '../../base/clock.js';
import { openDatabase } from '../../base/database/open.js';
import { parseKeyRing } from '../../base/secrets.js';
import { transferable } from '../../base/transferable.js';
import type { WireRequest } from '../../plane/contract/wire.js';
import { createLocalDataPlane } from '../../plane/local/index.js';
import { OPERATION_NAMES, OPERATIONS } from '../../plane/operations/index.js';
import { serve } from '../../plane/serve.js';

/*
 * The thread that `LongWork` starts: a second data plane on the database of the process. Its synchronous work, such as
 * the commit of an import on SQLite, delays nothing but itself.
 */

/** What the thread is started with. It opens the database itself: connections cannot be passed to a thread. */
export interface ThreadSettings {
  readonly databaseUrl: string;
  readonly poolMax: number;
  /** In the format of `parseKeyRing`. */
  readonly secretKeys: string;
}

export type ToThread =
  /** A `WireRequest` in JSON, and the time of the clock of the process, in milliseconds. */
  | { readonly request: number; readonly body: Uint8Array; readonly now: number }
  /** Nobody waits for this request any more. */
  | { readonly aborted: number }
  /** The process has paused its writes. */
  | { readonly turn: true }
  | { readonly end: true };

export type FromThread =
  /** The database is open. */
  | { readonly ready: true }
  /** A `WireReply` in JSON. */
  | { readonly reply: number; readonly body: Uint8Array }
  /** The thread waits for its turn to write, or has written. */
  | { readonly turn: 'wanted' | 'over' }
  /** An error that the caller is not told about, for the log. */
  | { readonly fault: { readonly message: string; readonly stack: string | undefined } };

const port = parentPort;
if (!port) throw new Error('this module runs in a worker thread only');
const { databaseUrl, poolMax, secretKeys } = workerData as ThreadSettings; // of `LongWork`

/** The clock of the process, which tests move. */
let aheadMs = 0;
const clock: Clock = { now: () => systemClock.now() + aheadMs };
const running = new Map<number, AbortController>();
let turn: (() => void) | undefined;

const database = await openDatabase(databaseUrl, {
  poolMax,
  writersTurn: async () => {
    await new Promise<void>((begin) => {
      turn = begin;
      post({ turn: 'wanted' });
    });
    return () => post({ turn: 'over' });
  },
});
const plane = createLocalDataPlane({ operations: OPERATIONS, database, clock, keyRing: parseKeyRing(secretKeys) });
const answer = serve(plane, OPERATION_NAMES, (error) => {
  const { message, stack } = error instanceof Error ? error : new Error(String(error));
  post({ fault: { message, stack } });
});
port.on('message', (message: ToThread) => void received(message));
post({ ready: true });

async function received(message: ToThread): Promise<void> {
  if ('request' in message) await handle(message);
  else if ('aborted' in message) running.get(message.aborted)?.abort();
  else if ('turn' in message) turn?.();
  else {
    await database.close();
    port?.close();
  }
}

async function handle({ request: id, body, now }: Extract<ToThread, { readonly request: number }>): Promise<void> {
  aheadMs = now - systemClock.now();
  const ends = new AbortController();
  running.set(id, ends);
  try {
    const request = JSON.parse(new TextDecoder().decode(body)) as WireRequest; // written by `LongWork`
    const reply = await answer(request, { signal: ends.signal });
    post({ reply: id, body: transferable(new TextEncoder().encode(JSON.stringify(reply))) });
  } finally {
    running.delete(id);
  }
}

function post(message: FromThread): void {
  port?.postMessage(message, 'body' in message ? [message.body.buffer as ArrayBuffer] : []); // `transferable` made it
}
