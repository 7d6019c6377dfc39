import { setImmediate as nextTick } from 'node:timers/promises';
import type { Database as Connection } from 'better-sqlite3';
import knex, { type Knex } from 'knex';
import type { Deadline } from '../deadline.js';
import { readAnew } from '../once-a-turn.js';
import type { Database, Exclusive, Row, Scope, Transaction, Value } from './database.js';
import { translateError } from './errors.js';
import { queued } from './queued.js';
import { EVERY_CONNECTION, NEVER_WAIT, NO_CACHE, SMALL_CACHE } from './sqlite-pragmas.js';
import { SharedTransaction, type SharedWrite } from './sqlite-shared-transaction.js';
import {
  copiedByCommits,
  SqliteCheckpoints,
  USUAL_WRITER,
  WRITER_BESIDE,
  type CheckpointOptions,
} from './sqlite-checkpoints.js';
import { deletionGuard, generationReader, isReadable, translated, type SqliteFile } from './sqlite-file.js';
import { SqliteTransaction, Statements } from './sqlite-transaction.js';
import { whenFree, WriteLock } from './sqlite-write-lock.js';

/** In WAL mode readers do not wait for writers, so a few connections suffice. */
const READERS = 4;
/** The maximum number of queued writes that share one commit. */
const GROUP = 64;
/** Writes that arrive while others are run join them, for this time in milliseconds. */
const JOIN_MS = 20;

export interface SqliteOptions {
  /**
   * In a thread beside the one that usually writes to the file: waits until that one pauses its writes, and returns the
   * function that lets it continue.
   */
  readonly writersTurn?: () => Promise<() => void>;
}

/** Opens an SQLite file in WAL mode with `synchronous=FULL` on every connection. */
export async function openSqlite(filename: string, { writersTurn }: SqliteOptions = {}): Promise<Database> {
  const opener = knex({
    client: 'better-sqlite3',
    connection: { filename },
    useNullAsDefault: true,
    pool: { min: 1, max: 2 + READERS },
  });
  const opened: Connection[] = [];
  const open = async (pragmas: readonly string[]): Promise<Connection> => {
    const connection = (await opener.client.acquireConnection()) as Connection;
    opened.push(connection);
    for (const pragma of [...EVERY_CONNECTION, ...pragmas]) await whenFree(() => connection.pragma(pragma));
    return connection;
  };
  try {
    const checkpoints = writersTurn ? WRITER_BESIDE : USUAL_WRITER;
    const writer = await open(['journal_mode = WAL', copiedByCommits(checkpoints), NEVER_WAIT]);
    const readers: Connection[] = [];
    for (let i = 0; i < READERS; i++) readers.push(await open(['query_only = ON', SMALL_CACHE]));
    const probe = await open(['query_only = ON', NO_CACHE]);
    return new SqliteDatabase({ opener, filename, writer, probe, writersTurn, checkpoints }, readers);
  } catch (error) {
    // The pool waits for its connections to be released before it is destroyed.
    for (const connection of opened) await opener.client.releaseConnection(connection);
    await opener.destroy();
    throw translateError(error);
  }
}

interface WaitingWrite extends SharedWrite {
  readonly kind: 'write';
  settle(error?: unknown): void;
}

interface WaitingPause {
  readonly kind: 'pause';
  /** Begins the pause. Resolves when it is over. */
  over(): Promise<void>;
}

interface Opened extends SqliteFile {
  readonly opener: Knex;
  readonly writer: Connection;
  readonly writersTurn: SqliteOptions['writersTurn'];
  readonly checkpoints: CheckpointOptions;
}

class SqliteDatabase implements Database {
  readonly dialect = 'sqlite';
  private readonly waiting: (WaitingWrite | WaitingPause)[] = [];
  private readonly readersWanted: ((reader: Connection) => void)[] = [];
  private readonly statements = new Map<Connection, Statements>();
  private writing: Promise<void> | undefined;
  private closed = false;
  private readonly opener: Knex;
  private readonly writer: Connection;
  private readonly file: SqliteFile;
  private readonly writersTurn: SqliteOptions['writersTurn'];
  private readonly lock: WriteLock;
  private readonly checkpoints: SqliteCheckpoints;
  private readonly readGeneration: () => number | undefined;
  private readonly refuseIfDeleted: () => void;

  constructor(
    { opener, writer, writersTurn, checkpoints, ...file }: Opened,
    private readonly idle: Connection[],
  ) {
    this.opener = opener;
    this.writer = writer;
    this.writersTurn = writersTurn;
    this.lock = new WriteLock(writer, writersTurn !== undefined);
    this.file = file;
    this.checkpoints = new SqliteCheckpoints(file.filename, checkpoints);
    this.readGeneration = generationReader(file);
    this.refuseIfDeleted = deletionGuard(file.filename);
  }

