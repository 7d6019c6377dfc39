import { setTimeout as sleep } from 'node:timers/promises';
import knex, { type Knex } from 'knex';
import type pg from 'pg';
import type { Deadline } from '../deadline.js';
import { unlessAborted } from '../unless-aborted.js';
import type { Database, Exclusive, Row, Scope, Transaction, Value, Waiting, WriteOptions } from './database.js';
import { DatabaseError, isDatabaseError } from './errors.js';
import { StatementDeadline } from './postgres-deadline.js';
import { noteLoss, translated } from './postgres-loss.js';
import { getTypeParser } from './postgres-rows.js';
import { SharedWrites } from './postgres-shared-writes.js';
import { numbered } from './postgres-statements.js';
import { glanced, PostgresTransaction, rollBack } from './postgres-transaction.js';

/** The number of attempts for a transaction with conflicts: of serialisation, and deadlocks, as with a migration. */
const ATTEMPTS = 5;
/** The server cancels statements that run longer, because no client waits that long. */
const STATEMENT_TIMEOUT_MS = 30_000;
const ACQUIRE_TIMEOUT_MS = 5_000;
/**
 * A statement of a shared transaction waits no longer for a lock: the writes then run by themselves, so that they do not
 * wait for what only one of them needs. Less than the second after which the server looks for deadlocks, since two shared
 * transactions lock rows in any order.
 */
const SHARED_LOCK_TIMEOUT_MS = 250;

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

async function afterConflicts<T>(
  { deadline }: { readonly deadline?: Deadline | undefined },
  work: () => Promise<T>,
): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await work();
    } catch (error) {
      if (attempt === ATTEMPTS || !isDatabaseError(error, 'conflict')) throw error;
      await sleep(Math.random() * 2 ** attempt * 5);
      deadline?.signal.throwIfAborted();
    }
  }
}

class PostgresDatabase implements Database {
  readonly dialect = 'postgres';
  private readonly sharedWrites: SharedWrites;

  constructor(
    private readonly knex: Knex,
    private readonly connection: pg.ClientConfig,
  ) {
    this.sharedWrites = new SharedWrites({
      alone: (scope, work) => this.writeAlone(scope, work),
      shared: (scope, work) => this.transaction('BEGIN', { ...scope, lockTimeoutMs: SHARED_LOCK_TIMEOUT_MS }, work),
    });
  }

  read<T>(scope: Scope, work: (tx: Transaction) => Promise<T>): Promise<T> {
    return afterConflicts(scope, () =>
      this.transaction('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY', scope, work),
    );
  }

  async glance(scope: Scope, sql: string, id = scope.tenantId): Promise<Row | undefined> {
    const tenant = tenantSetting(scope);
    const value = tenantSetting({ tenantId: id });
    const { deadline } = scope;
    const timeoutMs = Math.max(1, Math.min(STATEMENT_TIMEOUT_MS, Math.ceil(deadline?.remaining() ?? Infinity)));
    const asked = afterConflicts({ deadline }, () =>
      this.withClient((client) => glanced(client, sql, { tenant, value, timeoutMs }), deadline),
    );
    // Without a cancellation: the server's own timeout ends the statement at the same time.
    return deadline ? unlessAborted(deadline.signal, asked) : asked;
  }

  generation(): undefined {
    return undefined;
  }

  write<T>(
    { tenantId, deadline }: Scope,
    work: (tx: Transaction) => Promise<T>,
    { mayShare = false }: WriteOptions = {},
  ): Promise<T> {
    return mayShare && tenantId !== null
      ? this.sharedWrites.write({ tenantId, deadline }, work)
      : this.writeAlone({ tenantId, deadline }, work);
  }

  private writeAlone<T>(scope: Scope, work: (tx: Transaction) => Promise<T>): Promise<T> {
    return afterConflicts(scope, () => this.transaction('BEGIN', scope, work));
  }

  pauseWrites(): Promise<() => void> {
    return Promise.resolve(() => {});
  }

  private async transaction<T>(
    begin: string,
    scope: Scope & { readonly lockTimeoutMs?: number },
    work: (tx: PostgresTransaction) => Promise<T>,
  ): Promise<T> {
    const { deadline, lockTimeoutMs } = scope;
    return this.withClient(async (client) => {
      const statements = deadline && new StatementDeadline(deadline, this.connection);
      const tx = new PostgresTransaction(client, this.knex, statements);
      try {
        await tx.begin(begin, {
          tenant: tenantSetting(scope),
          timeoutMs: statements?.timeoutMs(STATEMENT_TIMEOUT_MS),
          lockTimeoutMs,
        });
        const result = await work(tx);
        statements?.check();
        await tx.commit();
        return result;
      } catch (error) {
        await tx.rollBack();
        throw statements ? statements.reasonOf(error) : error;
      } finally {
        await statements?.over();
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
