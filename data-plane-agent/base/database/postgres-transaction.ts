import type { Knex } from 'knex';
import type pg from 'pg';
import type { Row, SavepointOptions, Transaction, Value } from './database.js';
import { DatabaseError } from './errors.js';
import type { Insertion } from './insertion.js';
import { sendBatch, type Outcome, type Statement, type Without } from './postgres-batch.js';
import type { StatementDeadline } from './postgres-deadline.js';
import { ask } from './postgres-loss.js';
import { Pipeline } from './postgres-pipeline.js';
import { numbered } from './postgres-statements.js';

/** What a transaction sets for itself. */
export interface Settings {
  /** The tenant's id, which row-level security reads; empty for work that belongs to no tenant. */
  readonly tenant: string;
  readonly timeoutMs: number | undefined;
  /** How long a statement waits for a lock at most. */
  readonly lockTimeoutMs?: number | undefined;
}

export class PostgresTransaction implements Transaction {
  readonly dialect = 'postgres';
  readonly whole = this;
  writes = 0;
  private open = true;
  private depth = 0;
  private readonly pipeline: Pipeline;

  constructor(
    private readonly client: pg.Client,
    private readonly knex: Knex,
    private readonly statements: StatementDeadline | undefined,
  ) {
    this.pipeline = new Pipeline(client, statements);
  }

  /** The transaction begins with its first statement, in the same message. */
  async begin(sql: string, settings: Settings): Promise<void> {
    this.pipeline.defer({ statement: statementOf(sql) });
    this.pipeline.defer({
      statement: setting(settings),
      wantsRows: true,
      // To be cancelled, the first statement needs the id of the process before its own answer.
      isUrgent: this.statements !== undefined,
      done: ({ rows }) => this.statements?.begin(Number(rows[0]?.['pid'])),
    });
    this.pipeline.begins();
  }

  steady(sql: string, values: readonly Value[] = []): Promise<Row[]> {
    return this.all(sql, values);
  }

  async all(sql: string, values: readonly Value[] = []): Promise<Row[]> {
    const { rows } = await this.query(sql, values, { wantsRows: true });
    return rows;
  }

  async get(sql: string, values: readonly Value[] = []): Promise<Row | undefined> {
    const { rows } = await this.query(sql, values, { wantsRows: true });
    return rows[0];
  }

  getForUpdate(sql: string, values: readonly Value[] = []): Promise<Row | undefined> {
    return this.get(`${sql} FOR UPDATE`, values);
  }

  async run(sql: string, values: readonly Value[] = []): Promise<number> {
    const { rowCount } = await this.query(sql, values, { wantsRows: false });
    if (rowCount > 0) this.writes++;
    return rowCount;
  }

  async defer(sql: string, values: readonly Value[] = []): Promise<void> {
    this.put(sql, values);
    if (this.pipeline.isFull) await this.pipeline.flush();
    this.writes++;
  }

  async hold(sql: string, values: readonly Value[] = []): Promise<void> {
    this.put(sql, values);
    if (this.pipeline.isFull) await this.pipeline.flush();
  }

  async insert(insertion: Insertion, rows: readonly (readonly Value[])[]): Promise<void> {
    if (rows.length === 0) return;
    this.insertSince(this.place, insertion, rows);
    await this.sendIfFull();
  }

  /**
   * The rows go with others into a statement that waits, unless that is before the statement at the place `since`.
   * Returns the place of theirs.
   */
  insertSince(since: number, insertion: Insertion, rows: readonly (readonly Value[])[]): number {
    this.refuseWhenEnded();
    this.statements?.check();
    const place = this.pipeline.insert(insertion, rows, since);
    this.writes++;
    return place;
  }

  /** The place of the statement that was given last. */
  get place(): number {
    return this.pipeline.place;
  }

  /** Sends what waits if it is much. */
  sendIfFull(): Promise<void> | undefined {
    return this.pipeline.isFull ? this.pipeline.flush() : undefined;
  }

  private put(sql: string, values: readonly Value[]): void {
    this.refuseWhenEnded();
    this.statements?.check();
    this.pipeline.defer({ statement: statementOf(sql, values) });
  }

  table(name: string): Knex.QueryBuilder<Row, Row[]> {
    this.refuseWhenEnded();
    this.statements?.check();
    this.writes++;
    return this.knex<Row, Row[]>(name).connection({
      query: (...query: Parameters<pg.Client['query']>) => {
        const [, done] = query as unknown as [unknown, (error: unknown) => void]; // as knex calls it
        this.pipeline.flush().then(() => {
          this.client.query(...query);
        }, done);
      },
    });
  }

