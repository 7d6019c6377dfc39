import type { Knex } from 'knex';
import type { Deadline } from '../deadline.js';

export type Dialect = 'sqlite' | 'postgres';
/**
 * What travels to and from a column. Days, money and instants are encoded by `columns.ts`; there are no Dates and no
 * booleans here.
 */
export type Value = string | number | null;
export type Row = Record<string, Value>;

/**
 * One open transaction. Repositories are made from it, so that no statement can leave it.
 * SQL is written once for both databases with `?` for each value; the text is the key under which the statement is
 * prepared, so values never go into it, and texts must be of few, fixed shapes.
 */
export interface Transaction {
  readonly dialect: Dialect;
  all(sql: string, values?: readonly Value[]): Promise<Row[]>;
  /** The first row, if any. */
  get(sql: string, values?: readonly Value[]): Promise<Row | undefined>;
  /** The number of rows that changed. */
  run(sql: string, values?: readonly Value[]): Promise<number>;
  /** A query builder bound to this transaction, for statements that are not on a hot path. */
  table(name: string): Knex.QueryBuilder<Row, Row[]>;
  /**
   * Runs `work` in a savepoint: a failure inside undoes only what it did, and is thrown on.
   * For the rows of an import, which fail one by one.
   */
  savepoint<T>(work: () => Promise<T>): Promise<T>;
  /** How many statements of this transaction changed rows. */
  readonly writes: number;
}

export interface Database {
  readonly dialect: Dialect;
  /** One consistent snapshot; writing in it fails. */
  read<T>(scope: Scope, work: (tx: Transaction) => Promise<T>): Promise<T>;
  /**
   * Runs `work` in a transaction and answers once it is durable. Several waiting writes may share one commit, each in a
   * savepoint of its own, and a serialisation conflict runs `work` again: it must do nothing outside the transaction,
   * and must not assume that it alone opened it.
   */
  write<T>(scope: Scope, work: (tx: Transaction) => Promise<T>): Promise<T>;
  /** Answers when the database does within `timeoutMs`. */
  ping(timeoutMs: number): Promise<boolean>;
  /** Free and busy connections, for the metrics. */
  pool(): { readonly used: number; readonly free: number; readonly waiting: number };
  /**
   * A connection outside any transaction, for the migrator alone. On PostgreSQL it waits for whoever has it until he
   * has done, which the migration of a large database may take an hour to, and says so at once and then every ten
   * seconds.
   */
  exclusive<T>(work: (connection: Exclusive) => Promise<T>, waiting?: Waiting): Promise<T>;
  close(): Promise<void>;
}

/**
 * Whose rows the transaction may touch: PostgreSQL enforces it with row-level security. `null` for work that belongs to
 * no tenant.
 */
export interface Scope {
  readonly tenantId: string | null;
  /**
   * Until when it is waited for: for the connection, and from statement to statement. Then nothing of it is committed,
   * and the reason of its signal is thrown. On PostgreSQL a statement that is under way is cancelled. Once the commit
   * is under way it is too late.
   */
  readonly deadline?: Deadline | undefined;
}

/** Told while the migration lock is waited for. `heldBy` is for an operator. */
export type Waiting = (wait: { readonly heldBy: string; readonly waitedMs: number }) => void;

/** A connection that holds the migration lock: statements run one by one, `transaction` wraps some of them. */
export interface Exclusive {
  readonly dialect: Dialect;
  run(sql: string, values?: readonly Value[]): Promise<void>;
  all(sql: string, values?: readonly Value[]): Promise<Row[]>;
  transaction<T>(work: () => Promise<T>): Promise<T>;
}
