import { LRUCache } from 'lru-cache';
import type { Deadline } from '../deadline.js';
import { begun, together } from '../together.js';
import { unlessAborted } from '../unless-aborted.js';
import type { Scope, Transaction } from './database.js';
import { DatabaseError, isDatabaseError } from './errors.js';
import { GoesFirst, LockedByAnother, NeedsItsOwn, PostgresPart, type Common } from './postgres-part.js';
import type { PostgresTransaction } from './postgres-transaction.js';

/**
 * So many transactions of a tenant run at once: one is computed while the statements of the other run. Those that wait
 * meanwhile share the next one. With four at once half of all transactions had a single write.
 */
const AT_ONCE = 2;
/** So many if each has as many writes as may share one: where the database is far away, they mostly wait for it. */
const MOST_AT_ONCE = 4;
/** So many writes share one. */
const MOST_WRITES = 8;
/** One that lasts longer in milliseconds, as when it waits for a lock, lets another begin. */
const BLOCKED_MS = 250;
/** After one has failed, a tenant's writes run by themselves for this time, in milliseconds. */
const APART_MS = 1_000;
/** The tenants of which this is known. */
const TENANTS = 10_000;

type Work<T> = (tx: Transaction) => Promise<T>;

interface TenantScope extends Scope {
  readonly tenantId: string;
}

interface Transactions {
  /** Runs a write by itself. */
  alone<T>(scope: TenantScope, work: Work<T>): Promise<T>;
  /** Runs several in one transaction, none of whose statements waits long for a lock. */
  shared(scope: TenantScope, work: (tx: PostgresTransaction) => Promise<void>): Promise<void>;
}

/** A write that waits for its turn, and who gets its result. */
interface Write {
  readonly scope: TenantScope;
  readonly work: Work<unknown>;
  begins(): void;
  done(output: unknown): void;
  failed(error: unknown): void;
}

/** How a part of a transaction has ended. Its caller gets it after the commit, on which it depends. */
interface Ended {
  readonly write: Write;
  readonly hasChanged: boolean;
  /** It has left the transaction unchanged. The first of those that have is run before the rest of them. */
  readonly goesFirst?: boolean;
  settle(): Promise<void>;
}

interface Queue {
  readonly waiting: Write[];
  running: number;
  /** Whether some of them begin at the end of this turn of the event loop. */
  isComing: boolean;
}

/**
 * Has writes of a tenant that wait share a transaction. Their statements then go to the server in the same messages, and
 * the commit is one: with many writes at a time this takes half the processor time. A write begins in the turn of the
 * event loop in which it comes, with what else has come in it, unless others have to end first. When a shared
 * transaction has failed for any reason, each of its writes runs by itself: none of it was kept.
 */
export class SharedWrites {
  private readonly queues = new Map<string, Queue>();
  private readonly apart = new LRUCache<string, true>({ max: TENANTS, ttl: APART_MS });

  constructor(private readonly transactions: Transactions) {}

  async write<T>(scope: TenantScope, work: Work<T>): Promise<T> {
    const { tenantId, deadline } = scope;
    if (this.apart.has(tenantId)) return this.transactions.alone(scope, work);
    const turn = Promise.withResolvers<void>();
    const { promise, resolve: done, reject: failed } = Promise.withResolvers<unknown>();
    const result = begun(promise);
    const write: Write = { scope, work, begins: turn.resolve, done, failed };
    const queue = this.queues.get(tenantId) ?? { waiting: [], running: 0, isComing: false };
    this.queues.set(tenantId, queue);
    queue.waiting.push(write);
    this.beginSoon(tenantId, queue);
    if (deadline) {
      try {
        await unlessAborted(deadline.signal, turn.promise);
      } catch (error) {
        const place = queue.waiting.indexOf(write);
        if (place !== -1) queue.waiting.splice(place, 1); // otherwise it has just begun, and ends by its deadline
        throw error;
      }
    }
    return (await result) as T; // what `work` resolved to
  }

  private beginSoon(tenantId: string, queue: Queue): void {
    if (queue.isComing) return;
    queue.isComing = true;
    setImmediate(() => {
      queue.isComing = false;
      this.begin(tenantId, queue);
    });
  }

