import type { Knex } from 'knex';
import type { Deadline } from '../deadline.js';
import type { Insertion } from './insertion.js';

export type Dialect = 'sqlite' | 'postgres';
/**
 * A column value as the driver sees it. `columns.ts` encodes days, money and instants; Dates and booleans never appear
 * here.
 */
export type Value = string | number | null;
export type Row = Record<string, Value>;

/**
 * One open transaction. Repositories are created from it, so all their statements run inside it. SQL is written once
 * for both databases, with `?` for each value. Statements are prepared by their text: never interpolate values, and
 * keep the number of distinct texts small.
 */
export interface Transaction {
  readonly dialect: Dialect;
  all(sql: string, values?: readonly Value[]): Promise<Row[]>;
  /**
   * As `all`, for what nobody can change until the transaction ends, because of a lock that was taken before with `hold`,
   * or what may be as old as the transaction without harm. Writes that share the transaction read it once.
   */
  steady(sql: string, values?: readonly Value[]): Promise<readonly Row[]>;
  /** The first row, if any. */
  get(sql: string, values?: readonly Value[]): Promise<Row | undefined>;
  /**
   * As `get`, of a row with its `id`, and locks the row until the transaction ends, so that what is computed from it
   * stays correct. SQLite has one writer.
   */
  getForUpdate(sql: string, values?: readonly Value[]): Promise<Row | undefined>;
  /** The number of rows that changed. */
  run(sql: string, values?: readonly Value[]): Promise<number>;
  /**
   * A change whose outcome is not looked at. On PostgreSQL it is sent with the next statement whose outcome is awaited,
   * or with the commit, and its error is thrown there: to handle an error, use `run`. There it counts in `writes` even if
   * it changes nothing.
   */
  defer(sql: string, values?: readonly Value[]): Promise<void>;
  /**
   * As `defer`, of new rows. Writes that share the transaction insert theirs with the same statements, some of which may
   * be run earlier than those of another write that were sent before.
   */
  insert(insertion: Insertion, rows: readonly (readonly Value[])[]): Promise<void>;
  /**
   * As `defer`, for a statement that takes a lock until the transaction ends, for the statements after it, and changes
   * nothing. Writes that share the transaction take it once.
   */
  hold(sql: string, values?: readonly Value[]): Promise<void>;
  /** A query builder bound to this transaction, for statements off the hot path. */
  table(name: string): Knex.QueryBuilder<Row, Row[]>;
  /**
   * Runs `work` in a savepoint: an error rolls back only what `work` did, and is rethrown. Used for rows of an import,
   * which fail one by one.
   */
  savepoint<T>(work: () => Promise<T>, options?: SavepointOptions): Promise<T>;
  /**
   * Runs work that ends the transaction, for what others wait for until the commit. It gets what each of the writes that
   * share the transaction has given for the same key, of which the last to ask runs it, once all have ended.
   */
  last<T>(key: string, one: T, work: (all: readonly T[]) => Promise<void>): Promise<void>;
  /**
   * To be called before changes that must not share the transaction with others, since they rely on others waiting for
   * them, as for a unique index. A write that does runs again by itself.
   */
  mustBeAlone(): void;
  /** The number of statements in this transaction that changed rows. */
  readonly writes: number;
  /** What is committed: the same for all writes that share it. */
  readonly whole: object;
}

export interface SavepointOptions {
  /**
   * What `work` deferred need not have been run when the savepoint ends: an error of it then fails the transaction. For
   * callers that handle no error of the database.
   */
  readonly isLazy?: boolean;
  /**
   * SQLite undoes `work` by itself as well, instead of running the whole transaction again without it: for long
   * transactions, and for work that ends with an error by intention.
   */
  readonly isUndoneAlone?: boolean;
}

export interface WriteOptions {
  /**
   * On PostgreSQL, too, the work may share its transaction with others of its tenant that declare the same, and run at
   * the same time as they. So it must compute what it changes from nothing that they change, except from rows that it
   * reads by `getForUpdate`, which is the only lock that holds them apart, and must not change what they read by
   * `steady`.
   */
  readonly mayShare?: boolean;
}

export interface Database {
  readonly dialect: Dialect;
  /**
   * Runs `work` on a consistent, read-only snapshot, and again if the server ends it because of a conflict, as with a
   * migration that takes tables in another order. It must therefore have no effects outside the transaction.
   */
  read<T>(scope: Scope, work: (tx: Transaction) => Promise<T>): Promise<T>;
  /**
   * The first row of one statement on what is committed now, in a single round trip. Its only value, `?`, is `id`, which
   * is a UUID: that of the tenant by default.
   */
  glance(scope: Scope, sql: string, id?: string): Promise<Row | undefined>;
  /**
   * Differs whenever something was committed in between, by any process. Undefined where it costs as much to ask for it
   * as to read: on PostgreSQL.
   */
  generation(): number | undefined;
  /**
   * Runs `work` in a transaction and resolves once it is durable. Several queued writes may share one, on PostgreSQL
   * those that `mayShare`, and `work` is run again after a serialisation conflict or after a part of the transaction has
   * failed. It must therefore have no effects outside the transaction, and must not assume that it is the only work in
   * it.
   */
  write<T>(scope: Scope, work: (tx: Transaction) => Promise<T>, options?: WriteOptions): Promise<T>;
  /**
   * Waits for the writes of this process that were queued before, and lets none begin until the returned function is
   * called: for another thread that writes to the same SQLite file. At once on PostgreSQL, where writers do not wait for
   * each other.
   */
  pauseWrites(): Promise<() => void>;
  /** Resolves to whether the database responded within `timeoutMs`. */
  ping(timeoutMs: number): Promise<boolean>;
  /** Connection counts, for the metrics. */
  pool(): { readonly used: number; readonly free: number; readonly waiting: number };
  /**
   * A connection outside any transaction, used only by the migrator. On PostgreSQL it waits until no other process
   * holds the migration lock, which can take an hour while a large database is migrated; `waiting` is called at once
   * and then every ten seconds.
   */
  exclusive<T>(work: (connection: Exclusive) => Promise<T>, waiting?: Waiting): Promise<T>;
  close(): Promise<void>;
}

/**
 * The tenant whose rows the transaction may access; PostgreSQL enforces it with row-level security. `null` for work
 * that belongs to no tenant.
 */
export interface Scope {
  readonly tenantId: string | null;
  /**
   * Applies to waiting for a connection and to every statement. When it passes, nothing is committed and the reason of
   * its signal is thrown; on PostgreSQL the running statement is cancelled. It has no effect once the commit has
   * started.
   */
  readonly deadline?: Deadline | undefined;
}

/** Called while waiting for the migration lock. `heldBy` is a description for operators. */
export type Waiting = (wait: { readonly heldBy: string; readonly waitedMs: number }) => void;

/** A connection that holds the migration lock. Statements run in autocommit mode unless wrapped in `transaction`. */
export interface Exclusive {
  readonly dialect: Dialect;
  run(sql: string, values?: readonly Value[]): Promise<void>;
  all(sql: string, values?: readonly Value[]): Promise<Row[]>;
  transaction<T>(work: () => Promise<T>): Promise<T>;
}
