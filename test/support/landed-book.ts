import { readFileSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Database, Row, Transaction, Value } from '../../data-plane-agent/base/database/database.js';
import { migrate, type Migration } from '../../data-plane-agent/base/database/migrator.js';
import { openDatabase } from '../../data-plane-agent/base/database/open.js';
import { TENANT_MIGRATIONS } from '../../data-plane-agent/plane/store/migrations/index.js';
import { PLATFORM_MIGRATIONS } from '../../server/store/migrations/index.js';
import { createDatabase } from './postgres.js';
import type { DatabaseKind } from './server.js';

interface Saved {
  /** The last migration of each database when it was saved. */
  readonly schema: Readonly<Record<'platform' | 'tenant', string>>;
  /** When it was saved, epoch milliseconds. */
  readonly at: number;
  readonly tenantId: string;
  readonly slug: string;
  readonly email: string;
  /** Answers of the program of that time to the owner, by path. */
  readonly answers: Readonly<Record<string, unknown>>;
  /** Rows by table, in the order in which they can be entered. */
  readonly platform: Tables;
  readonly tenant: Tables;
}
type Tables = Readonly<Record<string, readonly Row[]>>;

/** The encryption keys of the file, used for nothing else. */
export const BOOK_KEYS = 'book:AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=';

const FILE = new URL('landed-book.json', import.meta.url);

/**
 * An organisation that used every feature there was: contracts in all states, invoices, receipts, collections,
 * deliveries, tasks, fields, views. `UPDATE_LANDED=1` with `upgrade-book.test.ts` saves it anew, which is right only
 * while no version with its migrations has been released.
 */
export const landedBook = (): Saved => JSON.parse(readFileSync(FILE, 'utf8')) as Saved;

/** Not part of a book: they end by themselves, or belong to running processes. */
const PASSING =
  /^(schema_migrations|contract_grams|leases|job_leases|auth_sessions|sessions|refresh_tokens|login_.*|rate_.*|idempotency_records|link_sessions|link_replicas|link_tokens_used)$/;

/** Saves both databases of a server on PostgreSQL. */
export async function saveBook(
  { platform, tenant }: { readonly platform: Database; readonly tenant: Database },
  about: Pick<Saved, 'at' | 'tenantId' | 'slug' | 'email' | 'answers'>,
): Promise<void> {
  const saved: Saved = {
    schema: { platform: PLATFORM_MIGRATIONS.at(-1)?.id ?? '', tenant: TENANT_MIGRATIONS.at(-1)?.id ?? '' },
    ...about,
    platform: await tablesOf(platform, about.tenantId),
    tenant: await tablesOf(tenant, about.tenantId),
  };
  writeFileSync(FILE, `${JSON.stringify(saved)}\n`);
}

const tablesOf = (database: Database, tenantId: string): Promise<Tables> =>
  database.read({ tenantId }, async (tx) => {
    // A table refers only to tables that were created before it.
    const names = await tx.all(
      "SELECT relname AS name FROM pg_class WHERE relkind = 'r' AND relnamespace = current_schema()::regnamespace ORDER BY oid",
    );
    const tables: Record<string, readonly Row[]> = {};
    for (const { name } of names) {
      const table = String(name);
      if (PASSING.test(table)) continue;
      const rows = await tx.all(sqlOf(table, await columnsOf(tx, table)));
      if (rows.length > 0) tables[table] = rows;
    }
    return tables;
  });

const columnsOf = async (tx: Transaction, table: string): Promise<string[]> =>
  (
    await tx.all(
      'SELECT column_name AS name FROM information_schema.columns WHERE table_schema = current_schema() AND table_name = ? ORDER BY ordinal_position',
      [table],
    )
  ).map(({ name }) => String(name));

/** The search index of a contract is saved with its text, since each database has another form of it. */
function sqlOf(table: string, columns: readonly string[]): string {
  const order = columns.includes('id') ? 'id' : columns.join(', ');
  return table === 'contract_texts'
    ? `SELECT it.*, (SELECT grams::text FROM contract_grams g WHERE g.tenant_id = it.tenant_id AND g.contract_id = it.contract_id) AS grams FROM ${table} it ORDER BY contract_id`
    : `SELECT * FROM ${table} ORDER BY ${order}`;
}

export interface OpenedBook {
  readonly platformUrl: string;
  readonly tenantUrl: string;
  /** The migrations that were applied to bring them up to date. */
  readonly applied: readonly string[];
  close(): Promise<void>;
}

/** New databases with the rows as they were saved, brought up to date with every later migration. */
export async function openBook(kind: DatabaseKind): Promise<OpenedBook> {
  const book = landedBook();
  const platform = await entered(kind, {
    migrations: PLATFORM_MIGRATIONS,
    last: book.schema.platform,
    tables: book.platform,
  });
  const tenant = await entered(kind, { migrations: TENANT_MIGRATIONS, last: book.schema.tenant, tables: book.tenant });
  return {
    platformUrl: platform.url,
    tenantUrl: tenant.url,
    applied: [...platform.applied, ...tenant.applied],
    close: async () => {
      await platform.remove();
      await tenant.remove();
    },
  };
}

async function entered(
  kind: DatabaseKind,
  {
    migrations,
    last,
    tables,
  }: { readonly migrations: readonly Migration[]; readonly last: string; readonly tables: Tables },
): Promise<{ readonly url: string; readonly applied: readonly string[]; remove(): Promise<void> }> {
  const { url, remove } = await place(kind);
  const database = await openDatabase(url, { poolMax: 2 });
  try {
    const then = migrations.slice(0, migrations.findIndex(({ id }) => id === last) + 1);
    await migrate(database, then);
    let doc = 0;
    for (const [table, rows] of Object.entries(tables))
      for (const row of rows)
        await database.write(
          { tenantId: typeof row['tenant_id'] === 'string' ? row['tenant_id'] : null },
          async (tx) => {
            if (table === 'contract_texts') await enterText(tx, row, (doc += 1));
            else await insert(tx, table, row);
          },
        );
    return { url, applied: await migrate(database, migrations), remove };
  } finally {
    await database.close();
  }
}

async function enterText(tx: Transaction, { grams = null, ...text }: Row, doc: number): Promise<void> {
  if (tx.dialect === 'sqlite') {
    await insert(tx, 'contract_texts', { ...text, doc });
    await insert(tx, 'contract_search', { rowid: doc, text: text['text'] ?? null });
  } else {
    await insert(tx, 'contract_texts', text);
    await insert(tx, 'contract_grams', {
      tenant_id: text['tenant_id'] ?? null,
      contract_id: text['contract_id'] ?? null,
      grams,
    });
  }
}

const insert = (tx: Transaction, table: string, row: Row): Promise<unknown> =>
  tx.run(
    `INSERT INTO ${table} (${Object.keys(row).join(', ')}) VALUES (${Object.keys(row)
      .map(() => '?')
      .join(', ')})`,
    Object.values(row) as Value[],
  );

async function place(kind: DatabaseKind): Promise<{ url: string; remove(): Promise<void> }> {
  if (kind === 'postgres') {
    const { url, drop } = await createDatabase();
    return { url, remove: drop };
  }
  const folder = await mkdtemp(join(tmpdir(), 'duebook-book-'));
  return { url: `sqlite:${join(folder, 'book.db')}`, remove: () => rm(folder, { recursive: true, force: true }) };
}
