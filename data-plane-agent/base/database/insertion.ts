import type { Dialect, Value } from './database.js';
import { columnLiteral, FROM_JSON_COLUMN, jsonColumn, type Fragment } from './fragments.js';

/** The `INSERT` statements of a table, for any number of rows. */
export class Insertion {
  private readonly texts = new Map<number, string>();
  private textOfArrays: string | undefined;

  /**
   * `into` is the table with its columns in brackets; `row` has a `?` for each value of a row, also in brackets. With
   * `types`, those of the columns on PostgreSQL, rows are given there as an array for each column.
   */
  constructor(
    private readonly into: string,
    private readonly row: string,
    readonly types?: readonly string[],
  ) {}

  sql(rows: number): string {
    let sql = this.texts.get(rows);
    if (sql === undefined) {
      sql = `INSERT INTO ${this.into} VALUES ${Array<string>(rows).fill(this.row).join(', ')}`;
      this.texts.set(rows, sql);
    }
    return sql;
  }

  /** For any number of rows: a parameter for each column, which is an array of its values. */
  sqlOfArrays(types: readonly string[]): string {
    if (this.textOfArrays === undefined) {
      // The rows of an array of arrays would all have to be of the same length.
      const given = types.map((type) =>
        type === JSON_TEXT ? FROM_JSON_COLUMN : `CAST(? AS ${isArray(type) ? 'text' : type}[])`,
      );
      const read = types.map((type, i) => (isArray(type) ? `CAST(c${i} AS ${type})` : `c${i}`));
      const columns = types.map((_, i) => `c${i}`);
      this.textOfArrays = `INSERT INTO ${this.into} SELECT ${read.join(', ')} FROM unnest(${given.join(', ')}) AS x (${columns.join(', ')})`;
    }
    return this.textOfArrays;
  }
}

/** A column of the type `text` that has JSON, as `JSON.stringify` writes it. */
export const JSON_TEXT = 'json text';

const isArray = (type: string): boolean => type.endsWith('[]');

/**
 * The numbers of rows of a statement that has a parameter for each value: PostgreSQL prefers few statements, and few sizes keep the number of distinct ones
 * small. SQLite has to be able to undo a statement of several rows halfway, for which it copies each page that it
 * changes: single rows are faster.
 */
const SIZES = { postgres: [64, 32, 16, 8, 4, 2, 1], sqlite: [1] } as const;
/** Rows that are given as arrays. */
const MOST_IN_ARRAYS = 1_000;

/** The statements that insert the rows, in their order. */
export function* insertions(
  dialect: Dialect,
  insertion: Insertion,
  rows: readonly (readonly Value[])[],
): Generator<Fragment> {
  const { types } = insertion;
  for (let at = 0; at < rows.length;) {
    const left = rows.length - at;
    if (dialect === 'postgres' && types && left > 1) {
      // A value for each column instead of one for each of each row: driver and server take most of the time for each.
      const part = rows.slice(at, at + MOST_IN_ARRAYS);
      yield {
        sql: insertion.sqlOfArrays(types),
        values: types.map((type, column) => (type === JSON_TEXT ? jsonColumn : columnLiteral)(part, column)),
      };
      at += part.length;
      continue;
    }
    const size = SIZES[dialect].find((n) => n <= left) ?? 1;
    yield { sql: insertion.sql(size), values: size === 1 ? (rows[at] ?? []) : rows.slice(at, at + size).flat() };
    at += size;
  }
}
