import type { Transaction } from '../../base/database/database.js';
import { DAY_COLUMNS, GROUP_COLUMNS, PLAN_COLUMNS, type Entries, type Entry } from '../domain/analytics/rollups.js';

/**
 * The rollups: figures of receivables by day, and of contracts by what they are, kept by the operations that change them, so that
 * what is read costs days and not lines. Rows whose figures have all come to nothing stay: there are as many as there are keys.
 */
const DAYS = rollup('receivable_days', ['person_id', 'subject_id', 'currency_code', 'day'], DAY_COLUMNS, PLAN_COLUMNS.length);
const GROUPS = rollup('contract_groups', ['subject_id', 'owner_id', 'superior_id', 'currency_code', 'type', 'status', 'stage', 'payment_status'], GROUP_COLUMNS, GROUP_COLUMNS.length);

/**
 * PostgreSQL makes writers of one row wait for each other's commit, and everybody writes to today: so there each key is spread over a
 * few rows, of which a transaction takes one throughout. They are read together, so they are few. SQLite has one writer anyway.
 */
const SLOTS = 4;

export async function writeEntries(tx: Transaction, tenantId: string, entries: Entries): Promise<void> {
  const slot = tx.dialect === 'sqlite' ? 0 : Math.floor(Math.random() * SLOTS);
  await GROUPS.write(tx, [tenantId, slot], entries.groups());
  await DAYS.write(tx, [tenantId, slot], entries.days());
}

/** Rows that are written in one statement, where each costs a round trip; sizes are few, so that statements stay few. SQLite takes one at a time in less. */
const SIZES = { postgres: [64, 16, 8, 4, 2, 1], sqlite: [1] } as const;

/** A table of figures. Of its columns the first few are written alone when no other moves. */
function rollup(table: string, keys: readonly string[], columns: readonly string[], few: number) {
  const texts = new Map<number, string>();
  const textOf = (rows: number, width: number): string => {
    const known = texts.get(rows * 1_000 + width);
    if (known !== undefined) return known;
    const key = ['tenant_id', 'slot', ...keys];
    const named = columns.slice(0, width);
    const one = `(${[...key, ...named].map(() => '?').join(', ')})`;
    const text =
      `INSERT INTO ${table} (${[...key, ...named].join(', ')}) VALUES ${Array.from({ length: rows }, () => one).join(', ')} ` +
      `ON CONFLICT (tenant_id, ${keys.join(', ')}, slot) DO UPDATE SET ${named.map((name) => `${name} = ${table}.${name} + excluded.${name}`).join(', ')}`;
    texts.set(rows * 1_000 + width, text);
    return text;
  };
  return {
    async write(tx: Transaction, [tenantId, slot]: readonly [string, number], entries: readonly Entry[]): Promise<void> {
      const width = entries.some(({ figures }) => figures.some((figure, i) => i >= few && figure !== 0)) ? columns.length : few;
      for (let at = 0; at < entries.length; ) {
        const size = SIZES[tx.dialect].find((n) => n <= entries.length - at) ?? 1;
        const values = entries.slice(at, at + size).flatMap(({ key, figures }) => [tenantId, slot, ...key, ...figures.slice(0, width)]);
        await tx.run(textOf(size, width), values);
        at += size;
      }
    },
  };
}
