import type { Row, Transaction, Value } from './database.js';

/**
 * How a field is kept in a column, alike on both databases: drivers disagree quietly about dates, booleans and JSON,
 * so columns hold only texts and integers, and every value passes through one of these.
 */
export interface Column<T> {
  readonly name: string;
  encode(value: T): Value;
  decode(value: Value): T;
}

const column = <T>(encode: (value: T) => Value, decode: (value: Value) => T) => (name: string): Column<T> => ({ name, encode, decode });
const orNull = <T>({ name, encode, decode }: Column<T>): Column<T | null> => ({ name, encode: (value) => (value === null ? null : encode(value)), decode: (value) => (value === null ? null : decode(value)) });

export const c = {
  /** Ids, codes, days (`YYYY-MM-DD`), texts. */
  text: column<string>((value) => value, String),
  /** A text of a closed vocabulary. */
  word: <W extends string>(name: string): Column<W> => ({ name, encode: (value) => value, decode: (value) => String(value) as W }),
  /** Counts, money in minor units, instants in milliseconds. */
  int: column<number>((value) => value, Number),
  /** Amounts in major units, for sorting alone. */
  real: column<number>((value) => value, Number),
  flag: column<boolean>((value) => (value ? 1 : 0), (value) => value === 1),
  json: <T>(name: string): Column<T> => ({ name, encode: (value) => JSON.stringify(value), decode: (value) => JSON.parse(String(value)) as T }),
  orNull,
} as const;

type Columns = Readonly<Record<string, Column<never> | Column<unknown>>>;
type FieldOf<C> = C extends Column<infer T> ? T : never;
type Fields<C> = { -readonly [K in keyof C]: FieldOf<C[K]> };
/** The record that a row of the table is decoded to. */
export type RecordOf<T> = T extends Table<infer C> ? Fields<C> : never;

/** Rows that are written in one statement: sizes are few, so that statements stay few. */
const INSERT_SIZES = [64, 16, 8, 4, 2, 1];

/** A tenant's table: its statements always name the tenant first. */
export class Table<C extends Columns> {
  readonly columnNames: string;
  private readonly entries: readonly (readonly [string, Column<unknown>])[];
  private readonly inserts = new Map<number, string>();

  constructor(
    readonly name: string,
    columns: C,
  ) {
    this.entries = Object.entries(columns) as [string, Column<unknown>][];
    this.columnNames = this.entries.map(([, { name: column }]) => `${name}.${column}`).join(', ');
  }

  decode(row: Row): Fields<C> {
    const record: Record<string, unknown> = {};
    for (const [field, { name, decode }] of this.entries) record[field] = decode(row[name] ?? null);
    return record as Fields<C>;
  }

  values(record: Fields<C>): Value[] {
    return this.entries.map(([field, { encode }]) => encode((record as Record<string, unknown>)[field]));
  }

  /** Inserts in few statements. Answers how many rows went in: fewer than given when `skipConflicts` and a unique index refused some. */
  async insert(tx: Transaction, tenantId: string, records: readonly Fields<C>[], options: { readonly skipConflicts?: boolean } = {}): Promise<number> {
    let inserted = 0;
    for (let at = 0; at < records.length; ) {
      const size = INSERT_SIZES.find((n) => n <= records.length - at) ?? 1;
      const values = records.slice(at, at + size).flatMap((record) => [tenantId, ...this.values(record)]);
      inserted += await tx.run(this.insertSql(size) + (options.skipConflicts ? ' ON CONFLICT DO NOTHING' : ''), values);
      at += size;
    }
    return inserted;
  }

  /** Writes the fields that differ between two states of a row. */
  async update(tx: Transaction, tenantId: string, id: string, before: Fields<C>, after: Fields<C>): Promise<void> {
    const old = this.values(before);
    const fresh = this.values(after);
    const changed = this.entries.map(([, { name }], i) => ({ name, value: fresh[i] ?? null, same: old[i] === fresh[i] })).filter(({ same }) => !same);
    if (changed.length === 0) return;
    // The shapes are as many as there are kinds of change, not as there are rows.
    await tx.run(`UPDATE ${this.name} SET ${changed.map(({ name }) => `${name} = ?`).join(', ')} WHERE tenant_id = ? AND id = ?`, [...changed.map(({ value }) => value), tenantId, id]);
  }

  private insertSql(rows: number): string {
    let sql = this.inserts.get(rows);
    if (!sql) {
      const one = `(?${', ?'.repeat(this.entries.length)})`;
      sql = `INSERT INTO ${this.name} (tenant_id, ${this.entries.map(([, { name }]) => name).join(', ')}) VALUES ${Array.from({ length: rows }, () => one).join(', ')}`;
      this.inserts.set(rows, sql);
    }
    return sql;
  }
}

export const table = <C extends Columns>(name: string, columns: C): Table<C> => new Table(name, columns);
