import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Database, Row, Value } from '../../data-plane-agent/base/database/database.js';
import { migrate, type Migration } from '../../data-plane-agent/base/database/migrator.js';
import { openDatabase } from '../../data-plane-agent/base/database/open.js';
import { WARNINGS, type WarningCode } from '../../data-plane-agent/base/warnings.js';
import type { ContractDetail } from '../../data-plane-agent/plane/contract/records/contracts.js';
import { planWarnings } from '../../data-plane-agent/plane/domain/payments/plan-warnings.js';
import { TENANT_MIGRATIONS } from '../../data-plane-agent/plane/store/migrations/index.js';
import { PLATFORM_MIGRATIONS } from '../../server/store/migrations/index.js';
import type { DatabaseKind } from './server.js';
import { createDatabase } from './postgres.js';

interface LandedTenant {
  readonly tenantId: string;
  readonly ownerId: string;
  readonly subjectId: string;
  readonly email: string;
}
type Tables = Readonly<Record<string, readonly Row[]>>;

interface Landed {
  /** The encryption keys of this file, used for nothing else. */
  readonly secretKeys: string;
  /** When it was written, epoch milliseconds. */
  readonly at: number;
  readonly named: Readonly<Record<'one' | 'two' | 'trashed' | 'four' | 'five' | 'secondSubject', string>> &
    Readonly<Record<'harbour' | 'quay', LandedTenant>>;
  /** The answers of the program at that time: contracts by id, `stats` and the tabs by organisation. */
  readonly answers: Readonly<Record<string, unknown>>;
  readonly platform: Tables;
  readonly tenant: Tables;
}

/**
 * Two organisations as stored by the last version before invoice records, row by row: plans, receipts, invoice numbers
 * on lines (some duplicate), a deleted contract, an encrypted answer, a chained trail. The texts include the hashes of
 * the search index on PostgreSQL.
 */
export const LANDED = JSON.parse(readFileSync(new URL('landed-schema.json', import.meta.url), 'utf8')) as Landed;

/** A contract as the program of that time returned it, but for the messages of warnings: only their codes are stable. */
export function landedContract(id: string): ContractDetail {
  const contract = LANDED.answers[id] as ContractDetail;
  return {
    ...contract,
    warnings: [
      ...contract.warnings.map((warning) => ({
        ...warning,
        message: WARNINGS[warning.code as WarningCode].meaning,
      })),
      // The warning about a plan that differs from the total was added after these answers were stored.
      ...planWarnings(
        {
          totalMinor: Math.round(contract.totalAmount * 100),
          receivableMinor: Math.round(contract.receivableAmount * 100),
          otherCurrencyLines: contract.warnings.filter(({ code }) => code === 'MIXED_CURRENCY').length,
          currencyCode: contract.currencyCode,
        },
        contract.payments,
      ),
    ],
  };
}

/** The migration steps of the tenant database at that time. */
export const LANDED_STEPS = 2;

export interface LandedDatabase {
  readonly database: Database;
  readonly url: string;
  close(): Promise<void>;
}

/** The tenant database of that time. */
export const openLandedTenants = (kind: DatabaseKind): Promise<LandedDatabase> =>
  opened(kind, TENANT_MIGRATIONS.slice(0, LANDED_STEPS), LANDED.tenant);

/** The platform database of that time, without sessions. */
export const openLandedPlatform = (kind: DatabaseKind): Promise<LandedDatabase> =>
  opened(
    kind,
    PLATFORM_MIGRATIONS.filter(({ id }) => id <= '0007-audit-chain'),
    LANDED.platform,
  );

async function opened(kind: DatabaseKind, migrations: readonly Migration[], tables: Tables): Promise<LandedDatabase> {
  const { url, remove } = await place(kind);
  const database = await openDatabase(url, { poolMax: 4 });
  await migrate(database, migrations);
  for (const [table, rows] of Object.entries(tables)) for (const row of rows) await enter(database, table, row);
  return {
    database,
    url,
    async close() {
      await database.close();
      await remove();
    },
  };
}

/** The search index has a different form in each database. */
async function enter(database: Database, table: string, row: Row): Promise<void> {
  const tenantId = typeof row['tenant_id'] === 'string' ? row['tenant_id'] : null;
  const insert = (name: string, values: Row) =>
    database.write({ tenantId }, (tx) =>
      tx.run(
        `INSERT INTO ${name} (${Object.keys(values).join(', ')}) VALUES (${Object.keys(values)
          .map(() => '?')
          .join(', ')})`,
        Object.values(values),
      ),
    );
  if (table !== 'contract_texts') return void (await insert(table, row));
  const { grams = null, doc = null, ...text } = row;
  if (database.dialect === 'sqlite') {
    await insert(table, { ...text, doc });
    await insert('contract_search', { rowid: doc, text: text['text'] ?? null });
  } else {
    await insert(table, text);
    await insert('contract_grams', {
      tenant_id: tenantId,
      contract_id: text['contract_id'] ?? null,
      grams: arrayOf(grams),
    });
  }
}

/** The files have an array of PostgreSQL as one of JSON. */
const arrayOf = (value: unknown): Value => (Array.isArray(value) ? `{${value.join(',')}}` : (value as Value));

async function place(kind: DatabaseKind): Promise<{ url: string; remove(): Promise<void> }> {
  if (kind === 'postgres') {
    const { url, drop } = await createDatabase();
    return { url, remove: drop };
  }
  const folder = await mkdtemp(join(tmpdir(), 'duebook-landed-'));
  return { url: `sqlite:${join(folder, 'landed.db')}`, remove: () => rm(folder, { recursive: true, force: true }) };
}
