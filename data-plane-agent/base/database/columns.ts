import { convertedBy, listedBy, valuesOf } from '../compiled-objects.js';
import type { Row, Transaction, Value } from './database.js';
import type { Fragment } from './fragments.js';
import { Insertion, insertions } from './insertion.js';

/**
 * How a column's values are to be presented, beyond their type. Money is in minor units of the row's own
 * `currencyCode`; `values` is a map of values by key.
 */
export type Meaning = 'plain' | 'money' | 'decimal' | 'instant' | 'account' | 'values';

/** The type on PostgreSQL, or one that it converts by itself where a value is written. */
export type ColumnType = 'uuid' | 'text' | 'bigint' | 'double precision';

/**
 * Maps a field to a column in the same way on both databases: drivers differ in how they represent dates, booleans and
 * JSON, so columns contain only text and integers.
 */
export interface Column<T> {
  readonly name: string;
  readonly meaning: Meaning;
  readonly type: ColumnType;
  /** The field's name in the audit; `undefined` means the field's own name, `null` that it is not audited. */
  readonly auditName: string | null | undefined;
  /** The field's name in the API; `undefined` means the audit name, `null` that it is never shown. */
  readonly apiName: string | null | undefined;
  /** Computed from other fields; the history of a contract omits it. */
  readonly isDerived: boolean;
  encode(value: T): Value;
  decode(value: Value): T;
  /**
   * Excludes the column from the audit: timestamps and actors that the event already has, keys derived from other
   * fields, values computed from other rows.
   */
  unaudited(): Column<T>;
  auditedAs(name: string): Column<T>;
  shownAs(name: string): Column<T>;
  /** Not a field of the API: audited, but never shown. */
  internal(): Column<T>;
  derived(): Column<T>;
}

