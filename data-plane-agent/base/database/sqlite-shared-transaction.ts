import { DatabaseError, isUnavailable } from './errors.js';
import type { SqliteTransaction } from './sqlite-transaction.js';

/** A write that may share its commit with others. */
export interface SharedWrite {
  /** Resolves to the error, if it failed. */
  run(tx: SqliteTransaction): Promise<unknown>;
}

interface Parts {
  begin(hasSavepoints: boolean): SqliteTransaction;
  /** Begins a transaction of the connection, after rolling back the one before. */
  beginAgain(): Promise<void>;
  /** Whether SQLite has rolled back the transaction by itself. */
  hasEnded(): boolean;
  translated(error: unknown): unknown;
}

/**
 * A transaction of several writes, of which those that fail are undone. It has no savepoints until one has failed after
 * it had changed something: then the transaction is rolled back, and those that succeeded are run again, with savepoints.
 */
export class SharedTransaction {
  private running: SqliteTransaction;
  private readonly succeeded: SharedWrite[] = [];

  constructor(private readonly parts: Parts) {
    this.running = parts.begin(false);
  }

  get tx(): SqliteTransaction {
    return this.running;
  }

  async add(write: SharedWrite): Promise<void> {
    const { tx } = this;
    const before = tx.changes;
    const hasFailed = await this.failsIn(tx, write);
    if (tx.isSpoilt) return this.runAgain([...this.succeeded, write]);
    if (hasFailed && tx.changes > before && !tx.hasSavepoints) return this.runAgain(this.succeeded);
    if (!hasFailed) this.succeeded.push(write);
  }

  private async failsIn(tx: SqliteTransaction, write: SharedWrite): Promise<boolean> {
    const failed = this.parts.translated(await write.run(tx));
    // A full disk or an I/O error rolls back the whole transaction, and so every write of the group.
    if (this.parts.hasEnded())
      throw isUnavailable(failed) ? failed : new DatabaseError('unreachable', undefined, failed);
    return failed !== undefined;
  }

  private async runAgain(writes: readonly SharedWrite[]): Promise<void> {
    this.running.end();
    await this.parts.beginAgain();
    this.running = this.parts.begin(true);
    for (const write of writes) await this.failsIn(this.running, write);
  }
}
