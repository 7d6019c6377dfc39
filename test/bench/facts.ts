import SqliteConnection from 'better-sqlite3';
import pg from 'pg';
import type { Day } from '../../data-plane-agent/base/day.js';
import type { Tenant } from './dataset.js';

/** The parts of a data set that the benchmark requests, read from the database. */
export interface Facts {
  /** Contracts with twelve lines, terms and notes. */
  readonly fullContracts: readonly string[];
  /** Lines without receipts, each of a different contract. */
  readonly openLines: readonly string[];
  /** Contracts with one to sixty lines. */
  readonly variedContracts: readonly string[];
  /** The number of overdue lines. */
  readonly overdue: number;
  readonly lifecycle: { readonly templateId: string; readonly stageCode: string; readonly stageName: string };
}

type Query = (sql: string, ...values: (string | number)[]) => Promise<readonly Readonly<Record<string, unknown>>[]>;

export async function sqliteFacts(file: string, tenant: Tenant, today: Day): Promise<Facts> {
  const connection = new SqliteConnection(file, { readonly: true });
  try {
    return await factsOf(
      async (sql, ...values) => connection.prepare(sql).all(...values) as Record<string, unknown>[],
      tenant,
      today,
    );
  } finally {
    connection.close();
  }
}

/** `adminUrl` is necessary because row-level security hides all rows if no tenant is set. */
export async function postgresFacts(adminUrl: string, tenant: Tenant, today: Day): Promise<Facts> {
  const client = new pg.Client({ connectionString: adminUrl });
  await client.connect();
  try {
    return await factsOf(
      async (sql, ...values) => {
        let n = 0;
        return (
          await client.query<Record<string, unknown>>(
            sql.replaceAll('?', () => `$${++n}`),
            values,
          )
        ).rows;
      },
      tenant,
      today,
    );
  } finally {
    await client.end();
  }
}

async function factsOf(query: Query, { tenantId }: Tenant, today: Day): Promise<Facts> {
  const count = async (sql: string, ...values: string[]) => Number((await query(sql, ...values))[0]?.['n']);
  const ids = async (sql: string, ...values: string[]) => (await query(sql, ...values)).map((row) => String(row['id']));
  const [stage] = await query(
    "SELECT template_id, code, name FROM lifecycle_stages WHERE tenant_id = ? AND code = 'draft'",
    tenantId,
  );
  return {
    fullContracts: await ids(
      'SELECT DISTINCT contract_id AS id FROM contract_notes WHERE tenant_id = ? ORDER BY contract_id LIMIT 1000',
      tenantId,
    ),
    openLines: await ids(
      'SELECT id FROM payment_lines WHERE tenant_id = ? AND position = 3 AND deleted_at IS NULL AND received_minor = 0 AND outstanding_minor > 0 ORDER BY id LIMIT 20000',
      tenantId,
    ),
    variedContracts: await ids(
      'SELECT contract_id AS id FROM payment_lines WHERE tenant_id = ? AND deleted_at IS NULL GROUP BY contract_id HAVING count(*) NOT IN (4, 12) ORDER BY contract_id LIMIT 1000',
      tenantId,
    ),
    overdue: await count(
      'SELECT count(*) AS n FROM payment_lines WHERE tenant_id = ? AND deleted_at IS NULL AND outstanding_minor > 0 AND due_date < ?',
      tenantId,
      today,
    ),
    lifecycle: {
      templateId: String(stage?.['template_id']),
      stageCode: String(stage?.['code']),
      stageName: String(stage?.['name']),
    },
  };
}

/** The stored hash of the member, so that the raw argon2id uses the parameters of the product. */
export function passwordHash(platformFile: string, email: string): string {
  const connection = new SqliteConnection(platformFile, { readonly: true });
  try {
    const row = connection.prepare('SELECT password_hash FROM members WHERE email = ?').get(email) as
      { password_hash?: string } | undefined;
    if (!row?.password_hash) throw new Error(`no password of ${email}`);
    return row.password_hash;
  } finally {
    connection.close();
  }
}

/** A second database with the same rows; updates the statistics of both. */
export async function copyOfDatabase(adminUrl: string): Promise<{ readonly adminUrl: string; drop(): Promise<void> }> {
  const name = new URL(adminUrl).pathname.slice(1);
  const on = async (database: string, sql: string) => {
    const url = new URL(adminUrl);
    url.pathname = `/${database}`;
    const client = new pg.Client({ connectionString: url.href });
    await client.connect();
    try {
      await client.query(sql);
    } finally {
      await client.end();
    }
    return url;
  };
  await on(name, 'VACUUM ANALYZE');
  await on('postgres', `CREATE DATABASE ${name}_raw TEMPLATE ${name}`);
  const copy = await on(`${name}_raw`, 'SELECT 1');
  return {
    adminUrl: copy.href,
    drop: async () => void (await on('postgres', `DROP DATABASE IF EXISTS ${name}_raw WITH (FORCE)`)),
  };
}
