import type pg from 'pg';
import { DatabaseError, translateError } from './errors.js';

/** Connections that have been lost. */
const lost = new WeakSet<pg.Client>();

/** Watches a new connection for its loss. */
export function noteLoss(client: pg.Client, done: (error: null, client: pg.Client) => void): void {
  client.once('error', () => lost.add(client));
  done(null, client);
}

/**
 * On a lost connection the driver's errors can have no code: the first one, if the server sent nothing, and that of
 * each later query.
 */
export const translated = (client: pg.Client, error: unknown): unknown =>
  lost.has(client) && isUncoded(error) ? new DatabaseError('unreachable', undefined, error) : translateError(error);

/** A plain `Error` without a code, as the driver throws for a lost connection. */
const isUncoded = (error: unknown): boolean =>
  error instanceof Error && Object.getPrototypeOf(error) === Error.prototype && !('code' in error);

/** Runs a query and translates its error. */
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
