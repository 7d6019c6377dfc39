import type { Row } from '../../data-plane-agent/base/database/database.js';
import type { ColumnTypes } from '../../data-plane-agent/base/database/migrator.js';
import { rollups } from '../../data-plane-agent/plane/store/migrations/0005-rollups.js';
import { addWaiting } from '../../data-plane-agent/plane/store/waiting-figures.js';
import type { TestPlane } from './plane.js';

const TABLES = {
  receivable_days: ['person_id', 'subject_id', 'currency_code', 'day'],
  contract_groups: [
    'subject_id',
    'owner_id',
    'superior_id',
    'currency_code',
    'type',
    'status',
    'stage',
    'payment_status',
  ],
} as const;

/**
 * The rollups of a tenant as readers see them: with what waits, the slots of a key added up, without keys whose values are
 * zero.
 */
export async function rollupsOf({ database, call }: TestPlane): Promise<Record<string, Row[]>> {
  while ((await database.write(call, (tx) => addWaiting(tx, call.tenantId, { waits: true }))) > 0);
  return database.read(call, async (tx) => {
    const found: Record<string, Row[]> = {};
    for (const [table, keys] of Object.entries(TABLES)) {
      const rows = await tx.all(`SELECT * FROM ${table} WHERE tenant_id = ?`, [call.tenantId]);
      found[table] = folded(rows, keys);
    }
    return found;
  });
}

/** Deletes the rollups of all tenants, and what waits to be added to them, and recomputes them with the statements of the migration that introduced them. */
export async function rebuildRollups({ database }: TestPlane): Promise<void> {
  const { dialect } = database;
  // The statements only use the dialect of the transaction.
  const types: ColumnTypes = { dialect, id: '', text: '', int: '', big: '', real: '', bytes: '' };
  const tables = [...Object.keys(TABLES), 'waiting_figures'];
  const force = (word: string) =>
    dialect === 'postgres' ? tables.map((table) => `ALTER TABLE ${table} ${word} ROW LEVEL SECURITY`) : [];
  const filling = rollups.statements(types).filter((statement) => /^INSERT|FORCE ROW LEVEL SECURITY$/.test(statement));
  await database.exclusive((connection) =>
    connection.transaction(async () => {
      for (const statement of [
        ...force('NO FORCE'),
        ...tables.map((table) => `DELETE FROM ${table}`),
        ...filling,
        ...force('FORCE'),
      ])
        await connection.run(statement);
    }),
  );
}

/** A text of increments as the release wrote it that noted no contracts. */
export const withoutContracts = (text: string): string =>
  JSON.stringify((JSON.parse(text) as unknown[]).map((part) => (Array.isArray(part) ? part.slice(0, 5) : part)));

function folded(rows: readonly Row[], keys: readonly string[]): Row[] {
  const byKey = new Map<string, Row>();
  for (const { tenant_id: _tenant, slot: _slot, ...row } of rows) {
    const key = keys.map((name) => row[name]).join(' ');
    const known = byKey.get(key);
    byKey.set(
      key,
      known
        ? Object.fromEntries(
            Object.entries(row).map(([name, value]) => [
              name,
              keys.includes(name) ? value : Number(known[name]) + Number(value),
            ]),
          )
        : row,
    );
  }
  return [...byKey]
    .filter(([, row]) => Object.entries(row).some(([name, value]) => !keys.includes(name) && value !== 0))
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([, row]) => row);
}