  private begin(tenantId: string, queue: Queue): void {
    while (mayBegin(queue)) {
      const writes = queue.waiting.splice(0, MOST_WRITES);
      for (const { begins } of writes) begins();
      queue.running++;
      const over = once(() => {
        queue.running--;
        this.beginSoon(tenantId, queue);
      });
      const blocked = setTimeout(over, BLOCKED_MS);
      void this.run(tenantId, writes).finally(() => {
        clearTimeout(blocked);
        over();
      });
    }
    if (queue.running === 0) this.queues.delete(tenantId);
  }

  /** Never rejects: each write gets its own result. */
  private async run(tenantId: string, writes: readonly Write[]): Promise<void> {
    const [first] = writes;
    if (first && writes.length === 1) return this.runAlone(first);
    let hasBegun = false;
    let ended: readonly Ended[] = [];
    try {
      await this.transactions.shared({ tenantId, deadline: earliestOf(writes) }, async (tx) => {
        hasBegun = true;
        ended = await this.endedIn(tx, writes);
      });
    } catch (error) {
      if (isDatabaseError(error, 'in_doubt')) return leaveInDoubt(ended, error);
      // Without a connection now, each of them would wait for one again.
      if (!hasBegun && isDatabaseError(error, 'unreachable')) return writes.forEach(({ failed }) => failed(error));
      this.apart.set(tenantId, true);
      ended = writes.map((write) => ({ write, hasChanged: false, settle: () => this.runAlone(write) }));
    }
    await Promise.all(ended.map(({ settle }) => settle()));
    const [next, ...others] = ended.filter(({ goesFirst }) => goesFirst).map(({ write }) => write);
    if (next) await this.runAlone(next);
    if (others.length > 0) await this.run(tenantId, others);
  }

  /** Runs them as parts of one transaction. Throws if it has to be rolled back because of one of them. */
  private async endedIn(tx: PostgresTransaction, writes: readonly Write[]): Promise<readonly Ended[]> {
    const common: Common = { locked: new Set(), held: new Set(), read: new Map(), last: new Map() };
    const ended = await together(
      ...writes.map((write) => this.endedPart(new PostgresPart(tx, common, write.scope.deadline), write)),
    );
    for (const { all, work } of common.last.values()) await work(all);
    return ended;
  }

  private async endedPart(part: PostgresPart, write: Write): Promise<Ended> {
    try {
      const output = await write.work(part);
      part.check();
      return { write, hasChanged: part.hasChanged, settle: async () => write.done(output) };
    } catch (error) {
      if (error instanceof GoesFirst && !part.hasChanged)
        return { write, hasChanged: false, goesFirst: true, settle: async () => undefined }; // `run` runs it again
      if (part.hasChanged || error instanceof NeedsItsOwn || error instanceof DatabaseError) throw error;
      const settle = error instanceof LockedByAnother ? () => this.runAlone(write) : async () => write.failed(error);
      return { write, hasChanged: false, settle };
    }
  }

  private async runAlone({ scope, work, done, failed }: Write): Promise<void> {
    try {
      done(await this.transactions.alone(scope, work));
    } catch (error) {
      failed(error);
    }
  }
}

function mayBegin({ waiting, running }: Queue): boolean {
  const isFull = waiting.length >= MOST_WRITES;
  return waiting.length > 0 && running < (isFull ? MOST_AT_ONCE : AT_ONCE);
}

/** What a part that has changed nothing has read is not in doubt, but may depend on what is. */
function leaveInDoubt(ended: readonly Ended[], error: DatabaseError): void {
  for (const { write, hasChanged } of ended) write.failed(hasChanged ? error : error.cause);
}

function earliestOf(writes: readonly Write[]): Deadline | undefined {
  return writes
    .flatMap(({ scope: { deadline } }) => deadline ?? [])
    .toSorted((a, b) => a.remaining() - b.remaining())
    .at(0);
}

/** Runs it at the first call only. */
function once(work: () => void): () => void {
  let isDone = false;
  return () => {
    if (isDone) return;
    isDone = true;
    work();
  };
}
