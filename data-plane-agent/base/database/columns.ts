import type { Row, Transaction, Value } from './database.js';

/**
 * What a column's values mean beyond their type: those who tell a row to people go by it. Money is in minor units of
 * the row's own `currencyCode`; `values` are many under their keys.
 */
export type Meaning = 'plain' | 'money' | 'decimal' | 'instant' | 'account' | 'values';

/**
 * How a field is kept in a column, alike on both databases: drivers disagree quietly about dates, booleans and JSON,
 * so columns hold only texts and integers, and every value passes through one of these.
 */
export interface Column<T> {
  readonly name: string;
  readonly meaning: Meaning;
  /** The name under which the audit keeps it, its field's own when undefined; `null` is not kept there. */
  readonly auditName: string | null | undefined;
  /** The name under which requests and answers have it, that of the audit when undefined; `null` is never shown. */
  readonly apiName: string | null | undefined;
  /** Follows from other fields, which are told: the history of a contract leaves it out. */
  readonly isDerived: boolean;
  encode(value: T): Value;
  decode(value: Value): T;
  /**
   * Not in the audit: bookkeeping that the event's own time and actor already say, a key made of another field, what
   * follows from other rows.
   */
  unaudited(): Column<T>;
  auditedAs(name: string): Column<T>;
  shownAs(name: string): Column<T>;
  /** No field of the API: the audit keeps it, and shows it to nobody. */
  internal(): Column<T>;
  derived(): Column<T>;
}

type Told = Pick<Column<unknown>, 'auditName' | 'apiName' | 'isDerived'>;
type Parts<T> = Pick<Column<T>, 'name' | 'meaning' | 'encode' | 'decode'> & Partial<Told>;
const columnOf = <T>({ auditName, apiName, isDerived = false, ...parts }: Parts<T>): Column<T> => {
  const changed = (told: Partial<Told>): Column<T> => columnOf({ ...parts, auditName, apiName, isDerived, ...told });
  return {
    ...parts,
    auditName,
    apiName,
    isDerived,
    unaudited: () => changed({ auditName: null }),
    auditedAs: (name) => changed({ auditName: name }),
    shownAs: (name) => changed({ apiName: name }),
    internal: () => changed({ apiName: null }),
    derived: () => changed({ isDerived: true }),
  };
};

const column =
  <T>(encode: (value: T) => Value, decode: (value: Value) => T, meaning: Meaning = 'plain') =>
  (name: string): Column<T> =>
    columnOf({ name, meaning, encode, decode });
const orNull = <T>({ encode, decode, ...rest }: Column<T>): Column<T | null> =>
  columnOf<T | null>({
    ...rest,
    encode: (value) => (value === null ? null : encode(value)),
    decode: (value) => (value === null ? null : decode(value)),
  });
const asIs = <T extends Value>(value: T): T => value;

export const c = {
  /** Ids, codes, days (`YYYY-MM-DD`), texts. */
  text: column<string>(asIs, String),
  /** A text of a closed vocabulary. */
  word: <W extends string>(name: string): Column<W> =>
    columnOf({ name, meaning: 'plain', encode: asIs, decode: (value) => String(value) as W }),
  /** A number as decimal text, exact. */
  decimal: column<string>(asIs, String, 'decimal'),
  /** An account number: the audit keeps its last four characters. */
  account: column<string>(asIs, String, 'account'),
  /** Counts. */
  int: column<number>(asIs, Number),
  money: column<number>(asIs, Number, 'money'),
  /** In milliseconds. */
  instant: column<number>(asIs, Number, 'instant'),
  /** Amounts in major units, for sorting alone. */
  real: column<number>(asIs, Number),
  flag: column<boolean>(
    (value) => (value ? 1 : 0),
    (value) => value === 1,
  ),
  json: <T>(name: string): Column<T> =>
    columnOf({
      name,
      meaning: 'plain',
      encode: (value) => JSON.stringify(value),
      decode: (value) => JSON.parse(String(value)) as T,
    }),
  /** Values by key, of which the audit keeps those that change. */
  values: (name: string): Column<Record<string, unknown>> =>
    columnOf({
      name,
      meaning: 'values',
      encode: (value) => JSON.stringify(value),
      decode: (value) => JSON.parse(String(value)) as Record<string, unknown>,
    }),
  orNull,
} as const;

export type Columns = Readonly<Record<string, Column<never> | Column<unknown>>>;
type FieldOf<C> = C extends Column<infer T> ? T : never;
type Fields<C> = { -readonly [K in keyof C]: FieldOf<C[K]> };
/** The record that a row of the table is decoded to. */
export type RecordOf<T> = T extends Table<infer C> ? Fields<C> : never;

