import type { Transaction } from '../../base/database/database.js';
import { columnLiteral } from '../../base/database/fragments.js';
import { valuesOf } from '../../base/compiled-objects.js';
import type { Entries } from '../domain/analytics/rollups.js';
import {
  DAY_COLUMNS,
  DAY_KEYS,
  GROUP_COLUMNS,
  GROUP_KEYS,
  PLAN_COLUMNS,
  type Entry,
  type Figures,
} from '../tables/rollups.js';

/** Rows whose figures have all become zero are kept; their number is bounded by the number of keys. */
const DAYS = rollup({ table: 'receivable_days', keys: DAY_KEYS, columns: DAY_COLUMNS, first: PLAN_COLUMNS });
const GROUPS = rollup({ table: 'contract_groups', keys: GROUP_KEYS, columns: GROUP_COLUMNS, first: GROUP_COLUMNS });

/**
 * On PostgreSQL writers of one row wait for each other's commit, and most writes change today's row. There each key is
 * spread over a few rows, and a transaction uses the same slot for all of them. Readers add up all slots, so there are
 * few. SQLite has one writer anyway.
 */
const SLOTS = 4;
/** Two transactions of a process that run at once are to have different ones. */
let lastSlot = Math.floor(Math.random() * SLOTS);
const nextSlot = (): number => (lastSlot = (lastSlot + 1) % SLOTS);

interface Place {
  readonly tenantId: string;
  /** By default another than that of the transaction before. */
  readonly slot?: number;
}

export async function writeEntries(
  tx: Transaction,
  { tenantId, slot = tx.dialect === 'sqlite' ? 0 : nextSlot() }: Place,
  entries: Entries,
): Promise<void> {
  await GROUPS.write(tx, [tenantId, slot], entries.groups());
  await DAYS.write(tx, [tenantId, slot], entries.days());
}

/** Rows per statement on PostgreSQL. */
const MOST_ROWS = 1_000;

interface Rollup<C extends string> {
  readonly table: string;
  readonly keys: readonly string[];
  readonly columns: readonly C[];
  /** The columns that are written alone when no others change. */
  readonly first: readonly C[];
}

function rollup<C extends string>({ table, keys, columns, first }: Rollup<C>) {
  const others = valuesOf(columns.filter((column) => !first.includes(column)));
  const written = (named: readonly C[]) => ({
    sqlite: eachRow(table, keys, named),
    postgres: allRows(table, keys, named),
    values: valuesOf(named) as (figures: Figures<C>) => (number | undefined)[],
  });
  const [all, some] = [written(columns), written(first)];
  return {
    async write(
      tx: Transaction,
      [tenantId, slot]: readonly [string, number],
      entries: readonly Entry<C>[],
    ): Promise<void> {
      const isMoved = entries.some(({ figures }) => others(figures).some((figure) => (figure ?? 0) !== 0));
      const { values, ...texts } = isMoved ? all : some;
      const text = texts[tx.dialect];
      if (tx.dialect === 'sqlite')
        for (const { key, figures } of entries)
          await tx.defer(text, [tenantId, slot, ...key, ...values(figures).map((figure) => figure ?? 0)]);
      else
        for (let at = 0; at < entries.length; at += MOST_ROWS) {
          const rows = entries
            .slice(at, at + MOST_ROWS)
            .map(({ key, figures }) => [...key, ...values(figures).map((figure) => figure ?? 0)]);
          const [first = []] = rows;
          await tx.defer(text, [tenantId, slot, ...first.map((_, column) => columnLiteral(rows, column))]);
        }
    },
  };
}

/** On SQLite single rows are fastest. */
function eachRow(table: string, keys: readonly string[], named: readonly string[]): string {
  const all = ['tenant_id', 'slot', ...keys, ...named];
  return `INSERT INTO ${table} (${all.join(', ')}) VALUES (${all.map(() => '?').join(', ')}) ${added(table, keys, named)}`;
}

/** PostgreSQL takes most of the time of such a statement to begin it: all rows are one, as an array for each column. */
function allRows(table: string, keys: readonly string[], named: readonly string[]): string {
  const all = [...keys, ...named];
  const types = [...keys.map((name) => (name.endsWith('_id') ? 'uuid' : 'text')), ...named.map(() => 'bigint')];
  return (
    `INSERT INTO ${table} (${['tenant_id', 'slot', ...all].join(', ')}) SELECT CAST(? AS uuid), CAST(? AS integer), x.* ` +
    `FROM unnest(${types.map((type) => `CAST(? AS ${type}[])`).join(', ')}) AS x ${added(table, keys, named)}`
  );
}

function added(table: string, keys: readonly string[], named: readonly string[]): string {
  return `ON CONFLICT (tenant_id, ${keys.join(', ')}, slot) DO UPDATE SET ${named.map((name) => `${name} = ${table}.${name} + excluded.${name}`).join(', ')}`;
}