type Labels = Pick<Column<unknown>, 'auditName' | 'apiName' | 'isDerived'>;
type Parts<T> = Pick<Column<T>, 'name' | 'meaning' | 'type' | 'encode' | 'decode'> & Partial<Labels>;
const columnOf = <T>({ auditName, apiName, isDerived = false, ...parts }: Parts<T>): Column<T> => {
  const changed = (labels: Partial<Labels>): Column<T> =>
    columnOf({ ...parts, auditName, apiName, isDerived, ...labels });
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
  <T>(
    { type, meaning = 'plain' }: { readonly type: ColumnType; readonly meaning?: Meaning },
    encode: (value: T) => Value,
    decode: (value: Value) => T,
  ) =>
  (name: string): Column<T> =>
    columnOf({ name, meaning, type, encode, decode });
const orNull = <T>({ encode, decode, ...rest }: Column<T>): Column<T | null> =>
  columnOf<T | null>({
    ...rest,
    encode: (value) => (value === null ? null : encode(value)),
    decode: (value) => (value === null ? null : decode(value)),
  });
const asIs = <T extends Value>(value: T): T => value;

export const c = {
  /** UUIDs. */
  id: column<string>({ type: 'uuid' }, asIs, String),
  /** Codes, days (`YYYY-MM-DD`) and other text. */
  text: column<string>({ type: 'text' }, asIs, String),
  /** One of a fixed set of strings. */
  word: <W extends string>(name: string): Column<W> =>
    columnOf({ name, meaning: 'plain', type: 'text', encode: asIs, decode: (value) => String(value) as W }),
  /** An exact decimal number, as text. */
  decimal: column<string>({ type: 'text', meaning: 'decimal' }, asIs, String),
  /** An account number; the audit records only its last four characters. */
  account: column<string>({ type: 'text', meaning: 'account' }, asIs, String),
  /** Counts. */
  int: column<number>({ type: 'bigint' }, asIs, Number),
  money: column<number>({ type: 'bigint', meaning: 'money' }, asIs, Number),
  /** In milliseconds. */
  instant: column<number>({ type: 'bigint', meaning: 'instant' }, asIs, Number),
  /** Amounts in major units; used only for sorting. */
  real: column<number>({ type: 'double precision' }, asIs, Number),
  flag: column<boolean>(
    { type: 'bigint' },
    (value) => (value ? 1 : 0),
    (value) => value === 1,
  ),
  json: <T>(name: string): Column<T> =>
    columnOf({
      name,
      meaning: 'plain',
      type: 'text',
      encode: (value) => JSON.stringify(value),
      decode: (value) => JSON.parse(String(value)) as T,
    }),
  /** Values by key; the audit records only the changed keys. */
  values: (name: string): Column<Record<string, unknown>> =>
    columnOf({
      name,
      meaning: 'values',
      type: 'text',
      encode: (value) => JSON.stringify(value),
      decode: (value) => JSON.parse(String(value)) as Record<string, unknown>,
    }),
  orNull,
} as const;

export type Columns = Readonly<Record<string, Column<never> | Column<unknown>>>;
type FieldOf<C> = C extends Column<infer T> ? T : never;
type Fields<C> = { -readonly [K in keyof C]: FieldOf<C[K]> };
/** The record type of the table's rows. */
export type RecordOf<T> = T extends Table<infer C> ? Fields<C> : never;

/** A row's state before and after a change. */
interface Change<F> {
  readonly id: string;
  readonly before: F;
  readonly after: F;
}

/** Whether two values differ; objects are compared by their content. */
export const differ = (before: unknown, after: unknown): boolean =>
  before !== after && !(typeof after === 'object' && JSON.stringify(before) === JSON.stringify(after));

/** A field that has changed, under its name in the audit. */
interface Difference {
  readonly name: string;
  readonly column: Column<unknown>;
  readonly move: readonly [before: unknown, after: unknown];
}

/** What a table does with all the fields of a row. */
interface Functions {
  readonly fields: (record: object) => unknown[];
  readonly decode: (row: object) => object;
  readonly encode: (record: object) => unknown[];
}

/** Statements that are kept of a table. */
const MOST_UPDATES = 1_000;

/** A tenant's table; all its statements include the tenant id. */
export class Table<C extends Columns> {
  readonly columnNames: string;
  /** By field name. */
  readonly columns: ReadonlyMap<string, Column<unknown>>;
  /** By audit name. */
  readonly audited: ReadonlyMap<string, Column<unknown>>;
  /** The record kind in the audit; `null` if rows are not audited. */
  readonly auditedAs: string | null;
  /** API names of further facts that the audit records about a row. */
  readonly facts: readonly string[];
  private readonly entries: readonly (readonly [string, Column<unknown>])[];
  private readonly insertion: Insertion;
  private functions: Functions | undefined;
  /** By the places of the columns that are set. A new text for each row would have to be looked up by all its characters. */
  private readonly updates = new Map<string, string>();

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
    this.insertion = new Insertion(
      `${name} (tenant_id, ${this.entries.map(([, { name: column }]) => column).join(', ')})`,
      `(?${', ?'.repeat(this.entries.length)})`,
      ['uuid', ...this.entries.map(([, { type }]) => type)],
    );
    this.columnNames = this.entries.map(([, { name: column }]) => `${name}.${column}`).join(', ');
  }

  /** The same table with only these fields. */
  only<K extends keyof C & string>(...fields: readonly K[]): Table<Pick<C, K>> {
    return new Table(
      this.name,
      Object.fromEntries(fields.map((field) => [field, this.declared[field]])) as Pick<C, K>,
      this,
    );
  }

  decode(row: Row): Fields<C> {
    return this.compiled().decode(row) as Fields<C>;
  }

  values(record: Fields<C>): Value[] {
    return this.compiled().encode(record) as Value[];
  }

  /** The audited fields that differ between two states of all or some fields of a row. Missing fields are `null`. */
  differences(before: object, after: object): Difference[] {
    const { fields } = this.compiled();
    const [old, fresh] = [fields(before), fields(after)];
    const found: Difference[] = [];
    this.entries.forEach(([field, column], place) => {
      if (old[place] === fresh[place] || column.auditName === null) return;
      const [was, is] = [old[place] ?? null, fresh[place] ?? null];
      if (differ(was, is)) found.push({ name: column.auditName ?? field, column, move: [was, is] });
    });
    return found;
  }

  /** Made when the first row needs them: a start needs few tables. */
  private compiled(): Functions {
    return (this.functions ??= {
      fields: valuesOf(this.entries.map(([field]) => field)),
      decode: convertedBy(this.entries.map(([key, { name, decode }]) => ({ key, from: name, by: decode }))),
      encode: listedBy(this.entries.map(([from, { encode }]) => ({ from, by: encode }))),
    });
  }

  insert(tx: Transaction, tenantId: string, records: readonly Fields<C>[]): Promise<void> {
    return tx.insert(this.insertion, this.parameters(tenantId, records));
  }

  /** As `insert`, but skips rows that violate a unique index. Returns the number of inserted rows. */
  async insertNew(tx: Transaction, tenantId: string, records: readonly Fields<C>[]): Promise<number> {
    let inserted = 0;
    for (const { sql, values } of insertions(tx.dialect, this.insertion, this.parameters(tenantId, records)))
      inserted += await tx.run(`${sql} ON CONFLICT DO NOTHING`, values);
    return inserted;
  }

  private parameters(tenantId: string, records: readonly Fields<C>[]): Value[][] {
    return records.map((record) => [tenantId, ...this.values(record)]);
  }

  /** Updates the fields that differ between two states of a row. */
  async update(tx: Transaction, tenantId: string, change: Change<Fields<C>>): Promise<void> {
    const update = this.updating(tenantId, change);
    if (update) await tx.run(update.sql, update.values);
  }

  /** As `update`, for a row that cannot be removed meanwhile, because this transaction has locked it or its contract. */
  async updateHeld(tx: Transaction, tenantId: string, change: Change<Fields<C>>): Promise<void> {
    const update = this.updating(tenantId, change);
    if (update) await tx.defer(update.sql, update.values);
  }

  private updating(tenantId: string, { id, before, after }: Change<Fields<C>>): Fragment | undefined {
    const { fields } = this.compiled();
    const [old, fresh] = [fields(before), fields(after)];
    const values: Value[] = [];
    let places = '';
    this.entries.forEach(([, { encode }], place) => {
      if (old[place] === fresh[place]) return;
      const value = encode(fresh[place]) ?? null;
      if (value === encode(old[place])) return;
      values.push(value);
      places += String.fromCharCode(place);
    });
    if (values.length === 0) return undefined;
    return { sql: this.updateSql(places), values: [...values, tenantId, id] };
  }

  /** Sets the columns at these places. The number of statements depends on the kinds of change, not on the number of rows. */
  private updateSql(places: string): string {
    let sql = this.updates.get(places);
    if (!sql) {
      const named = this.entries.filter((_, place) => places.includes(String.fromCharCode(place)));
      sql = `UPDATE ${this.name} SET ${named.map(([, { name }]) => `${name} = ?`).join(', ')} WHERE tenant_id = ? AND id = ?`;
      if (this.updates.size >= MOST_UPDATES) this.updates.clear();
      this.updates.set(places, sql);
    }
    return sql;
  }
}

/**
 * Declares a table. `audit` is its record kind in the audit: repositories report every change of such a table to the
 * recorder. Tables without it are not audited.
 */
export const table = <C extends Columns>(
  name: string,
  columns: C,
  { audit = null, facts = [] }: { readonly audit?: string | null; readonly facts?: readonly string[] } = {},
): Table<C> => new Table(name, columns, { auditedAs: audit, facts });
