import { existsSync } from 'node:fs';
import type { Database as Connection } from 'better-sqlite3';
import { onceATurn } from '../once-a-turn.js';
import { DatabaseError, translateError } from './errors.js';

export interface SqliteFile {
  readonly filename: string;
  /** A connection used only by `isReadable`. */
  readonly probe: Connection;
}

/**
 * Refuses when the file does not exist. A deleted file, or one whose disk was removed, can still be written to while it
 * is open, but the data is lost.
 */
export function deletionGuard(filename: string): () => void {
  const exists = onceATurn(() => existsSync(filename));
  return () => {
    if (!exists()) throw new DatabaseError('unreachable', undefined, new Error(`${filename} does not exist any more`));
  };
}

export function isReadable({ filename, probe }: SqliteFile): boolean {
  if (!existsSync(filename)) return false;
  try {
    probe.prepare('SELECT count(*) FROM sqlite_schema').get();
    return true;
  } catch {
    return false; // any error means that the file is not readable
  }
}

/**
 * SQLite's data version for the connection of the probe: it differs after every commit, since the probe makes none. It
 * is read from the shared memory of the write-ahead log. Undefined if the file does not exist or cannot be read.
 */
export function generationReader({ filename, probe }: SqliteFile): () => number | undefined {
  const statement = probe.prepare('PRAGMA data_version').pluck();
  return onceATurn(() => {
    try {
      return existsSync(filename) ? Number(statement.get()) : undefined;
    } catch {
      return undefined; // what is read next says why
    }
  });
}

/** If SQLite cannot read the schema, it reports an invalid statement or a corrupt file. */
export const translated = (error: unknown, file: SqliteFile): unknown =>
  error instanceof Error && 'code' in error && AMBIGUOUS.has(error.code) && !isReadable(file)
    ? new DatabaseError('unreachable', undefined, error)
    : translateError(error);

const AMBIGUOUS: ReadonlySet<unknown> = new Set(['SQLITE_ERROR', 'SQLITE_CORRUPT']);
