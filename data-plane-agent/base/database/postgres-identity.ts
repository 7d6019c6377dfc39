import { createRequire } from 'node:module';
import type pg from 'pg';
import { onFirstUse } from '../on-first-use.js';

/** A PostgreSQL database as its server identifies it. */
export interface PostgresIdentity {
  /** The same for all URLs of one database, even with different host names, ports or users. */
  readonly id: string;
  readonly database: string;
  readonly role: string;
  /** Whether the role may create further databases. */
  readonly createsDatabases: boolean;
}

/** What a URL connects to, with the driver's defaults for missing parts. */
export interface PostgresTarget {
  readonly host: string;
  readonly port: number;
  readonly user: string;
  readonly database: string;
}

/** Timeout of the connection, and of each statement. */
export const CONNECT_TIMEOUT_MS = 5_000;

/** Loaded on first use: a server on SQLite needs this module, but not the driver. */
const driver = onFirstUse(() => createRequire(import.meta.url)('pg') as typeof pg);

export function postgresTarget(url: string): PostgresTarget {
  const { host, port, user = '', database = '' } = new (driver().Client)({ connectionString: url });
  return { host, port, user, database };
}

/** Asks the server which database the URL opens. Writes nothing. Throws the driver's error if it cannot connect. */
export async function postgresIdentity(url: string): Promise<PostgresIdentity> {
  const client = new (driver().Client)({
    connectionString: url,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    query_timeout: CONNECT_TIMEOUT_MS,
    application_name: 'duebook',
  });
  // A broken connection also rejects pending queries. Without a listener the event would end the process.
  client.on('error', () => undefined);
  try {
    await client.connect();
    const {
      rows: [row],
    } = await client.query<{ oid: string; database: string; role: string; creates: boolean }>(
      `SELECT d.oid::text AS oid, d.datname AS database, r.rolname AS role, r.rolcreatedb OR r.rolsuper AS creates
       FROM pg_database d, pg_roles r WHERE d.datname = current_database() AND r.rolname = current_user`,
    );
    if (!row) throw new Error('the server does not list the database of the connection');
    const { oid, database, role, creates } = row;
    return { id: `${await serverId(client)}/${oid}`, database, role, createsDatabases: creates };
  } finally {
    await client.end();
  }
}

/** The system identifier that initdb assigned; if the role may not read it, the start time of the server process. */
async function serverId(client: pg.Client): Promise<string> {
  try {
    return await oneText(client, 'SELECT system_identifier::text AS id FROM pg_control_system()');
  } catch (error) {
    if (!(error instanceof driver().DatabaseError && error.code === INSUFFICIENT_PRIVILEGE)) throw error;
    return oneText(client, 'SELECT extract(epoch FROM pg_postmaster_start_time())::text AS id');
  }
}

const INSUFFICIENT_PRIVILEGE = '42501';

async function oneText(client: pg.Client, sql: string): Promise<string> {
  const { rows } = await client.query<{ id: string }>(sql);
  return rows[0]?.id ?? '';
}
