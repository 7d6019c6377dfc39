import type { Knex } from 'knex';
import type { Deadline } from '../deadline.js';
import type { Row, Transaction, Value } from './database.js';
import type { Insertion } from './insertion.js';
import type { PostgresTransaction } from './postgres-transaction.js';

/** A part of a shared transaction asked for a row that another part has locked: it has to run by itself. */
export class LockedByAnother extends Error {
  override readonly name = 'LockedByAnother';
}

/** A part of a shared transaction needs what only a transaction of its own can do. */
export class NeedsItsOwn extends Error {
  override readonly name = 'NeedsItsOwn';
}

/** A part needs what only a transaction of its own can do, before the others: they depend on it. */
export class GoesFirst extends NeedsItsOwn {}

/** A change may return rows. */
const CHANGES = /\b(?:INSERT|UPDATE|DELETE)\b/;

interface Last {
  readonly all: readonly unknown[];
  work(all: readonly unknown[]): Promise<void>;
}

/** What the parts of a transaction have in common. */
export interface Common {
  /** The ids of the rows that they have locked. */
  readonly locked: Set<string>;
  /** The locks of `hold`, and what was read with `steady`, by statement and values. */
  readonly held: Set<string>;
  readonly read: Map<string, Promise<readonly Row[]>>;
  /** What ends the transaction, by key. */
  readonly last: Map<string, Last>;
}

/**
 * One of several writes in one transaction, whose statements are sent together. PostgreSQL does not hold them apart: a
 * row that one part has locked is refused to the others here, and nothing that a part has changed can be undone without
 * the rest.
 */
export class PostgresPart implements Transaction {
  readonly dialect = 'postgres';
  writes = 0;
  private hasReturnedRows = false;
  private endsWithChanges = false;
  /** The place of its last statement: none of its rows may be inserted before. */
  private place = 0;
  private spoilt: NeedsItsOwn | LockedByAnother | undefined;

  constructor(
    readonly whole: PostgresTransaction,
    private readonly common: Common,
    private readonly deadline: Deadline | undefined,
  ) {}

  /** Whether it may have changed anything. */
  get hasChanged(): boolean {
    return this.writes > 0 || this.hasReturnedRows || this.endsWithChanges;
  }

  // The promises of the whole are passed on as they are, as each one around them takes time.
  all(sql: string, values: readonly Value[] = []): Promise<Row[]> {
    const refusal = this.refusal();
    if (refusal) return refusal;
    this.noteChanges(sql);
    return this.placed(this.whole.all(sql, values));
  }

  steady(sql: string, values: readonly Value[] = []): Promise<readonly Row[]> {
    const refusal = this.refusal();
    if (refusal) return refusal;
    const key = keyOf(sql, values);
    let rows = this.common.read.get(key);
    if (!rows) this.common.read.set(key, (rows = this.whole.all(sql, values)));
    return this.placed(rows);
  }

  get(sql: string, values: readonly Value[] = []): Promise<Row | undefined> {
    const refusal = this.refusal();
    if (refusal) return refusal;
    this.noteChanges(sql);
    return this.placed(this.whole.get(sql, values));
  }

  /** Of a statement that was just given. Of one that another part has given before, the place is later than it had to be. */
  private placed<T>(given: Promise<T>): Promise<T> {
    this.place = this.whole.place;
    return given;
  }

  private noteChanges(sql: string): void {
    if (sql.startsWith('SELECT') || !CHANGES.test(sql)) return;
    this.hasReturnedRows = true;
    this.whole.writes++;
  }

  async getForUpdate(sql: string, values: readonly Value[] = []): Promise<Row | undefined> {
    this.check();
    const row = await this.placed(this.whole.getForUpdate(sql, values));
    if (!row) return undefined;
    const id = String(row['id']);
    if (this.common.locked.has(id)) throw (this.spoilt = new LockedByAnother());
    this.common.locked.add(id);
    return row;
  }

  async run(sql: string, values: readonly Value[] = []): Promise<number> {
    this.check();
    const rowCount = await this.placed(this.whole.run(sql, values));
    if (rowCount > 0) this.writes++;
    return rowCount;
  }

  defer(sql: string, values: readonly Value[] = []): Promise<void> {
    const refusal = this.refusal();
    if (refusal) return refusal;
    this.writes++;
    return this.placed(this.whole.defer(sql, values));
  }

  async insert(insertion: Insertion, rows: readonly (readonly Value[])[]): Promise<void> {
    this.check();
    if (rows.length === 0) return;
    this.writes++;
    this.place = this.whole.insertSince(this.place, insertion, rows);
    const sending = this.whole.sendIfFull();
    if (sending) await sending;
  }

  hold(sql: string, values: readonly Value[] = []): Promise<void> {
    const refusal = this.refusal();
    if (refusal) return refusal;
    const key = keyOf(sql, values);
    const isHeld = this.common.held.has(key);
    this.common.held.add(key);
    return this.placed(isHeld ? Promise.resolve() : this.whole.hold(sql, values));
  }

  table(): Knex.QueryBuilder<Row, Row[]> {
    throw (this.spoilt = new NeedsItsOwn('a query builder runs outside the order of the parts'));
  }

  async last<T>(key: string, one: T, work: (all: readonly T[]) => Promise<void>): Promise<void> {
    this.endsWithChanges = true;
    const before = this.common.last.get(key)?.all ?? [];
    // Whoever asks with a key gives the same kind of thing.
    this.common.last.set(key, { all: [...before, one], work: (all) => work(all as readonly T[]) });
  }

  mustBeAlone(): void {
    throw (this.spoilt = new GoesFirst('others have to wait for what this changes'));
  }

  /** Work that fails before it has changed anything needs no undoing. */
  async savepoint<T>(work: () => Promise<T>): Promise<T> {
    const { writes, endsWithChanges } = this;
    const hadChanged = this.hasReturnedRows;
    try {
      return await work();
    } catch (error) {
      if (this.writes > writes || this.hasReturnedRows !== hadChanged || this.endsWithChanges !== endsWithChanges)
        throw (this.spoilt = new NeedsItsOwn('a part cannot be undone by itself', { cause: error }));
      throw error;
    }
  }

  private refusal(): Promise<never> | undefined {
    try {
      this.check();
      return undefined;
    } catch (error) {
      return Promise.reject(error as Error); // `check` throws nothing else
    }
  }

  /** Throws if nothing of it may be kept, whatever its work has made of the error. */
  check(): void {
    if (this.spoilt) throw this.spoilt;
    this.deadline?.signal.throwIfAborted();
  }
}

const keyOf = (sql: string, values: readonly Value[]): string => JSON.stringify([sql, ...values]);
