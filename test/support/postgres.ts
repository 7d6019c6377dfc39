import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { endsWithItsRun } from './guardian.js';
import { migrateTo, type Schema } from './migrated.js';
import { once } from './once.js';
import { type PostgresServer, startServer } from './postgres-server.js';
import { skip } from './skip.js';

export type TestDatabase = {
  /** Connects as the database's owner, which is not a superuser, so that forced row-level security applies. */
  url: string;
  /** Connects to the same database as the superuser. */
  adminUrl: string;
  /** Drops the database, even with open connections. The others are dropped at the end of the run. */
  drop(): Promise<void>;
};

interface DatabaseOptions {
  readonly durable?: boolean;
  readonly migrated?: Schema;
}

/**
 * Creates a database (UTF-8, locale C), empty or `migrated`. Its server is started by the first call and shared by the
 * whole run; `durable` uses a server with fsync. `TEST_POSTGRES_URL`, a superuser's connection string, sets an external
 * server to use instead, with its own settings.
 */
export async function createDatabase({ durable = false, migrated }: DatabaseOptions = {}): Promise<TestDatabase> {
  return copyOf(migrated === undefined ? 'template0' : await templateOf(migrated, { durable }), { durable });
}

async function copyOf(template: string, { durable }: { durable: boolean }): Promise<TestDatabase> {
  const [{ adminUrl }, owner] = await Promise.all([sharedServer({ durable }), sharedOwner({ durable })]);
  const name = `duebook_test_${randomBytes(6).toString('hex')}`;
  // Copied as files, which takes half the time of copying through the log.
  await asAdmin(
    adminUrl,
    `CREATE DATABASE ${name} OWNER ${owner.name} TEMPLATE ${template} STRATEGY FILE_COPY ENCODING 'UTF8' LC_COLLATE 'C' LC_CTYPE 'C'`,
  );
  const database: TestDatabase = {
    url: withParts(adminUrl, { database: name, username: owner.name, password: owner.password }),
    adminUrl: withParts(adminUrl, { database: name }),
    async drop() {
      undropped.delete(database);
      await asAdmin(adminUrl, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
    },
  };
  undropped.add(database);
  return database;
}

/** The name of a migrated template database. */
const templateOf = (schema: Schema, { durable }: { durable: boolean }): Promise<string> =>
  once(templates, `${schema} ${durable}`, async () => {
    const { url } = await copyOf('template0', { durable });
    await migrateTo(schema, url);
    return new URL(url).pathname.slice(1);
  });

interface Owner {
  readonly name: string;
  readonly password: string;
}

/** Not a superuser; owns all databases of this process. */
const sharedOwner = ({ durable }: { durable: boolean }): Promise<Owner> =>
  once(owners, String(durable), async () => {
    const { adminUrl } = await sharedServer({ durable });
    const owner = {
      name: `duebook_test_${randomBytes(6).toString('hex')}`,
      password: randomBytes(18).toString('base64url'),
    };
    await asAdmin(
      adminUrl,
      `CREATE ROLE ${owner.name} LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOBYPASSRLS PASSWORD '${owner.password}'`,
    );
    return owner;
  });

/**
 * Call this first in a `describe` that needs PostgreSQL: starts the server, or skips the suite with the reason why it
 * is not available (a failure with REQUIRE_SERVICES=1).
 */
export function needsPostgres(): void {
  before('PostgreSQL', async function () {
    this.timeout(180_000); // initdb on a busy machine
    const reason = await whyNoPostgres();
    if (reason !== undefined) skip(this, reason);
  });
}

/** The reason why PostgreSQL is not available; undefined if it is. */
export async function whyNoPostgres(): Promise<string | undefined> {
  try {
    await sharedServer({ durable: false });
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

/**
 * Stops the servers that this run started, or cleans up an external one. A mocha run in one process calls it
 * automatically.
 */
export async function stopPostgres(): Promise<void> {
  if (process.env['TEST_POSTGRES_URL']) await dropRest();
  const started = [...servers.values()];
  servers.clear();
  for (const server of await Promise.allSettled(started)) if (server.status === 'fulfilled') await server.value.stop();
}

/** Drops the databases and owners created by tests, because an external server keeps running. */
export async function dropRest(): Promise<void> {
  for (const database of undropped) await database.drop();
  templates.clear();
  const made = await Promise.all(owners.values());
  owners.clear();
  for (const { name } of made)
    await asAdmin((await sharedServer({ durable: false })).adminUrl, `DROP ROLE IF EXISTS ${name}`);
}

const undropped = new Set<TestDatabase>();
const servers = new Map<string, Promise<PostgresServer>>();
const owners = new Map<string, Promise<Owner>>();
const templates = new Map<string, Promise<string>>();

function sharedServer({ durable }: { durable: boolean }): Promise<PostgresServer> {
  const given = process.env['TEST_POSTGRES_URL'];
  return once(servers, String(durable), () => (given ? useServer(given) : startServer({ durable })));
}

async function useServer(adminUrl: string): Promise<PostgresServer> {
  await asAdmin(adminUrl, 'SELECT 1');
  return {
    adminUrl,
    home: '',
    stop: () => Promise.resolve(),
    restart: () => Promise.reject(new Error('a server that was named is not ours to end')),
  };
}

async function asAdmin(adminUrl: string, ...statements: string[]): Promise<void> {
  const client = new pg.Client({ connectionString: adminUrl });
  await client.connect();
  try {
    for (const statement of statements) await client.query(statement);
  } finally {
    await client.end();
  }
}

function withParts(
  url: string,
  { database, username, password }: { database: string; username?: string; password?: string },
): string {
  const changed = new URL(url);
  changed.pathname = `/${database}`;
  if (username !== undefined) changed.username = username;
  if (password !== undefined) changed.password = password;
  return changed.href;
}

// Registered when this module is first imported, at the top of a test file, so that it is a hook of the root suite.
if (endsWithItsRun) after('stop PostgreSQL', stopPostgres);