  async glance({ tenantId, deadline }: Scope, sql: string, id = tenantId): Promise<Row | undefined> {
    const connection = await this.reader(deadline);
    try {
      if (connection.inTransaction) connection.exec('ROLLBACK');
      return this.statementsOf(connection).get(sql).get([id]);
    } catch (error) {
      throw translated(error, this.file);
    } finally {
      this.release(connection);
    }
  }

  generation(): number | undefined {
    return this.readGeneration();
  }

  /** Waits for a connection that reads. */
  private async reader(deadline: Deadline | undefined): Promise<Connection> {
    this.refuseWhenClosed();
    this.refuseIfDeleted();
    deadline?.signal.throwIfAborted();
    return (
      this.idle.pop() ??
      (await queued<Connection, (reader: Connection) => void>(this.readersWanted, (resolve) => resolve, deadline))
    );
  }

  async read<T>({ deadline }: Scope, work: (tx: Transaction) => Promise<T>): Promise<T> {
    const connection = await this.reader(deadline);
    const tx = this.begin(connection, { deadline });
    try {
      if (connection.inTransaction) connection.exec('ROLLBACK');
      tx.control('BEGIN');
      return await work(tx);
    } catch (error) {
      throw translated(error, this.file);
    } finally {
      end(connection, () => tx.control('COMMIT'));
      tx.end();
      this.release(connection);
    }
  }

  private release(reader: Connection): void {
    const next = this.readersWanted.shift();
    if (next) next(reader);
    else this.idle.push(reader);
  }

  async write<T>({ deadline }: Scope, work: (tx: Transaction) => Promise<T>): Promise<T> {
    this.refuseWhenClosed();
    deadline?.signal.throwIfAborted();
    const settled = queued<{ readonly value: T } | { readonly error: unknown }, WaitingWrite | WaitingPause>(
      this.waiting,
      (resolve, reject) => {
        let outcome: { readonly value: T } | { readonly error: unknown };
        return {
          kind: 'write',
          run: async (tx) => {
            try {
              const inTime = () => tx.until(deadline, () => work(tx));
              outcome = { value: await (tx.hasSavepoints ? tx.savepoint(inTime) : inTime()) };
              return undefined;
            } catch (error) {
              outcome = { error };
              return error;
            }
          },
          settle: (failure) => {
            if (failure !== undefined) reject(failure);
            else resolve(outcome);
          },
        };
      },
      deadline,
    );
    this.writing ??= this.drain();
    const outcome = await settled;
    if ('error' in outcome) throw translated(outcome.error, this.file);
    return outcome.value;
  }

  pauseWrites(): Promise<() => void> {
    return new Promise((begin) => {
      this.waiting.push({
        kind: 'pause',
        over: () => new Promise((end) => begin(end)),
      });
      this.writing ??= this.drain();
    });
  }

  /** Commits queued writes in groups until the queue is empty. */
  private async drain(): Promise<void> {
    while (this.waiting.length > 0) {
      await nextTick(); // requests already received join this commit
      const [next] = this.waiting;
      if (next?.kind === 'pause') {
        this.waiting.shift();
        await next.over();
        this.lock.forgetOthers();
        this.checkpoints.leaveToOthers();
        continue;
      }
      const group: WaitingWrite[] = [];
      let failure: unknown;
      try {
        await this.commitTogether(group);
      } catch (error) {
        failure = translated(error, this.file);
      }
      for (const write of group) write.settle(failure);
    }
    this.writing = undefined;
  }

  /** Takes the writes of a group from the queue, up to a pause. */
  private *nextWrites(): Generator<WaitingWrite> {
    for (let left = Math.min(GROUP, this.waiting.length); left > 0; left -= 1) {
      const next = this.nextWrite();
      if (!next) return;
      yield next;
    }
  }

  private nextWrite(): WaitingWrite | undefined {
    const [next] = this.waiting;
    if (next?.kind === 'write') this.waiting.shift();
    return next?.kind === 'write' ? next : undefined;
  }

  /**
   * The next write of a group that is being run. Where several came at a time, those that were received meanwhile are
   * waited for, so that fewer commits are waited for.
   */
  private async joining(group: readonly WaitingWrite[], since: number): Promise<WaitingWrite | undefined> {
    if (group.length >= GROUP) return undefined;
    const next = this.nextWrite();
    if (next || group.length < 2 || performance.now() - since > JOIN_MS) return next;
    await nextTick();
    return this.nextWrite();
  }

