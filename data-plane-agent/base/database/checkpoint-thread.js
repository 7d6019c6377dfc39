// @ts-check
import { workerData } from 'node:worker_threads';
import Database from 'better-sqlite3';

/*
 * The worker in which `sqlite.ts` checkpoints a long write-ahead log. It is JavaScript because a worker loads its file
 * from disk as it is, and the tests run from source.
 */

const connection = new Database(/** @type {string} */ (workerData), { fileMustExist: true });
connection.pragma('synchronous = FULL');
// PASSIVE skips what is locked; the next checkpoint copies it.
connection.pragma('wal_checkpoint(PASSIVE)');
connection.close();
