import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { sourceWithTools } from './postgres-binaries.js';
import { startServer } from './postgres-server.js';

/** A PostgreSQL whose version `pgDump` can dump, with an ordinary role, and one for backups. */
export interface PostgresWithTools {
  readonly pgDump: string;
  /** An empty database of the ordinary role, and its URLs. */
  database(): Promise<{ readonly url: string; readonly backupUrl: string; readonly adminUrl: string }>;
  stop(): Promise<void>;
}

/** Returns the reason if there is none. */
export async function startPostgresWithTools(): Promise<PostgresWithTools | string> {
  const source = await sourceWithTools();
  if (!source) return 'no PostgreSQL with pg_dump and pg_restore is installed';
  const server = await startServer({ durable: false, from: [source] });
  const password = randomBytes(18).toString('base64url');
  const asAdmin = async (...statements: string[]): Promise<void> => {
    const client = new pg.Client({ connectionString: server.adminUrl });
    await client.connect();
    try {
      for (const statement of statements) await client.query(statement);
    } finally {
      await client.end();
    }
  };
  await asAdmin(
    `CREATE ROLE duebook LOGIN NOSUPERUSER NOBYPASSRLS PASSWORD '${password}'`,
    `CREATE ROLE duebook_backup LOGIN BYPASSRLS PASSWORD '${password}'`,
    'GRANT pg_read_all_data TO duebook_backup',
  );
  return {
    pgDump: source.pgDump,
    database: async () => {
      const name = `book_${randomBytes(6).toString('hex')}`;
      await asAdmin(`CREATE DATABASE ${name} OWNER duebook`);
      const urlOf = (username?: string): string => {
        const url = new URL(server.adminUrl);
        url.pathname = `/${name}`;
        if (username !== undefined) Object.assign(url, { username, password });
        return url.href;
      };
      return { url: urlOf('duebook'), backupUrl: urlOf('duebook_backup'), adminUrl: urlOf() };
    },
    stop: server.stop,
  };
}