  last<T>(_key: string, one: T, work: (all: readonly T[]) => Promise<void>): Promise<void> {
    return work([one]);
  }

  mustBeAlone(): void {
    // It is; `PostgresPart` is what may not be.
  }

  async savepoint<T>(work: () => Promise<T>, { isLazy = false }: SavepointOptions = {}): Promise<T> {
    this.refuseWhenEnded();
    const name = `s${++this.depth}`;
    let isSet = false;
    const statement = statementOf(`SAVEPOINT ${name}`);
    const place = this.pipeline.defer({ statement, done: () => (isSet = true) });
    try {
      const result = await work();
      const release = statementOf(`RELEASE SAVEPOINT ${name}`);
      if (isLazy) this.pipeline.defer({ statement: release });
      else await this.pipeline.ask(release, { wantsRows: false });
      return result;
    } catch (error) {
      const wasSent = !this.pipeline.takeBack(place);
      await this.pipeline.idle();
      // Otherwise a statement before the savepoint has failed, and with it the transaction.
      if (wasSent && isSet) {
        await ask(this.client, `ROLLBACK TO SAVEPOINT ${name}; RELEASE SAVEPOINT ${name}`);
        this.pipeline.recovered();
      }
      throw error;
    } finally {
      this.depth--;
    }
  }

  /** If the connection is lost now, the commit may or may not have happened. */
  async commit(): Promise<void> {
    this.open = false;
    let without: Without | undefined;
    try {
      if (this.pipeline.isUsed) await this.pipeline.ask(COMMIT, { wantsRows: false, why: (why) => (without = why) });
    } catch (error) {
      const isInDoubt = without === 'lost' && this.writes > 0;
      throw isInDoubt ? new DatabaseError('in_doubt', undefined, error) : error;
    }
    await this.pipeline.idle();
  }

  /** Nothing is kept of the transaction, and no statement of it runs any more. */
  async rollBack(): Promise<void> {
    this.open = false;
    this.pipeline.takeBack(undefined);
    await this.pipeline.idle();
    await this.statements?.over();
    if (this.pipeline.hasBegun) await rollBack(this.client);
  }

  private query(sql: string, values: readonly Value[], how: { readonly wantsRows: boolean }): Promise<Outcome> {
    this.refuseWhenEnded();
    this.statements?.check();
    return this.pipeline.ask(statementOf(sql, values), how);
  }

  private refuseWhenEnded(): void {
    if (!this.open) throw new Error('a statement was run after its transaction had ended');
  }
}

/** The first row of a statement without a transaction of its own; each of its values is `value`. */
export function glanced(
  client: pg.Client,
  sql: string,
  { value, ...settings }: Settings & { readonly value: string },
): Promise<Row | undefined> {
  const statement = { ...numbered(sql), values: Array.from(sql.matchAll(/\?/g), () => value) };
  return new Promise((found, reject) => {
    const ignored = { wantsRows: false, done: () => undefined, failed: () => undefined };
    // The statements of one message are one transaction.
    void sendBatch(client, [
      { ...ignored, statement: setting(settings) },
      { statement, wantsRows: true, done: ({ rows }) => found(rows[0]), failed: reject },
    ]);
  });
}

/** A connection that cannot roll back is broken: knex discards it. The original error is the one to report. */
export async function rollBack(client: pg.Client): Promise<void> {
  await client.query('ROLLBACK').catch((error: unknown) => {
    Object.assign(client, { __knex__disposed: error });
  });
}

const statementOf = (sql: string, values: readonly Value[] = []): Statement => ({ ...numbered(sql), values });

const COMMIT = statementOf('COMMIT');

/** The settings are local to the transaction, so that the next user of the connection does not inherit them. */
function setting({ tenant, timeoutMs, lockTimeoutMs }: Settings): Statement {
  const set = { 'duebook.tenant': tenant, statement_timeout: timeoutMs, lock_timeout: lockTimeoutMs };
  const given = Object.entries(set).filter(([, value]) => value !== undefined);
  return statementOf(
    `SELECT pg_backend_pid() AS pid, ${given.map(([name]) => `set_config('${name}', ?, true)`).join(', ')}`,
    given.map(([, value]) => String(value)),
  );
}
