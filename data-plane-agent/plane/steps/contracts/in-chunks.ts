import { setImmediate as nextTurn } from 'node:timers/promises';
import type { ContractRow } from '../../tables/contracts.js';
import type { OperationContext } from '../operation-context.js';

/** Contracts read and written together. Between chunks it yields to the event loop: SQLite calls are synchronous. */
const CHUNK = 25;

/**
 * Locks contracts and processes them in chunks, in the order of their ids. Returns the ids that were not found in the
 * caller's scope, without duplicates and in the order of `ids`.
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
