import { setTimeout as sleep } from 'node:timers/promises';
import knex, { type Knex } from 'knex';
import pg from 'pg';
import type { Deadline } from '../deadline.js';
import { unlessAborted } from '../unless-aborted.js';
import type { Database, Exclusive, Row, Scope, Transaction, Value, Waiting } from './database.js';
import { DatabaseError, isDatabaseError } from './errors.js';
import { StatementDeadline } from './postgres-deadline.js';
import { ask, commit, noteLoss, translated } from './postgres-loss.js';

/** The number of attempts for a transaction with serialisation conflicts. */
const ATTEMPTS = 5;
/** The server cancels statements that run longer, because no client waits that long. */
const STATEMENT_TIMEOUT_MS = 30_000;
const ACQUIRE_TIMEOUT_MS = 5_000;

/** Opens a PostgreSQL database. Every transaction sets its tenant, which row-level security reads. */
export function openPostgres(url: string, options: { readonly poolMax: number }): Database {
  const connection = {
    connectionString: url,
    types: { getTypeParser },
    statement_timeout: STATEMENT_TIMEOUT_MS,
    idle_in_transaction_session_timeout: STATEMENT_TIMEOUT_MS,
    connectionTimeoutMillis: ACQUIRE_TIMEOUT_MS,
    application_name: 'duebook',
  };
  const pool = { min: 0, max: options.poolMax, afterCreate: noteLoss };
  return new PostgresDatabase(
    knex({ client: 'pg', connection, pool, acquireConnectionTimeout: ACQUIRE_TIMEOUT_MS, log: SILENT_LOG }),
    connection,
  );
}

/** knex logs to the console what it also throws; the caller logs it once, as JSON. */
const SILENT_LOG = {
  warn: () => undefined,
  error: () => undefined,
  deprecate: () => undefined,
  debug: () => undefined,
};

const INT8 = 20;
const NUMERIC = 1700;

/**
 * The driver returns int8 and numeric values as text. Ours are limited to safe integers, so they are parsed to numbers;
 * a larger one is an error.
 */
const getTypeParser = (oid: number, format = 'text'): ((text: string) => unknown) =>
  oid === INT8 || oid === NUMERIC ? safeNumber : pg.types.getTypeParser(oid, format as 'text');

function safeNumber(text: string): number {
  const number = Number(text);
  if (!Number.isSafeInteger(number)) throw new RangeError(`${text} is not a safe integer`);
  return number;
}

class PostgresDatabase implements Database {
  readonly dialect = 'postgres';
  constructor(
    private readonly knex: Knex,
    private readonly connection: pg.ClientConfig,
  ) {}

  read<T>(scope: Scope, work: (tx: Transaction) => Promise<T>): Promise<T> {
    return this.transaction('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY', scope, work);
  }

  async glance(scope: Scope, sql: string, id = scope.tenantId): Promise<Row | undefined> {
    const tenant = tenantSetting(scope);
    const value = tenantSetting({ tenantId: id });
    const { deadline } = scope;
    const timeoutMs = Math.max(1, Math.min(STATEMENT_TIMEOUT_MS, Math.ceil(deadline?.remaining() ?? Infinity)));
    // Several statements in one message are one transaction.
    const text = `SELECT set_config('duebook.tenant', '${tenant}', true), set_config('statement_timeout', '${timeoutMs}', true); ${sql.replaceAll('?', `'${value}'`)}`;
    const asked = this.withClient(async (client) => {
      // The driver returns a list for several statements, which its types do not say.
      const [, { rows }] = (await ask(client, text)) as unknown as [pg.QueryResult, pg.QueryResult<Row>];
      return rows[0];
    }, deadline);
    // Without a cancellation: the server's own timeout ends the statement at the same time.
    return deadline ? unlessAborted(deadline.signal, asked) : asked;
  }

  generation(): undefined {
    return undefined;
  }

