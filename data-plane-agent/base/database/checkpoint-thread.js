// @ts-check
import { workerData } from 'node:worker_threads';
import Database from 'better-sqlite3';

/*
 * The thread in which `sqlite.ts` has a long write-ahead log copied into the database. JavaScript, because a thread begins with a file as it
 * lies on the disk, and the tests run from source.
 */

const connection = new Database(/** @type {string} */ (workerData), { fileMustExist: true });
connection.pragma('synchronous = FULL');
// Passive: what cannot be had at once is left to the next one.
connection.pragma('wal_checkpoint(PASSIVE)');
connection.close();