/** Rows that are written in one statement: sizes are few, so that statements stay few. */
const INSERT_SIZES = [64, 16, 8, 4, 2, 1];

/** A tenant's table: its statements always name the tenant first. */
export class Table<C extends Columns> {
  readonly columnNames: string;
  /** By their fields. */
  readonly columns: ReadonlyMap<string, Column<unknown>>;
  /** By the names under which the audit keeps them. */
  readonly audited: ReadonlyMap<string, Column<unknown>>;
  /** What the audit calls a row of it; `null` where rows are not kept there. */
  readonly auditedAs: string | null;
  /** What the audit tells of a row beside its columns, in the words of the API. */
  readonly facts: readonly string[];
  private readonly entries: readonly (readonly [string, Column<unknown>])[];
  private readonly inserts = new Map<number, string>();

  constructor(
    readonly name: string,
    private readonly declared: C,
    { auditedAs, facts }: Pick<Table<C>, 'auditedAs' | 'facts'>,
  ) {
    this.auditedAs = auditedAs;
    this.facts = facts;
    this.entries = Object.entries(declared) as [string, Column<unknown>][];
    this.columns = new Map(this.entries);
    this.audited = new Map(
      this.entries.flatMap(([field, one]) => (one.auditName === null ? [] : [[one.auditName ?? field, one]])),
    );
    this.columnNames = this.entries.map(([, { name: column }]) => `${name}.${column}`).join(', ');
  }

  /** The same table read in part: only these fields. */
  only<K extends keyof C & string>(...fields: readonly K[]): Table<Pick<C, K>> {
    return new Table(
      this.name,
      Object.fromEntries(fields.map((field) => [field, this.declared[field]])) as Pick<C, K>,
      this,
    );
  }

  decode(row: Row): Fields<C> {
    const record: Record<string, unknown> = {};
    for (const [field, { name, decode }] of this.entries) record[field] = decode(row[name] ?? null);
    return record as Fields<C>;
  }

  values(record: Fields<C>): Value[] {
    return this.entries.map(([field, { encode }]) => encode((record as Record<string, unknown>)[field]));
  }

  /** Inserts in few statements. */
  async insert(tx: Transaction, tenantId: string, records: readonly Fields<C>[]): Promise<void> {
    await this.inserted(tx, this.parameters(tenantId, records), '');
  }

  /** The same without those that a unique index refuses. Answers how many rows went in. */
  insertNew(tx: Transaction, tenantId: string, records: readonly Fields<C>[]): Promise<number> {
    return this.inserted(tx, this.parameters(tenantId, records), ' ON CONFLICT DO NOTHING');
  }

  private parameters(tenantId: string, records: readonly Fields<C>[]): Value[][] {
    return records.map((record) => [tenantId, ...this.values(record)]);
  }

  private async inserted(tx: Transaction, rows: readonly (readonly Value[])[], unless: string): Promise<number> {
    let inserted = 0;
    for (let at = 0; at < rows.length;) {
      const size = INSERT_SIZES.find((n) => n <= rows.length - at) ?? 1;
      inserted += await tx.run(this.insertSql(size) + unless, rows.slice(at, at + size).flat());
      at += size;
    }
    return inserted;
  }

  /** Writes the fields that differ between two states of a row. */
  async update(
    tx: Transaction,
    tenantId: string,
    { id, before, after }: { readonly id: string; readonly before: Fields<C>; readonly after: Fields<C> },
  ): Promise<void> {
    const old = this.values(before);
    const fresh = this.values(after);
    const changed = this.entries
      .map(([, { name }], i) => ({ name, value: fresh[i] ?? null, same: old[i] === fresh[i] }))
      .filter(({ same }) => !same);
    if (changed.length === 0) return;
    // The shapes are as many as there are kinds of change, not as there are rows.
    await tx.run(
      `UPDATE ${this.name} SET ${changed.map(({ name }) => `${name} = ?`).join(', ')} WHERE tenant_id = ? AND id = ?`,
      [...changed.map(({ value }) => value), tenantId, id],
    );
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

/**
 * `audit` is what the audit calls a row: repositories tell the recorder every change of such a table. Rows of one
 * without leave no trace there.
 */
export const table = <C extends Columns>(
  name: string,
  columns: C,
  { audit = null, facts = [] }: { readonly audit?: string | null; readonly facts?: readonly string[] } = {},
): Table<C> => new Table(name, columns, { auditedAs: audit, facts });
