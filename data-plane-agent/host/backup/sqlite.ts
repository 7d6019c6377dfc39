import { chmodSync, existsSync, rmSync } from 'node:fs';
import Connection from 'better-sqlite3';
import { CommandError } from '../../base/command-line/errors.js';
import type { AppliedMigration, DatabaseSnapshot, ReferredObject } from './snapshot.js';
import { RESTORE_MARK } from '../../base/database/migrator.js';

/** Pages that are copied before the event loop continues: 8 MiB of the usual 4 KiB. */
const STEP_PAGES = 2_048;
const BUSY_MS = 10_000;

/**
 * Fixes the state of a database that other processes may be writing to. The connection stays in a read transaction, so
 * that the copy is of that one state: otherwise SQLite begins again whenever another process writes, and never ends.
 */
export function snapshotOfSqlite(path: string): DatabaseSnapshot {
  if (!existsSync(path))
    throw new CommandError('DATABASE_MISSING', `there is no database at ${path}: nothing was backed up`);
  const source = new Connection(path, { fileMustExist: true, timeout: BUSY_MS });
  try {
    source.pragma('query_only = ON');
    source.exec('BEGIN');
    const migrations = appliedIn(source);
    return {
      dialect: 'sqlite',
      extension: 'db',
      serverVersion: null,
      migrations,
      bytes: Promise.resolve(Number(source.pragma('page_count', { simple: true })) * pageSize(source)),
      copyTo: async (target, onProgress) => {
        await source.backup(target, {
          progress: ({ totalPages, remainingPages }) => {
            onProgress(totalPages - remainingPages, totalPages);
            return STEP_PAGES;
          },
        });
        chmodSync(target, 0o600);
        // A file of its own, without the write-ahead log that the next connection would create.
        const copy = new Connection(target);
        try {
          copy.pragma('journal_mode = DELETE');
        } finally {
          copy.close();
        }
      },
      objects: () => objectsIn(source),
      close: () => Promise.resolve(void source.close()),
    };
  } catch (error) {
    source.close();
    throw error;
  }
}

const pageSize = (connection: Connection.Database): number => Number(connection.pragma('page_size', { simple: true }));

const hasTable = (connection: Connection.Database, name: string): boolean =>
  connection.prepare("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?").get(name) !== undefined;

function appliedIn(connection: Connection.Database): readonly AppliedMigration[] {
  // Also begins the read transaction: BEGIN alone does not.
  if (!hasTable(connection, 'schema_migrations')) return [];
  return connection.prepare('SELECT id, checksum FROM schema_migrations ORDER BY id').all() as AppliedMigration[];
}

async function* objectsIn(connection: Connection.Database): AsyncGenerator<ReferredObject> {
  if (!hasTable(connection, 'files')) return;
  const rows = connection.prepare('SELECT object_key, size_bytes, sha256 FROM files ORDER BY object_key').iterate();
  for (const row of rows as IterableIterator<{ object_key: string; size_bytes: number; sha256: string }>)
    yield { key: row.object_key, sizeBytes: row.size_bytes, sha256: row.sha256 };
}

/** What is wrong with a copy, as SQLite finds it: at most 20 findings. The copy is opened, and not changed. */
export function faultsOfCopy(path: string): string[] {
  let copy: Connection.Database;
  try {
    copy = new Connection(path, { readonly: true, fileMustExist: true });
  } catch (error) {
    return [messageOf(error)];
  }
  try {
    const integrity = copy.pragma('integrity_check(20)') as { integrity_check: string }[];
    const references = copy.pragma('foreign_key_check') as { table: string; parent: string }[];
    return [
      ...integrity.map(({ integrity_check: found }) => found).filter((found) => found !== 'ok'),
      ...references.slice(0, 20).map(({ table, parent }) => `a row of ${table} refers to a missing one of ${parent}`),
    ].slice(0, 20);
  } catch (error) {
    return [messageOf(error)];
  } finally {
    copy.close();
  }
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** Throws DATABASE_IN_USE if another process has the file open. Nothing is changed. */
export function refuseUsedSqlite(path: string): void {
  if (!existsSync(path)) return;
  const file = new Connection(path, { timeout: 0 });
  try {
    // Every open connection holds a lock on a file in WAL mode, and changing the mode needs to be alone.
    file.pragma('journal_mode = DELETE');
  } catch (error) {
    if (!(error instanceof Connection.SqliteError && error.code.startsWith('SQLITE_BUSY'))) throw error;
    throw new CommandError(
      'DATABASE_IN_USE',
      `another process has ${path} open: stop the server and other commands, then run the restore again`,
      { cause: error },
    );
  } finally {
    file.close();
  }
}

/** Whether a target has no tables; and whether a restore into it was interrupted. */
export function stateOfSqlite(path: string): { readonly isEmpty: boolean; readonly isMarked: boolean } {
  if (!existsSync(path)) return { isEmpty: true, isMarked: false };
  const file = new Connection(path, { readonly: true });
  try {
    const tables = file.prepare("SELECT count(*) AS n FROM sqlite_schema WHERE type = 'table'").get() as { n: number };
    return { isEmpty: tables.n === 0, isMarked: hasTable(file, RESTORE_MARK) };
  } finally {
    file.close();
  }
}

/** Marks a file, which is created if missing, so that programs refuse it until `unmarkSqlite`. */
export function markSqlite(path: string): void {
  const file = new Connection(path, { timeout: BUSY_MS });
  try {
    chmodSync(path, 0o600);
    file.pragma('journal_mode = DELETE');
    file.pragma('synchronous = FULL');
    file.exec(`CREATE TABLE IF NOT EXISTS ${RESTORE_MARK} (at TEXT)`);
  } finally {
    file.close();
  }
}

export function unmarkSqlite(path: string): void {
  const file = new Connection(path, { timeout: BUSY_MS });
  try {
    file.pragma('synchronous = FULL');
    file.exec(`DROP TABLE IF EXISTS ${RESTORE_MARK}`);
  } finally {
    file.close();
  }
}

/** The files that SQLite keeps beside a database belong to its former content. */
export function removeCompanions(path: string): void {
  for (const suffix of ['-wal', '-shm', '-journal']) rmSync(`${path}${suffix}`, { force: true });
}