  async write<T>(scope: Scope, work: (tx: Transaction) => Promise<T>): Promise<T> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await this.transaction('BEGIN', scope, work);
      } catch (error) {
        if (attempt === ATTEMPTS || !isDatabaseError(error, 'conflict')) throw error;
        await sleep(Math.random() * 2 ** attempt * 5);
        scope.deadline?.signal.throwIfAborted();
      }
    }
  }

  pauseWrites(): Promise<() => void> {
    return Promise.resolve(() => {});
  }

  private async transaction<T>(begin: string, scope: Scope, work: (tx: Transaction) => Promise<T>): Promise<T> {
    const { deadline } = scope;
    return this.withClient(async (client) => {
      const statements = deadline && new StatementDeadline(deadline, this.connection);
      const tx = new PostgresTransaction(client, this.knex, statements);
      try {
        // One round trip. The settings are local to the transaction, so the next user of the connection does not
        // inherit them.
        const timeout = statements
          ? `, pg_backend_pid() AS pid, set_config('statement_timeout', '${statements.timeoutMs(STATEMENT_TIMEOUT_MS)}', true)`
          : '';
        const begun: unknown = await ask(
          client,
          `${begin}; SELECT set_config('duebook.tenant', '${tenantSetting(scope)}', true)${timeout}`,
        );
        statements?.begin(processIdIn(begun));
        const result = await work(tx);
        statements?.check();
        await commit(client, tx);
        return result;
      } catch (error) {
        await statements?.over();
        await rollBack(client);
        throw statements ? statements.reasonOf(error) : error;
      } finally {
        await statements?.over();
        tx.end();
      }
    }, deadline);
  }

  private async withClient<T>(work: (client: pg.Client) => Promise<T>, deadline?: Deadline): Promise<T> {
    const client = await this.acquired(deadline);
    try {
      return await work(client);
    } catch (error) {
      throw translated(client, error);
    } finally {
      await this.knex.client.releaseConnection(client);
    }
  }

  private async acquired(deadline: Deadline | undefined): Promise<pg.Client> {
    deadline?.signal.throwIfAborted();
    const acquiring = this.knex.client.acquireConnection() as Promise<pg.Client>;
    try {
      return await (deadline ? unlessAborted(deadline.signal, acquiring) : acquiring);
    } catch (error) {
      // For any reason: the server is down, shutting down, refuses the login or has no free slot, or the pool is
      // exhausted.
      if (!deadline?.signal.aborted) throw new DatabaseError('unreachable', undefined, error);
      // A connection that arrives late goes back to the pool. A late error is ignored, since no caller waits any more.
      acquiring.then(
        (late) => this.knex.client.releaseConnection(late) as Promise<void>,
        () => undefined,
      );
      throw deadline.signal.reason;
    }
  }

  async ping(timeoutMs: number): Promise<boolean> {
    const answer = this.withClient((client) => client.query('SELECT 1')).then(
      () => true,
      () => false,
    );
    return Promise.race([answer, sleep(timeoutMs, false, { ref: false })]);
  }

  pool() {
    const pool = this.knex.client.pool as { numUsed(): number; numFree(): number; numPendingAcquires(): number };
    return { used: pool.numUsed(), free: pool.numFree(), waiting: pool.numPendingAcquires() };
  }

  exclusive<T>(work: (connection: Exclusive) => Promise<T>, waiting?: Waiting): Promise<T> {
    return this.withClient(async (client) => {
      await migrationLock(client, waiting);
      const all = async (sql: string, values: readonly Value[] = []) =>
        (await client.query({ text: numbered(sql).text, values: [...values] })).rows as Row[];
      try {
        // Creating an index on a large table takes long. Waiting for a lock stays limited, because other statements
        // queue behind the one that waits.
        await client.query(`SET lock_timeout = ${STATEMENT_TIMEOUT_MS}; SET statement_timeout = 0`);
        return await work({
          dialect: 'postgres',
          run: async (sql, values) => void (await all(sql, values)),
          all,
          transaction: async (inner) => {
            await client.query('BEGIN');
            try {
              const result = await inner();
              await client.query('COMMIT');
              return result;
            } catch (error) {
              await rollBack(client);
              throw error;
            }
          },
        });
      } finally {
        await client.query(`RESET lock_timeout; RESET statement_timeout; SELECT pg_advisory_unlock(${MIGRATION_LOCK})`);
      }
    });
  }

  async close(): Promise<void> {
    await this.knex.destroy();
  }
}

/** An arbitrary number that no other program on the same database uses. */
const MIGRATION_LOCK = 7_233_921_046;
const LOCK_STEP_MS = 100;
const REPORT_EVERY_MS = 10_000;

