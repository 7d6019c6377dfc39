import pg from 'pg';
import { CallEnded, type Deadline } from '../deadline.js';
import { isDatabaseError, translateError } from './errors.js';

/**
 * Enforces a deadline on the statements of one transaction. The running statement is cancelled over a second
 * connection, as PostgreSQL requires; `statement_timeout` is set as well, in case that connection fails.
 */
export class StatementDeadline {
  private underWay = 0;
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
  }

  check(): void {
    this.deadline.signal.throwIfAborted();
  }

  async run<T>(statement: () => Promise<T>): Promise<T> {
    this.check();
    this.underWay += 1;
    try {
      return await statement();
    } finally {
      this.underWay -= 1;
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
    if (this.underWay > 0 && this.processId !== undefined) this.cancelling = cancel(this.connection, this.processId);
  };
}

async function cancel(connection: pg.ClientConfig, processId: number): Promise<void> {
  const client = new pg.Client(connection);
  // Connection errors are emitted as events; an unhandled one would end the process.
  client.on('error', () => undefined);
  try {
    await client.connect();
    await client.query('SELECT pg_cancel_backend($1)', [processId]);
  } catch {
    // The statement then ends by its `statement_timeout`.
  } finally {
    await client.end().catch(() => undefined); // never connected, or already closed
  }
}
