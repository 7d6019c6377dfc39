import { setImmediate as nextTurn } from 'node:timers/promises';
import type { ContractRow } from '../../tables/contracts.js';
import type { OperationContext } from '../operation-context.js';

/**
 * So many contracts are read and written together; then others get their turn: on SQLite nothing in here waits by
 * itself.
 */
const CHUNK = 25;

/**
 * Holds many contracts and works them off in chunks, in the order of their ids. Answers the ids of those that are not
 * there, within the caller's scope, in the order in which they were sent, each once.
 */
export async function inChunks(
  { store }: OperationContext,
  ids: readonly string[],
  work: (rows: readonly ContractRow[]) => Promise<void>,
): Promise<string[]> {
  const asked = [...new Set(ids)];
  const missing = new Set(asked);
  const sorted = asked.toSorted();
  for (let at = 0; at < sorted.length; at += CHUNK) {
    if (at > 0) await nextTurn();
    const rows = await store.contracts.hold(sorted.slice(at, at + CHUNK));
    for (const { id } of rows) missing.delete(id);
    if (rows.length > 0) await work(rows);
  }
  return [...missing];
}