/** Polls, because a single statement that waits would be cancelled by its timeout. */
async function migrationLock(client: pg.Client, waiting: Waiting | undefined): Promise<void> {
  const begun = performance.now();
  for (let reportAt = begun; ; await sleep(LOCK_STEP_MS)) {
    if ((await client.query<{ mine: boolean }>(`SELECT pg_try_advisory_lock(${MIGRATION_LOCK}) AS mine`)).rows[0]?.mine)
      return;
    const now = performance.now();
    if (!waiting || now < reportAt) continue;
    reportAt = now + REPORT_EVERY_MS;
    const {
      rows: [holder],
    } = await client.query<{ pid: number; client: string | null }>(HOLDER);
    waiting({
      heldBy: holder
        ? `PostgreSQL process ${holder.pid}, for a client at ${holder.client ?? 'a local socket'}`
        : 'no process any more',
      waitedMs: Math.round(now - begun),
    });
  }
}

const HOLDER = `
  SELECT pid, host(client_addr) AS client FROM pg_locks JOIN pg_stat_activity USING (pid)
  WHERE locktype = 'advisory' AND granted AND pg_locks.database = (SELECT oid FROM pg_database WHERE datname = current_database())
    AND (classid::bigint << 32) + objid::bigint = ${MIGRATION_LOCK}`;

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

function tenantSetting({ tenantId }: Scope): string {
  if (tenantId === null) return '';
  if (!UUID.test(tenantId)) throw new Error('an id must be a UUID');
  return tenantId;
}

/** Reads the process id from the results of `BEGIN; SELECT …`, one per statement. */
function processIdIn(results: unknown): number {
  const [
    ,
    {
      rows: [row],
    },
  ] = results as [pg.QueryResult, pg.QueryResult<{ pid: number }>];
  if (!row) throw new Error('a SELECT without FROM returned no row');
  return row.pid;
}

/** A connection that cannot roll back is broken: knex discards it. The original error is the one to report. */
async function rollBack(client: pg.Client): Promise<void> {
  await client.query('ROLLBACK').catch((error: unknown) => {
    Object.assign(client, { __knex__disposed: error });
  });
}

class PostgresTransaction implements Transaction {
  readonly dialect = 'postgres';
  writes = 0;
  private open = true;
  private depth = 0;

  constructor(
    private readonly client: pg.Client,
    private readonly knex: Knex,
    private readonly statements: StatementDeadline | undefined,
  ) {}

  async all(sql: string, values: readonly Value[] = []): Promise<Row[]> {
    return (await this.query(sql, values)).rows as Row[];
  }

  async get(sql: string, values: readonly Value[] = []): Promise<Row | undefined> {
    return (await this.all(sql, values))[0];
  }

  async run(sql: string, values: readonly Value[] = []): Promise<number> {
    const { rowCount } = await this.query(sql, values);
    if (rowCount) this.writes++;
    return rowCount ?? 0;
  }

  table(name: string): Knex.QueryBuilder<Row, Row[]> {
    this.refuseWhenEnded();
    this.statements?.check();
    this.writes++;
    return this.knex<Row, Row[]>(name).connection(this.client);
  }

  async savepoint<T>(work: () => Promise<T>): Promise<T> {
    const name = `s${++this.depth}`;
    await ask(this.client, `SAVEPOINT ${name}`);
    try {
      const result = await work();
      await ask(this.client, `RELEASE SAVEPOINT ${name}`);
      return result;
    } catch (error) {
      await ask(this.client, `ROLLBACK TO SAVEPOINT ${name}; RELEASE SAVEPOINT ${name}`);
      throw error;
    } finally {
      this.depth--;
    }
  }

  end(): void {
    this.open = false;
  }

  private async query(sql: string, values: readonly Value[]): Promise<pg.QueryResult> {
    this.refuseWhenEnded();
    const statement = () => ask(this.client, { ...numbered(sql), values: [...values] });
    return this.statements ? this.statements.run(statement) : statement();
  }

  private refuseWhenEnded(): void {
    if (!this.open) throw new Error('a statement was run after its transaction had ended');
  }
}

/**
 * Each connection keeps named prepared statements for its lifetime, so new combinations of filters beyond this number
 * are not named.
 */
const NAMED = 1_000;
const known = new Map<string, { readonly name: string; readonly text: string }>();

/**
 * The SQL with `$1, $2, …` for `?`, and the name under which connections prepare it. Our statements have no `?` in a
 * literal.
 */
function numbered(sql: string): { readonly name?: string; readonly text: string } {
  const statement = known.get(sql);
  if (statement) return statement;
  let n = 0;
  const text = sql.replaceAll('?', () => `$${++n}`);
  if (known.size >= NAMED) return { text };
  const named = { name: `q${known.size + 1}`, text };
  known.set(sql, named);
  return named;
}
