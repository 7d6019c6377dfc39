import { createHash } from 'node:crypto';
import type { Database, Dialect, Exclusive, Waiting } from './database.js';

/** The names of the column types in each database. Frozen: released migrations depend on them. */
export interface ColumnTypes {
  readonly dialect: Dialect;
  readonly id: string;
  /** Text that sorts by code point. */
  readonly text: string;
  /** Counts, flags (0 or 1) and steps. */
  readonly int: string;
  /** Money in minor units, and instants in milliseconds since 1970. */
  readonly big: string;
  /** Amounts in major units; used only for sorting. */
  readonly real: string;
  readonly bytes: string;
}

const TYPES: Readonly<Record<Dialect, ColumnTypes>> = {
  sqlite: { dialect: 'sqlite', id: 'TEXT', text: 'TEXT', int: 'INTEGER', big: 'INTEGER', real: 'REAL', bytes: 'BLOB' },
  postgres: {
    dialect: 'postgres',
    id: 'UUID',
    text: 'TEXT COLLATE "C"',
    int: 'INTEGER',
    big: 'BIGINT',
    real: 'DOUBLE PRECISION',
    bytes: 'BYTEA',
  },
};

/**
 * One step of a schema. It imports nothing from the application and is never edited once released, which a checksum
 * enforces.
 */
export interface Migration {
  readonly id: string;
  statements(types: ColumnTypes): readonly string[];
  /**
   * Changes rows in ways that SQL alone cannot. It runs before the statements and outside their transaction, and opens
   * its own transaction for each batch. It must find the remaining rows by itself, because it is run again after an
   * interruption. In a new database, which has no rows, it is not run.
   */
  fill?(connection: Exclusive): Promise<void>;
}

/** A table that exists while a restore into the database is not complete: until then no program uses the database. */
export const RESTORE_MARK = 'restore_in_progress';

export interface MigrationState {
  readonly applied: readonly string[];
  readonly pending: readonly string[];
}

/** The statements of a migration for one kind of database. */
export const statementsOf = (migration: Migration, dialect: Dialect): readonly string[] =>
  migration.statements(TYPES[dialect]);

export const checksumOf = (migration: Migration): string =>
  createHash('sha256')
    .update(JSON.stringify([migration.statements(TYPES.sqlite), migration.statements(TYPES.postgres)]))
    .digest('hex');

/**
 * Applies pending migrations under a lock: of several processes that start at once, one migrates and the others wait.
 * Returns the ids of the applied migrations. Throws SchemaMismatch if a newer program has migrated the database, if
 * applied migrations differ from those of this program, or if a restore into the database was interrupted.
 */
export function migrate(
  database: Database,
  migrations: readonly Migration[],
  waiting?: Waiting,
): Promise<readonly string[]> {
  return database.exclusive(async (connection) => {
    const types = TYPES[connection.dialect];
    await refuseHalfRestored(connection);
    await connection.run(
      `CREATE TABLE IF NOT EXISTS schema_migrations (id ${types.text} PRIMARY KEY, checksum ${types.text} NOT NULL)`,
    );
    const pending = await pendingSteps(connection, migrations);
    const isNew = pending.length === migrations.length;
    for (const migration of pending) {
      if (!isNew) await migration.fill?.(connection);
      await connection.transaction(async () => {
        for (const statement of migration.statements(types)) await connection.run(statement);
        await connection.run('INSERT INTO schema_migrations (id, checksum) VALUES (?, ?)', [
          migration.id,
          checksumOf(migration),
        ]);
      });
    }
    return pending.map(({ id }) => id);
  }, waiting);
}

/** Returns the applied and the pending migrations. Changes nothing and does not wait for the migration lock. */
export function migrationState(database: Database, migrations: readonly Migration[]): Promise<MigrationState> {
  return database.read({ tenantId: null }, async (connection) => {
    await refuseHalfRestored(connection);
    const pending = (await hasHistory(connection)) ? await pendingSteps(connection, migrations) : migrations;
    const waiting = new Set(pending.map(({ id }) => id));
    return { applied: migrations.map(({ id }) => id).filter((id) => !waiting.has(id)), pending: [...waiting] };
  });
}

export class SchemaMismatch extends Error {
  override readonly name = 'SchemaMismatch';
}

type Reader = Pick<Exclusive, 'dialect' | 'all'>;

async function pendingSteps(connection: Reader, migrations: readonly Migration[]): Promise<readonly Migration[]> {
  const applied = new Map(
    (await connection.all('SELECT id, checksum FROM schema_migrations')).map((row) => [row['id'], row['checksum']]),
  );
  const changed = migrations.find(
    (migration) => applied.has(migration.id) && applied.get(migration.id) !== checksumOf(migration),
  );
  if (changed)
    throw new SchemaMismatch(
      `migration ${changed.id} differs from the one that was applied; use the version of the program that applied it`,
    );
  const ours = new Set<unknown>(migrations.map(({ id }) => id));
  const newer = applied
    .keys()
    .filter((id) => !ours.has(id))
    .toArray();
  if (newer.length > 0)
    throw new SchemaMismatch(
      `the database has been migrated by a newer program (${newer.join(', ')}); upgrade this one`,
    );
  return migrations.filter(({ id }) => !applied.has(id));
}

async function refuseHalfRestored(connection: Reader): Promise<void> {
  if (await hasTable(connection, RESTORE_MARK))
    throw new SchemaMismatch(
      'a restore of a backup into this database was interrupted: run the restore of the same backup again',
    );
}

const hasHistory = (connection: Reader): Promise<boolean> => hasTable(connection, 'schema_migrations');

async function hasTable(connection: Reader, name: string): Promise<boolean> {
  const rows = await connection.all(
    connection.dialect === 'sqlite'
      ? "SELECT 1 AS found FROM sqlite_master WHERE type = 'table' AND name = ?"
      : 'SELECT 1 AS found FROM information_schema.tables WHERE table_schema = current_schema() AND table_name = ?',
    [name],
  );
  return rows.length > 0;
}
