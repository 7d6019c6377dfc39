import type pg from 'pg';
import { DatabaseError, isDatabaseError, translateError } from './errors.js';

/** Connections that were lost. */
const lost = new WeakSet<pg.Client>();

/** For a connection that was just made. */
export function noteLoss(client: pg.Client, done: (error: null, client: pg.Client) => void): void {
  client.once('error', () => lost.add(client));
  done(null, client);
}

/**
 * On a connection that is lost, the driver has errors without a code: the one by which it was lost where the server
 * said nothing, and one for each query after it.
 */
export const translated = (client: pg.Client, error: unknown): unknown =>
  lost.has(client) && isUncoded(error) ? new DatabaseError('unreachable', undefined, error) : translateError(error);

/** A plain `Error`, as the driver makes them. */
const isUncoded = (error: unknown): boolean =>
  error instanceof Error && Object.getPrototypeOf(error) === Error.prototype && !('code' in error);

/** A query of ours. */
export async function ask<R extends pg.QueryResultRow>(
  client: pg.Client,
  query: string | pg.QueryConfig,
): Promise<pg.QueryResult<R>> {
  try {
    return await client.query<R>(query);
  } catch (error) {
    throw translated(client, error);
  }
}

/** A connection that is lost now may have been lost before the commit or after it. */
export async function commit(client: pg.Client, { writes }: { readonly writes: number }): Promise<void> {
  try {
    await ask(client, 'COMMIT');
  } catch (error) {
    throw writes > 0 && isDatabaseError(error, 'unreachable') ? new DatabaseError('in_doubt', undefined, error) : error;
  }
}
