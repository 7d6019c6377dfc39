// @ts-check
import { once } from 'node:events';
import { parentPort } from 'node:worker_threads';

/** Cells per message, and as many rows at most: the receiver makes all values of a message at once. */
const CELLS = 4_000;

/**
 * Sends rows from a thread that `createRowsReader` started, piece by piece. It is JavaScript because a thread that runs from source
 * may have no TypeScript loader.
 * @param {readonly (readonly unknown[])[]} rows
 */
export async function postRows(rows) {
  let from = 0;
  let cells = 0;
  for (const [at, row] of rows.entries()) {
    cells += 1 + row.length;
    if (cells < CELLS && at < rows.length - 1) continue;
    parentPort?.postMessage({ rows: rows.slice(from, at + 1) });
    if (parentPort) await once(parentPort, 'message');
    from = at + 1;
    cells = 0;
  }
}
