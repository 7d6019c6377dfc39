import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { CallEnded, type Deadline } from '../deadline.js';
import { isDatabaseError, translateError } from './errors.js';

/**
 * Enforces a deadline on the statements of one transaction. The running statement is cancelled over a second
 * connection, as PostgreSQL requires; `statement_timeout` is set as well, in case that connection fails.
 */
export class StatementDeadline {
  private isUnderWay = false;
  private cancelling: Promise<void> | undefined;
  private processId: number | undefined;

  constructor(
    private readonly deadline: Deadline,
    private readonly connection: pg.ClientConfig,
  ) {
    deadline.signal.addEventListener('abort', this.end);
  }

  /** The `statement_timeout` to set, in milliseconds. */
  timeoutMs(longest: number): number {
    return Math.max(1, Math.min(longest, Math.ceil(this.deadline.remaining())));
  }

  /** `processId` is the backend process of the connection that the statements run on. */
  begin(processId: number): void {
    this.processId = processId;
    if (this.isOver) this.end();
  }

  get isOver(): boolean {
    return this.deadline.signal.aborted;
  }

  /** Why it is over. */
  get reason(): unknown {
    return this.deadline.signal.reason;
  }

  check(): void {
    this.deadline.signal.throwIfAborted();
  }

  /** Statements that were sent are cancelled until they have ended, once the deadline has passed. */
  async during(sent: Promise<void>): Promise<void> {
    this.isUnderWay = true;
    try {
      await sent;
    } finally {
      this.isUnderWay = false;
    }
  }

  /**
   * Call before the transaction is rolled back or its connection released, so that the cancellation cannot affect
   * another statement.
   */
  async over(): Promise<void> {
    this.deadline.signal.removeEventListener('abort', this.end);
    await this.cancelling;
  }

  /** Replaces the error of a cancelled statement with the reason of the deadline. */
  reasonOf(error: unknown): unknown {
    if (!isDatabaseError(translateError(error), 'timeout')) return error;
    const { signal, remaining } = this.deadline;
    if (signal.aborted) return signal.reason;
    // The server's timeout fired before our own timer.
    return remaining() === 0 ? new CallEnded('timeout') : error;
  }

  private readonly end = (): void => {
    const { processId } = this;
    if (this.isUnderWay && processId !== undefined)
      this.cancelling ??= cancel(this.connection, { processId, isUnderWay: () => this.isUnderWay });
  };
}

/** The server ignores a cancellation that it receives between two statements. */
const AGAIN_AFTER_MS = 25;

async function cancel(
  connection: pg.ClientConfig,
  { processId, isUnderWay }: { readonly processId: number; isUnderWay(): boolean },
): Promise<void> {
  const client = new pg.Client(connection);
  // Connection errors are emitted as events; an unhandled one would end the process.
  client.on('error', () => undefined);
  try {
    await client.connect();
    for (; isUnderWay(); await sleep(AGAIN_AFTER_MS)) await client.query('SELECT pg_cancel_backend($1)', [processId]);
  } catch {
    // The statement then ends by its `statement_timeout`.
  } finally {
    await client.end().catch(() => undefined); // never connected, or already closed
  }
}
