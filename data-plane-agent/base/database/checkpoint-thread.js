// @ts-check
import { parentPort, workerData } from 'node:worker_threads';
import Database from 'better-sqlite3';

/*
 * The worker in which `sqlite-checkpoints.ts` copies a write-ahead log, for each message that it gets, until it is ended.
 * It is JavaScript because a worker loads its file from disk as it is, and the tests run from source.
 */

/** What is written meanwhile is copied as well, and what is written while that is copied. */
const MOST_PASSES = 4;

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
  let before = -1;
  for (let pass = 0; pass < MOST_PASSES; pass++) {
    // PASSIVE skips what is locked; the next checkpoint copies it.
    const [found] = /** @type {{ log: number }[]} */ (connection.pragma('wal_checkpoint(PASSIVE)'));
    const pages = found?.log ?? 0;
    if (pages === before) break;
    before = pages;
  }
  return before;
}
