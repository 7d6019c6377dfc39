import type { Database as Connection, Statement } from 'better-sqlite3';
import type { Knex } from 'knex';
import type { Deadline } from '../deadline.js';
import { yielding } from '../yielding.js';
import { objectOf } from '../compiled-objects.js';
import type { Row, SavepointOptions, Transaction, Value } from './database.js';
import { insertions, type Insertion } from './insertion.js';

/** A prepared statement that builds rows from arrays, which is faster than letting the driver build objects. */
class Prepared {
  private readonly named: (values: readonly Value[]) => Row;

  constructor(readonly statement: Statement) {
    const columns = statement.reader ? statement.raw().columns() : [];
    this.named = objectOf(columns.map(({ name }) => name));
  }

  all(values: readonly Value[]): Row[] {
    return (this.statement.all(...values) as Value[][]).map(this.named);
  }

  get(values: readonly Value[]): Row | undefined {
    const row = this.statement.get(...values) as Value[] | undefined;
    return row && this.named(row);
  }
}

/**
 * SQLite marks a statement to be planned again for each execution if its plan may depend on a value: on the number of a
 * `LIMIT`, or on a compared value being 0 or 1. The driver clears the values after each execution, which counts as a
 * change, so that nearly all statements would be parsed and planned each time. An expression in the place of the value
 * prevents it; a sign before a value changes nothing else.
 */
const withStablePlan = (sql: string): string => sql.replaceAll('?', '+?');

/** Prepared statements of one connection, by their text. */
export class Statements {
  private readonly prepared = new Map<string, Prepared>();
  constructor(private readonly connection: Connection) {}

  get(sql: string): Prepared {
    let prepared = this.prepared.get(sql);
    if (!prepared) {
      if (this.prepared.size >= 1_000) this.prepared.clear();
      this.prepared.set(sql, (prepared = new Prepared(this.connection.prepare(withStablePlan(sql)))));
    }
    return prepared;
  }
}

/**
 * With a savepoint SQLite copies each page that changes after it, although most work succeeds. So a transaction is first
 * tried without any. If work that should be undone by itself fails after it has changed something, the transaction
 * `isSpoilt`: it refuses statements, and has to be rolled back and run again with savepoints.
 */
export class SqliteTransaction implements Transaction {
  readonly dialect = 'sqlite';
  readonly whole = this;
  writes = 0;
  isSpoilt = false;
  /** Statements that may have changed something; `writes` does not count those that return rows. */
  changes = 0;
  private open = true;
  private depth = 0;
  /** Yields to the event loop: the driver is synchronous, so thousands of statements would otherwise block it. */
  private readonly yieldIfDue = yielding();
  private readonly statements: Statements;
  private readonly opener: Knex;
  readonly hasSavepoints: boolean;
  private deadline: Deadline | undefined;

  constructor(
    private readonly connection: Connection,
    {
      statements,
      opener,
      hasSavepoints,
      deadline,
    }: {
      readonly statements: Statements;
      readonly opener: Knex;
      readonly hasSavepoints: boolean;
      readonly deadline?: Deadline | undefined;
    },
  ) {
    this.statements = statements;
    this.opener = opener;
    this.hasSavepoints = hasSavepoints;
    this.deadline = deadline;
  }

  /** Runs one of several units of work that share the transaction, each with its own deadline. */
  async until<T>(deadline: Deadline | undefined, work: () => Promise<T>): Promise<T> {
    this.deadline = deadline;
    try {
      const result = await work();
      deadline?.signal.throwIfAborted();
      return result;
    } finally {
      this.deadline = undefined;
    }
  }

  async all(sql: string, values: readonly Value[] = []): Promise<Row[]> {
    const prepared = this.prepared(sql);
    const rows = prepared.all(values);
    if (!prepared.statement.readonly) this.changes++;
    const due = this.yieldIfDue();
    if (due) await due;
    return rows;
  }

  steady(sql: string, values: readonly Value[] = []): Promise<Row[]> {
    return this.all(sql, values);
  }

  async get(sql: string, values: readonly Value[] = []): Promise<Row | undefined> {
    const prepared = this.prepared(sql);
    const row = prepared.get(values);
    if (!prepared.statement.readonly) this.changes++;
    const due = this.yieldIfDue();
    if (due) await due;
    return row;
  }

  getForUpdate(sql: string, values: readonly Value[] = []): Promise<Row | undefined> {
    return this.get(sql, values);
  }

  async run(sql: string, values: readonly Value[] = []): Promise<number> {
    const changes = this.change(sql, values);
    const due = this.yieldIfDue();
    if (due) await due;
    return changes;
  }

  async defer(sql: string, values: readonly Value[] = []): Promise<void> {
    this.change(sql, values);
    const due = this.yieldIfDue();
    if (due) await due;
  }

  async insert(insertion: Insertion, rows: readonly (readonly Value[])[]): Promise<void> {
    for (const { sql, values } of insertions(this.dialect, insertion, rows)) {
      this.change(sql, values);
      const due = this.yieldIfDue();
      if (due) await due;
    }
  }

  private change(sql: string, values: readonly Value[]): number {
    const { changes } = this.prepared(sql).statement.run(...values);
    if (changes > 0) {
      this.writes++;
      this.changes++;
    }
    return changes;
  }

  async hold(sql: string, values: readonly Value[] = []): Promise<void> {
    await this.all(sql, values);
  }

  table(name: string): Knex.QueryBuilder<Row, Row[]> {
    this.refuseWhenEnded();
    this.deadline?.signal.throwIfAborted();
    this.changes++;
    this.writes++; // the builder does not report writes; too high a count is harmless
    return this.opener<Row, Row[]>(name).connection(this.connection);
  }

  last<T>(_key: string, one: T, work: (all: readonly T[]) => Promise<void>): Promise<void> {
    return work([one]);
  }

  mustBeAlone(): void {
    // Writes that share a transaction run one after the other.
  }

  async savepoint<T>(work: () => Promise<T>, { isUndoneAlone = false }: SavepointOptions = {}): Promise<T> {
    return this.hasSavepoints || isUndoneAlone ? this.marked(work) : this.unmarked(work);
  }

  private async unmarked<T>(work: () => Promise<T>): Promise<T> {
    const before = this.changes;
    try {
      return await work();
    } catch (error) {
      this.isSpoilt ||= this.changes > before;
      throw error;
    }
  }

  private async marked<T>(work: () => Promise<T>): Promise<T> {
    const name = `s${++this.depth}`;
    this.control(`SAVEPOINT ${name}`);
    try {
      const result = await work();
      this.control(`RELEASE ${name}`);
      return result;
    } catch (error) {
      if (this.connection.inTransaction) this.connection.exec(`ROLLBACK TO ${name}; RELEASE ${name}`);
      throw error;
    } finally {
      this.depth--;
    }
  }

  /** Runs transaction control statements, prepared like all others. */
  control(sql: string): void {
    this.statements.get(sql).statement.run();
  }

  end(): void {
    this.open = false;
  }

  private prepared(sql: string): Prepared {
    this.refuseWhenEnded();
    this.deadline?.signal.throwIfAborted();
    return this.statements.get(sql);
  }

  private refuseWhenEnded(): void {
    if (!this.open) throw new Error('a statement was run after its transaction had ended');
    if (this.isSpoilt) throw new Error('the transaction is run again, because a part of it has failed');
  }
}
