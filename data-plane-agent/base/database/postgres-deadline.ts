import pg from 'pg';
import { CallEnded, type Deadline } from '../deadline.js';
import { isDatabaseError, translateError } from './errors.js';

/**
 * Ends the statements of one transaction with its deadline. The one that is under way is cancelled, as PostgreSQL wants
 * it: over another connection. The server has been told the time as well, should that connection not be had.
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

  /** The time that the server is to give a statement, in milliseconds. */
  timeoutMs(longest: number): number {
    return Math.max(1, Math.min(longest, Math.ceil(this.deadline.remaining())));
  }

  /** `processId` is the server's, of the connection that the statements run on. */
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
   * To be called before the transaction is rolled back or its connection given on, so that the cancellation meets no
   * other statement.
   */
  async over(): Promise<void> {
    this.deadline.signal.removeEventListener('abort', this.end);
    await this.cancelling;
  }

  /** A statement that was cancelled was so for the deadline's reason. */
  reasonOf(error: unknown): unknown {
    if (!isDatabaseError(translateError(error), 'timeout')) return error;
    const { signal, remaining } = this.deadline;
    if (signal.aborted) return signal.reason;
    // The server was quicker than our own timer.
    return remaining() === 0 ? new CallEnded('late') : error;
  }

  private readonly end = (): void => {
    if (this.underWay > 0 && this.processId !== undefined) this.cancelling = cancel(this.connection, this.processId);
  };
}

async function cancel(connection: pg.ClientConfig, processId: number): Promise<void> {
  const client = new pg.Client(connection);
  // An error beside a query is told as an event, and one that nobody hears ends the process.
  client.on('error', () => undefined);
  try {
    await client.connect();
    await client.query('SELECT pg_cancel_backend($1)', [processId]);
  } catch {
    // Then the statement ends with the time that the server has been told.
  } finally {
    await client.end().catch(() => undefined); // it never began, or is gone
  }
}
