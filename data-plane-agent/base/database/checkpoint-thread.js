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
  parentPort?.postMessage(copied() ?? 'nothing');
});

/** Copies the log. Returns how many pages it has, and how many of them are left, unless others copied all the time. */
function copied() {
  const giveUpAt = performance.now() + GIVE_UP_MS;
  let last;
  for (let pass = 0; pass < MOST_PASSES; pass++) {
    const found = copiedOnce(giveUpAt);
    if (!found) break;
    const isAll = found.log === last?.pages;
    last = { pages: found.log, left: found.log - found.checkpointed };
    if (isAll) break;
  }
  return last;
}

/**
 * PASSIVE skips what is locked; the next checkpoint copies it.
 *
 * @param {number} giveUpAt
 */
function copiedOnce(giveUpAt) {
  for (;;) {
    const [found] = /** @type {{ busy: number, log: number, checkpointed: number }[]} */ (
      connection.pragma('wal_checkpoint(PASSIVE)')
    );
    if (found?.busy === 0) return found;
    if (performance.now() > giveUpAt) return undefined;
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ASK_AGAIN_MS);
  }
}
