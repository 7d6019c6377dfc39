// @ts-check
import { once } from 'node:events';
import { parentPort } from 'node:worker_threads';

/** Rows per message: the receiver makes the values of each message at once. */
const BATCH = 200;

/**
 * Sends rows from a thread to `rowsInThread`, piece by piece. It is JavaScript because a thread that runs from source
 * may have no TypeScript loader.
 * @param {readonly unknown[]} rows
 */
export async function postRows(rows) {
  for (let at = 0; at < rows.length; at += BATCH) {
    parentPort?.postMessage({ rows: rows.slice(at, at + BATCH) });
    if (parentPort) await once(parentPort, 'message');
  }
}
