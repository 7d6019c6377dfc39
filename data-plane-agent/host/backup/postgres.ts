import pg from 'pg';
import { CommandError } from '../../base/command-line/errors.js';
import { RESTORE_MARK } from '../../base/database/migrator.js';
import { CONNECT_TIMEOUT_MS } from '../../base/database/postgres-identity.js';
import { postgresTools, type ToolSettings } from './postgres-tools.js';
import type { AppliedMigration, DatabaseSnapshot, ReferredObject } from './snapshot.js';

/** Rows that are read from a cursor at once. */
const BATCH = 1_000;
const NAME = 'duebook backup';

async function connected(url: string): Promise<pg.Client> {
  const client = new pg.Client({
    connectionString: url,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    application_name: NAME,
  });
  // A broken connection also rejects pending queries. Without a listener the event would end the process.
  client.on('error', () => undefined);
  await client.connect();
  return client;
}

async function using<T>(url: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = await connected(url);
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

/**
 * Fixes the state of a database that other processes may be writing to, and exports it for pg_dump. `setting` has the
 * URL of a role that reads all rows. Throws BACKUP_ROLE if this one does not, and PG_TOOLS_MISSING or PG_TOOLS_TOO_OLD.
 */
export async function snapshotOfPostgres(
  url: string,
  { tools, setting }: { readonly tools: ToolSettings; readonly setting: string },
): Promise<DatabaseSnapshot> {
  const client = await connected(url);
  try {
    const version = await one(client, "SELECT current_setting('server_version') AS v");
    const programs = await postgresTools(tools, { serverMajor: Number.parseInt(version, 10) });
    await refuseBlindRole(client, setting);
    await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY');
    const exported = await one(client, 'SELECT pg_export_snapshot() AS v');
    return {
      dialect: 'postgres',
      extension: 'dump',
      serverVersion: version.split(' ')[0] ?? version,
      migrations: await appliedIn(client),
      bytes: one(client, 'SELECT pg_database_size(current_database())::text AS v').then(Number),
      copyTo: (target) => programs.dump(url, exported, target),
      objects: () => objectsIn(client),
      close: () => client.end(),
    };
  } catch (error) {
    await client.end();
    throw error;
  }
}

/** Row-level security also applies to the owner of the tables; pg_dump refuses to leave out rows. */
async function refuseBlindRole(client: pg.Client, setting: string): Promise<void> {
  const {
    rows: [row],
  } = await client.query<{ blind: boolean; role: string; tables: number }>(
    `SELECT NOT (rolsuper OR rolbypassrls) AS blind, rolname AS role,
            (SELECT count(*) FROM pg_class WHERE relrowsecurity AND relnamespace = current_schema()::regnamespace)::int AS tables
     FROM pg_roles WHERE rolname = current_user`,
  );
  if (!row?.blind || row.tables === 0) return;
  throw new CommandError(
    'BACKUP_ROLE',
    `the role ${row.role} cannot read the rows of all organisations, which row-level security keeps apart. Create a role for backups, as a superuser: CREATE ROLE duebook_backup LOGIN BYPASSRLS PASSWORD '…'; GRANT pg_read_all_data TO duebook_backup; then set ${setting} to the URL of the same database with this role`,
  );
}

async function one(client: pg.Client, sql: string): Promise<string> {
  const { rows } = await client.query<{ v: string }>(sql);
  return rows[0]?.v ?? '';
}

async function hasTable(client: pg.Client, name: string): Promise<boolean> {
  const { rowCount } = await client.query(
    'SELECT 1 FROM information_schema.tables WHERE table_schema = current_schema() AND table_name = $1',
    [name],
  );
  return rowCount !== 0;
}

async function appliedIn(client: pg.Client): Promise<readonly AppliedMigration[]> {
  if (!(await hasTable(client, 'schema_migrations'))) return [];
  return (
    await client.query<{ id: string; checksum: string }>('SELECT id, checksum FROM schema_migrations ORDER BY id')
  ).rows;
}

async function* objectsIn(client: pg.Client): AsyncGenerator<ReferredObject> {
  if (!(await hasTable(client, 'files'))) return;
  await client.query(
    'DECLARE referred NO SCROLL CURSOR FOR SELECT object_key AS key, size_bytes::text AS size, sha256 FROM files ORDER BY object_key',
  );
  for (;;) {
    const { rows } = await client.query<{ key: string; size: string; sha256: string }>(`FETCH ${BATCH} FROM referred`);
    for (const { key, size, sha256 } of rows) yield { key, sizeBytes: Number(size), sha256 };
    if (rows.length < BATCH) break;
  }
  await client.query('CLOSE referred');
}

/** Throws DATABASE_IN_USE if programs of the product, or others as the same role, are connected. */
export async function refuseUsedPostgres(url: string): Promise<void> {
  await using(url, async (client) => {
    const { rows } = await client.query<{ at: string; name: string }>(
      `SELECT coalesce(host(client_addr), 'a local socket') AS at, application_name AS name FROM pg_stat_activity
       WHERE datname = current_database() AND pid <> pg_backend_pid()
         AND (usename = current_user OR application_name LIKE 'duebook%') AND application_name <> $1`,
      [NAME],
    );
    if (rows.length === 0) return;
    throw new CommandError(
      'DATABASE_IN_USE',
      `${rows.length} ${rows.length === 1 ? 'connection uses' : 'connections use'} the database (${[...new Set(rows.map(({ at, name }) => `${name || 'unnamed'} from ${at}`))].slice(0, 5).join(', ')}): stop all replicas of the server and other commands, then run the restore again`,
    );
  });
}

/** Whether a target has no tables; and whether a restore into it was interrupted. */
export const stateOfPostgres = (url: string): Promise<{ readonly isEmpty: boolean; readonly isMarked: boolean }> =>
  using(url, async (client) => ({
    isEmpty:
      (await one(
        client,
        "SELECT count(*)::text AS v FROM pg_class WHERE relnamespace = current_schema()::regnamespace AND relkind IN ('r', 'p', 'v', 'm', 'S')",
      )) === '0',
    isMarked: await hasTable(client, RESTORE_MARK),
  }));

/** Empties the schema and marks it, in one transaction, so that programs refuse it until `unmarkPostgres`. */
export const markPostgres = (url: string): Promise<void> =>
  using(url, async (client) => {
    await client.query("BEGIN; SET LOCAL lock_timeout = '30s'");
    const { rows } = await client.query<{ statement: string }>(
      `SELECT format('DROP %s IF EXISTS %I.%I CASCADE',
                CASE relkind WHEN 'v' THEN 'VIEW' WHEN 'm' THEN 'MATERIALIZED VIEW' WHEN 'S' THEN 'SEQUENCE' ELSE 'TABLE' END,
                current_schema(), relname) AS statement
       FROM pg_class WHERE relnamespace = current_schema()::regnamespace AND relkind IN ('r', 'p', 'v', 'm', 'S')
         AND NOT EXISTS (SELECT 1 FROM pg_depend WHERE classid = 'pg_class'::regclass AND objid = pg_class.oid AND deptype = 'e')`,
    );
    for (const { statement } of rows) await client.query(statement);
    await client.query(`CREATE TABLE ${RESTORE_MARK} (at text); COMMIT`);
  });

export const unmarkPostgres = (url: string): Promise<void> =>
  using(url, async (client) => void (await client.query(`DROP TABLE IF EXISTS ${RESTORE_MARK}`)));

/** Restores a dump into a marked, otherwise empty database. */
export async function restorePostgres(url: string, dump: string, tools: ToolSettings): Promise<void> {
  await (await postgresTools(tools)).restore(url, dump);
}
