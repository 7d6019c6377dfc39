// @ts-check
import { parentPort, workerData } from 'node:worker_threads';
import Database from 'better-sqlite3';

/*
 * The worker in which `sqlite-checkpoints.ts` copies a write-ahead log, for each message that it gets, until it is ended.
 * It is JavaScript because a worker loads its file from disk as it is, and the tests run from source.
 */

/** What is written meanwhile is copied as well, and what is written while that is copied. */
const MOST_PASSES = 4;
/** Milliseconds. Another process, or a thread that writes beside the usual writer, may be copying the log. */
const ASK_AGAIN_MS = 5;
const GIVE_UP_MS = 1_000;

const connection = new Database(/** @type {string} */ (workerData), { fileMustExist: true });
connection.pragma('synchronous = FULL');

parentPort?.on('message', (/** @type {'copy' | 'end'} */ asked) => {
  if (asked === 'end') {
    connection.close();
    parentPort?.close();
    return;
  }
  parentPort?.postMessage({ pages: copied() });
});

/** Copies the log. Returns how many pages it has. */
function copied() {
  let before = 0;
  for (let pass = 0; pass < MOST_PASSES; pass++) {
    const pages = copiedOnce();
    if (pages === before) break;
    before = pages;
  }
  return before;
}

/** PASSIVE skips what is locked; the next checkpoint copies it. */
function copiedOnce() {
  const giveUpAt = performance.now() + GIVE_UP_MS;
  for (;;) {
    const [found] = /** @type {{ busy: number, log: number }[]} */ (connection.pragma('wal_checkpoint(PASSIVE)'));
    if (!found?.busy || performance.now() > giveUpAt) return Math.max(0, found?.log ?? 0);
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ASK_AGAIN_MS);
  }
}
