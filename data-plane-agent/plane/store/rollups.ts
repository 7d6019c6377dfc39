import type { Transaction } from '../../base/database/database.js';
import type { Entries } from '../domain/analytics/rollups.js';
import { DAY_COLUMNS, DAY_KEYS, GROUP_COLUMNS, GROUP_KEYS, PLAN_COLUMNS, type Entry } from '../tables/rollups.js';

/** Rows whose figures have all become zero are kept; their number is bounded by the number of keys. */
const DAYS = rollup({ table: 'receivable_days', keys: DAY_KEYS, columns: DAY_COLUMNS, first: PLAN_COLUMNS });
const GROUPS = rollup({ table: 'contract_groups', keys: GROUP_KEYS, columns: GROUP_COLUMNS, first: GROUP_COLUMNS });

/**
 * On PostgreSQL writers of one row wait for each other's commit, and most writes change today's row. There each key is
 * spread over a few rows, and a transaction uses the same slot for all of them. Readers add up all slots, so there are
 * few. SQLite has one writer anyway.
 */
const SLOTS = 4;

export async function writeEntries(tx: Transaction, tenantId: string, entries: Entries): Promise<void> {
  const slot = tx.dialect === 'sqlite' ? 0 : Math.floor(Math.random() * SLOTS);
  await GROUPS.write(tx, [tenantId, slot], entries.groups());
  await DAYS.write(tx, [tenantId, slot], entries.days());
}

/**
 * Rows per statement: PostgreSQL prefers few statements, and few sizes keep the number of distinct ones small. On SQLite
 * single rows are faster.
 */
const SIZES = { postgres: [64, 16, 8, 4, 2, 1], sqlite: [1] } as const;

interface Rollup<C extends string> {
  readonly table: string;
  readonly keys: readonly string[];
  readonly columns: readonly C[];
  /** The columns that are written alone when no others change. */
  readonly first: readonly C[];
}

function rollup<C extends string>({ table, keys, columns, first }: Rollup<C>) {
  const texts = new Map<readonly C[], Map<number, string>>([
    [columns, new Map()],
    [first, new Map()],
  ]);
  const textOf = (rows: number, named: readonly C[]): string => {
    const known = texts.get(named)?.get(rows);
    if (known !== undefined) return known;
    const key = ['tenant_id', 'slot', ...keys];
    const one = `(${[...key, ...named].map(() => '?').join(', ')})`;
    const text =
      `INSERT INTO ${table} (${[...key, ...named].join(', ')}) VALUES ${Array.from({ length: rows }, () => one).join(', ')} ` +
      `ON CONFLICT (tenant_id, ${keys.join(', ')}, slot) DO UPDATE SET ${named.map((name) => `${name} = ${table}.${name} + excluded.${name}`).join(', ')}`;
    texts.get(named)?.set(rows, text);
    return text;
  };
  const others = columns.filter((column) => !first.includes(column));
  return {
    async write(
      tx: Transaction,
      [tenantId, slot]: readonly [string, number],
      entries: readonly Entry<C>[],
    ): Promise<void> {
      const named = entries.some(({ figures }) => others.some((column) => (figures[column] ?? 0) !== 0))
        ? columns
        : first;
      for (let at = 0; at < entries.length;) {
        const size = SIZES[tx.dialect].find((n) => n <= entries.length - at) ?? 1;
        const values = entries
          .slice(at, at + size)
          .flatMap(({ key, figures }) => [tenantId, slot, ...key, ...named.map((column) => figures[column] ?? 0)]);
        await tx.defer(textOf(size, named), values);
        at += size;
      }
    },
  };
}
