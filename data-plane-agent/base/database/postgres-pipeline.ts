import type pg from 'pg';
import type { Value } from './database.js';
import { insertions, type Insertion } from './insertion.js';
import { sendBatch, type Asked, type Outcome, type Statement, type Without } from './postgres-batch.js';
import type { StatementDeadline } from './postgres-deadline.js';
import { numbered } from './postgres-statements.js';

/** Deferred statements are sent once there are so many, or values of so many characters. */
const MOST_STATEMENTS = 64;
const MOST_CHARACTERS = 256 * 1024;

/** A statement whose outcome nobody waits for. */
export interface Deferred {
  readonly statement: Statement;
  readonly wantsRows?: boolean;
  readonly isUrgent?: boolean;
  /** Called with its outcome, if it has one. */
  done?(outcome: Outcome): void;
}

/** The number of a statement of a transaction, in the order in which they are sent. */
export type Place = number;

interface Waiting extends Asked {
  readonly place: Place;
  readonly isAwaited: boolean;
}

/** Rows that are to be inserted with as few statements as possible. */
interface WaitingRows {
  readonly place: Place;
  readonly isAwaited: false;
  readonly insertion: Insertion;
  readonly rows: (readonly Value[])[];
}

/**
 * The statements of one transaction, in their order. They wait until the outcome of one of them is awaited, and those
 * that were sent before are answered; then all that wait are sent together. Statements that are asked for in the same
 * turn of the event loop, and those deferred before, are therefore one round trip.
 */
export class Pipeline {
  private waiting: (Waiting | WaitingRows)[] = [];
  /** The last of those that wait, by table. */
  private readonly waitingRows = new Map<Insertion, WaitingRows>();
  private characters = 0;
  private underWay: Promise<void> | undefined;
  private isScheduled = false;
  /** Why the transaction cannot go on: nothing more is sent. */
  private failure: { readonly error: unknown } | undefined;

  constructor(
    private readonly client: pg.Client,
    private readonly deadline: StatementDeadline | undefined,
  ) {}

  /** The place of the statement that was given last. */
  place: Place = 0;
  /** Whether anything was sent. */
  hasBegun = false;
  private opening = 0;

  /** What was deferred until now only opens the transaction. */
  begins(): void {
    this.opening = this.waiting.length;
  }

  /** Whether there is more than what opens the transaction. */
  get isUsed(): boolean {
    return this.hasBegun || this.waiting.length > this.opening;
  }

  /**
   * Resolves to the outcome of a statement. When one that was deferred before it fails, it rejects with the error of that
   * one. `why` is called before it rejects.
   */
  ask(
    statement: Statement,
    { wantsRows, why }: { readonly wantsRows: boolean; readonly why?: (why: Without) => void },
  ): Promise<Outcome> {
    return new Promise((done, reject) => {
      const failed = (error: unknown, reason: Without): void => {
        why?.(reason);
        reject(error as Error);
      };
      if (this.failure) return failed(this.failure.error, 'skipped');
      this.add({ place: ++this.place, statement, wantsRows, isAwaited: true, done, failed: this.noting(failed) });
      this.schedule();
    });
  }

  /**
   * The statement is sent with a later one, at the latest when the pipeline `isFull` and its caller flushes it. Its error
   * is that of the next statement that is awaited. Throws if the transaction cannot go on.
   */
  defer({ done = () => undefined, wantsRows = false, ...deferred }: Deferred): Place {
    if (this.failure) throw this.failure.error;
    const place = ++this.place;
    this.add({ ...deferred, place, wantsRows, isAwaited: false, done, failed: this.noting(() => undefined) });
    return place;
  }

  /**
   * As `defer`, of new rows: they go with others that wait for the same table, unless those are before the place `since`.
   * Returns the place of their statement.
   */
  insert(insertion: Insertion, rows: readonly (readonly Value[])[], since: Place): Place {
    if (this.failure) throw this.failure.error;
    let all = this.waitingRows.get(insertion);
    if (!all || all.place < since) {
      all = { place: ++this.place, isAwaited: false, insertion, rows: [] };
      this.waiting.push(all);
      this.waitingRows.set(insertion, all);
    }
    for (const values of rows) {
      all.rows.push(values);
      this.count(values);
    }
    return all.place;
  }

  get isFull(): boolean {
    return this.waiting.length >= MOST_STATEMENTS || this.characters >= MOST_CHARACTERS;
  }

  /** Sends what waits, and resolves once it is answered. Rejects if the transaction cannot go on. */
  async flush(): Promise<void> {
    for (await this.idle(); this.waiting.length > 0 && !this.failure; await this.idle()) this.send();
    if (this.failure) throw this.failure.error;
  }

  /**
   * Takes back what waits from this place on, or all that waits if the statement there was sent. Returns whether it was
   * not sent.
   */
  takeBack(from: Place | undefined): boolean {
    const at = this.waiting.findIndex(({ place }) => place === from);
    const taken = this.waiting.splice(Math.max(at, 0));
    this.waitingRows.clear();
    // Nobody waits for rows.
    for (const one of taken) if (!('rows' in one)) one.failed(new Error('the statement was taken back'), 'skipped');
    return at !== -1;
  }

  /** Resolves once all that was sent is answered, and nothing that is awaited waits. */
  async idle(): Promise<void> {
    while (this.underWay) await this.underWay;
  }

  /** To be called after a rollback to a savepoint. */
  recovered(): void {
    this.failure = undefined;
  }

  private add(asked: Waiting): void {
    this.waiting.push(asked);
    this.count(asked.statement.values);
  }

  private count(values: readonly Value[]): void {
    for (const value of values) if (typeof value === 'string') this.characters += value.length;
  }

  private readonly statements = (waiting: Waiting | WaitingRows): Asked[] => {
    if (!('rows' in waiting)) return [waiting];
    const how = { wantsRows: false, done: () => undefined, failed: this.noting(() => undefined) };
    return Array.from(insertions('postgres', waiting.insertion, waiting.rows), ({ sql, values }) => ({
      ...how,
      statement: { ...numbered(sql), values },
    }));
  };

  private noting(failed: Asked['failed']): Asked['failed'] {
    return (error, why) => {
      if (why === 'failed' || why === 'lost') this.failure ??= { error };
      failed(error, why);
    };
  }

  /** After all work of this turn of the event loop, which may ask for more. */
  private schedule(): void {
    if (this.isScheduled || this.underWay) return;
    this.isScheduled = true;
    // oxlint-disable-next-line no-restricted-globals -- the only queue that runs after all promise reactions and before I/O
    process.nextTick(() => {
      this.isScheduled = false;
      this.send();
    });
  }

  private send(): void {
    if (this.underWay || this.waiting.length === 0) return;
    const batch = this.waiting.flatMap(this.statements);
    this.waiting = [];
    this.waitingRows.clear();
    this.characters = 0;
    const refusal = this.failure ?? (this.deadline?.isOver ? { error: this.deadline.reason } : undefined);
    if (refusal) {
      for (const { failed } of batch) failed(refusal.error, 'skipped');
      return;
    }
    this.hasBegun = true;
    const sent = sendBatch(this.client, batch);
    this.underWay = (this.deadline ? this.deadline.during(sent) : sent).then(() => {
      this.underWay = undefined;
      if (this.waiting.some(({ isAwaited }) => isAwaited)) this.send();
    });
  }
}
