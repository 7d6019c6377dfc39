import { setTimeout as sleep } from 'node:timers/promises';
import SqliteConnection from 'better-sqlite3';
import pg from 'pg';
import { startService } from './service.js';

const LOOK_EVERY_MS = 1_000;
const UNCHAINED = 'SELECT count(*) AS left FROM audit_log WHERE position IS NULL';

/**
 * Lets a server add the audit events of a new data set to the audit chain, as its jobs do while a data set is entered by
 * people. Otherwise it would do it while it is measured.
 */
async function untilChained(
  dataDir: string,
  env: Readonly<Record<string, string>>,
  left: () => number | Promise<number>,
): Promise<void> {
  const service = await startService(dataDir, env);
  try {
    while ((await left()) > 0) {
      if (!service.running()) throw new Error('the server that chains the audit has ended');
      await sleep(LOOK_EVERY_MS);
    }
  } finally {
    await service.stop();
  }
}

export async function chainOnSqlite(dataDir: string, tenantFile: string): Promise<void> {
  const connection = new SqliteConnection(tenantFile, { readonly: true });
  try {
    const statement = connection.prepare(UNCHAINED).pluck();
    await untilChained(dataDir, {}, () => Number(statement.get()));
  } finally {
    connection.close();
  }
}

/** `adminUrl` is necessary because row-level security hides all rows if no tenant is set. */
export async function chainOnPostgres(
  dataDir: string,
  { env, adminUrl }: { readonly env: Readonly<Record<string, string>>; readonly adminUrl: string },
): Promise<void> {
  const client = new pg.Client({ connectionString: adminUrl });
  await client.connect();
  try {
    await untilChained(dataDir, env, async () => {
      const { rows } = await client.query<{ left: string }>(UNCHAINED);
      return Number(rows[0]?.left);
    });
  } finally {
    await client.end();
  }
}
