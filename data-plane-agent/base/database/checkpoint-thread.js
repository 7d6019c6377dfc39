// @ts-check
import { parentPort, workerData } from 'node:worker_threads';
import Database from 'better-sqlite3';

/*
 * The worker in which `sqlite-checkpoints.ts` copies a write-ahead log: once for each message that it gets, until it is
 * ended. It is JavaScript because a worker loads its file from disk as it is, and the tests run from source.
 */

const connection = new Database(/** @type {string} */ (workerData), { fileMustExist: true });
connection.pragma('synchronous = FULL');

parentPort?.on('message', (/** @type {'copy' | 'end'} */ asked) => {
  if (asked === 'end') {
    connection.close();
    parentPort?.close();
    return;
  }
  // PASSIVE skips what is locked; the next checkpoint copies it.
  connection.pragma('wal_checkpoint(PASSIVE)');
  parentPort?.postMessage('copied');
});
