import { existsSync } from 'node:fs';
import type { Database as Connection } from 'better-sqlite3';
import { DatabaseError, translateError } from './errors.js';

export interface SqliteFile {
  readonly filename: string;
  /** A connection that is for `isReadable` alone. */
  readonly probe: Connection;
}

/**
 * A file that was removed, or whose disk was, can be written to as long as it is open, and what was written is lost.
 */
export function refuseWhenGone(filename: string): void {
  if (!existsSync(filename))
    throw new DatabaseError('unreachable', undefined, new Error(`${filename} is not there any more`));
}

/** Of the probe: it must not answer from memory. */
export const NO_CACHE = 'cache_size = 0';

export function isReadable({ filename, probe }: SqliteFile): boolean {
  if (!existsSync(filename)) return false;
  try {
    probe.prepare('SELECT count(*) FROM sqlite_schema').get();
    return true;
  } catch {
    return false; // whatever the reason, the answer to "are you there" is no
  }
}

/** Where SQLite cannot read the tables' definitions, it says that the statement is wrong or the file broken. */
export const translated = (error: unknown, file: SqliteFile): unknown =>
  error instanceof Error && 'code' in error && AMBIGUOUS.has(error.code) && !isReadable(file)
    ? new DatabaseError('unreachable', undefined, error)
    : translateError(error);

const AMBIGUOUS: ReadonlySet<unknown> = new Set(['SQLITE_ERROR', 'SQLITE_CORRUPT']);