  private async commitTogether(group: WaitingWrite[]): Promise<void> {
    await (this.writersTurn ? this.checkpoints.mayGrow() : this.checkpoints.mayBegin());
    const endTurn = await this.writersTurn?.();
    try {
      // A long transaction may leave a very long log, which a commit of the other writer would copy. That of short ones is
      // copied beside it.
      if ((await this.commitInTurn(group)) && endTurn) await this.checkpoints.ended();
    } finally {
      endTurn?.();
    }
  }

  /**
   * Moves writes from the queue to `group` as they are run, or all at once when the transaction cannot begin. Others can
   * still leave the queue. Returns whether it was long.
   */
  private async commitInTurn(group: WaitingWrite[]): Promise<boolean> {
    try {
      this.refuseIfDeleted();
      await this.beginImmediate();
    } catch (error) {
      group.push(...this.nextWrites());
      throw error;
    }
    const running = new SharedTransaction({
      begin: (hasSavepoints) => this.begin(this.writer, { hasSavepoints }),
      beginAgain: () => this.beginImmediate(),
      hasEnded: () => !this.writer.inTransaction,
      translated: (error) => translated(error, this.file),
    });
    try {
      const since = performance.now();
      for (let write; (write = await this.joining(group, since));) {
        group.push(write);
        await running.add(write);
      }
      const { tx } = running;
      const isLong = this.checkpoints.beforeCommit(this.writer, tx.writes);
      tx.control('COMMIT');
      readAnew();
      this.checkpoints.committed(tx.writes);
      return isLong;
    } finally {
      running.tx.end();
      end(this.writer, () => this.writer.exec('ROLLBACK'));
      this.lock.ended();
    }
  }

  private async beginImmediate(): Promise<void> {
    if (this.writer.inTransaction) this.writer.exec('ROLLBACK');
    this.checkpoints.copyRest(this.writer);
    return this.lock.begin();
  }

  private begin(
    connection: Connection,
    {
      deadline,
      hasSavepoints = false,
    }: { readonly deadline?: Deadline | undefined; readonly hasSavepoints?: boolean } = {},
  ): SqliteTransaction {
    const statements = this.statementsOf(connection);
    return new SqliteTransaction(connection, { statements, opener: this.opener, hasSavepoints, deadline });
  }

  private statementsOf(connection: Connection): Statements {
    let statements = this.statements.get(connection);
    if (!statements) this.statements.set(connection, (statements = new Statements(connection)));
    return statements;
  }

  async ping(): Promise<boolean> {
    return !this.closed && isReadable(this.file);
  }

  pool() {
    return {
      used: READERS - this.idle.length + (this.writing ? 1 : 0),
      free: this.idle.length,
      waiting: this.waiting.length + this.readersWanted.length,
    };
  }

  /** Waits for the running writes, because they share the connection. */
  async exclusive<T>(work: (connection: Exclusive) => Promise<T>): Promise<T> {
    while (this.writing) await this.writing;
    this.refuseWhenClosed();
    const running = this.exclusively(work);
    const over = () => {
      this.writing = this.waiting.length > 0 ? this.drain() : undefined;
    };
    this.writing = running.then(over, over);
    return running;
  }

  private async exclusively<T>(work: (connection: Exclusive) => Promise<T>): Promise<T> {
    const connection = this.writer;
    const all = (sql: string, values: readonly Value[] = []) => {
      const statement = connection.prepare(sql);
      return statement.reader ? (statement.all(...values) as Row[]) : (statement.run(...values), []);
    };
    try {
      await this.beginImmediate();
      const result = await work({
        dialect: 'sqlite',
        run: async (sql, values) => void all(sql, values),
        all: async (sql, values) => all(sql, values),
        transaction: async (inner) => inner(), // already in a transaction: a failed migration rolls back the whole run
      });
      connection.exec('COMMIT');
      readAnew();
      return result;
    } catch (error) {
      if (connection.inTransaction) connection.exec('ROLLBACK');
      throw translateError(error);
    }
  }

  async close(): Promise<void> {
    if (this.closed) return;
    while (this.writing) await this.writing;
    this.closed = true;
    await this.checkpoints.close();
    for (const connection of [this.writer, this.file.probe, ...this.idle])
      await this.opener.client.releaseConnection(connection);
    await this.opener.destroy();
  }

  private refuseWhenClosed(): void {
    if (this.closed) throw new Error('the database is closed');
  }
}

function end(connection: Connection, ending: () => void): void {
  try {
    if (connection.inTransaction) ending();
  } catch {
    // The transaction cannot end while the file is unreadable. The next work on the connection ends it first, and is
    // refused until that succeeds.
  }
}
