import type { Dialect, Value } from './database.js';
import type { Fragment } from './fragments.js';

/** The `INSERT` statements of a table, for any number of rows. */
export class Insertion {
  private readonly texts = new Map<number, string>();

  /** `into` is the table with its columns in brackets; `row` has a `?` for each value of a row, also in brackets. */
  constructor(
    private readonly into: string,
    private readonly row: string,
  ) {}

  sql(rows: number): string {
    let sql = this.texts.get(rows);
    if (sql === undefined) {
      sql = `INSERT INTO ${this.into} VALUES ${Array<string>(rows).fill(this.row).join(', ')}`;
      this.texts.set(rows, sql);
    }
    return sql;
  }
}

/**
 * The numbers of rows of a statement: PostgreSQL prefers few statements, and few sizes keep the number of distinct ones
 * small. SQLite has to be able to undo a statement of several rows halfway, for which it copies each page that it
 * changes: single rows are faster.
 */
const SIZES = { postgres: [64, 32, 16, 8, 4, 2, 1], sqlite: [1] } as const;

/** The statements that insert the rows, in their order. */
export function* insertions(
  dialect: Dialect,
  insertion: Insertion,
  rows: readonly (readonly Value[])[],
): Generator<Fragment> {
  for (let at = 0; at < rows.length;) {
    const size = SIZES[dialect].find((n) => n <= rows.length - at) ?? 1;
    yield { sql: insertion.sql(size), values: size === 1 ? (rows[at] ?? []) : rows.slice(at, at + size).flat() };
    at += size;
  }
}
