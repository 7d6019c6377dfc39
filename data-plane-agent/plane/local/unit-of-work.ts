import type { Clock } from '../../base/clock.js';
import type { Database, Transaction } from '../../base/database/database.js';
import { isDatabaseError } from '../../base/database/errors.js';
import { IdempotencyStore, type KeptAnswer, type Settled } from '../../base/database/idempotency.js';
import type { Deadline } from '../../base/deadline.js';
import { newId } from '../../base/ids.js';
import type { KeyRing } from '../../base/secrets.js';
import type { Call } from '../contract/call.js';
import type { OperationContext } from '../steps/operation-context.js';
import { RollupDelta } from '../store/rollup-delta.js';
import { moveDataVersion } from '../store/data-version.js';
import { DueMarks } from '../store/due-work.js';
import { ChangeRecorder } from '../store/change-recorder.js';
import { createStore } from '../store/store.js';
import { Totals } from '../store/totals.js';

/** One call of an operation that is under way. */
export interface Asked {
  readonly name: string;
  readonly call: Call;
  readonly deadline: Deadline;
  /** Housekeeping: neither audited nor moving the data version. */
  readonly isUpkeep: boolean;
}

type Run<T> = (context: OperationContext) => Promise<T>;

/**
 * The transactions in which a call does its work. Each is a unit: what a write changes, its audit and outbox rows, the
 * rollups, the tenant's data version under which totals are cached, and the answer kept under its key are committed
 * together or not at all.
 */
export interface UnitsOfWork {
  /** One consistent snapshot. */
  read<T>(asked: Asked, run: Run<T>): Promise<T>;
  write<T>(asked: Asked, run: Run<T>): Promise<T>;
  /**
   * The write whose output, or refusal by rule, is the answer to the call's idempotency key; nothing runs when there is
   * one already.
   */
  writeOnce(asked: Asked, run: Run<unknown>): Promise<Settled>;
  /**
   * Claims and counters that are nobody's contract data. They are written and given back whether or not anybody waits
   * for the answer.
   */
  upkeep<T>(asked: Asked, run: Run<T>): Promise<T>;
  /** The answer kept under the call's key. */
  kept(asked: Asked): Promise<Settled | undefined>;
  /** Refuses a second call with the key while the first runs in this process. */
  alone<T>(asked: Asked, work: () => Promise<T>): Promise<T>;
}

export interface UnitsOfWorkOptions {
  readonly database: Database;
  readonly clock: Clock;
  readonly keyRing: KeyRing;
}

export function createUnitsOfWork({ database, clock, keyRing }: UnitsOfWorkOptions): UnitsOfWork {
  const idempotency = new IdempotencyStore(keyRing, clock, expiringAnswers);
  const totals = new Totals();
  const scopeOf = ({ call, deadline }: Asked) => ({ tenantId: call.tenantId, deadline });
  const contextOf = (
    tx: Transaction,
    { call, deadline }: Asked,
    { recorder, rollupDelta } = { recorder: new ChangeRecorder(), rollupDelta: new RollupDelta() },
  ): OperationContext => ({
    store: createStore({ tx, call, clock, keyRing, totals, recorder, rollupDelta }),
    recorder,
    clock,
    newId,
    signal: deadline.signal,
    savepoint: (attempt) => savepoint({ tx, recorder, rollupDelta }, attempt),
  });

  /** Runs a write and leaves its audit and outbox rows in the same transaction. */
  const recorded = async <T>(tx: Transaction, asked: Asked, run: Run<T>): Promise<T> => {
    const { name, call, isUpkeep } = asked;
    const recorder = new ChangeRecorder();
    const rollupDelta = new RollupDelta();
    const before = tx.writes;
    const output = await run(contextOf(tx, asked, { recorder, rollupDelta }));
    const changed = tx.writes > before;
    if (isUpkeep || !(changed || recorder.hasEvents)) {
      await recorder.due.write(tx, call.tenantId);
      return output;
    }
    if (recorder.isEmpty) throw new Error(`${name} changed rows without telling the recorder`);
    await recorder.write(tx, { call, action: name, now: clock.now() });
    await (changed ? moveDataVersion(tx, call.tenantId, recorder.due) : recorder.due.write(tx, call.tenantId));
    await rollupDelta.apply(tx, call.tenantId); // last: writers of the same figures wait for each other from here to the commit
    return output;
  };

  return {
    read: (asked, run) => database.read(scopeOf(asked), (tx) => run(contextOf(tx, asked))),
    write: (asked, run) => afterLostRace(() => database.write(scopeOf(asked), (tx) => recorded(tx, asked, run))),
    writeOnce: (asked, run) =>
      afterLostRace(() =>
        database.write(scopeOf(asked), (tx) =>
          idempotency.once(tx, { call: asked.call, operation: asked.name }, () => recorded(tx, asked, run)),
        ),
      ),
    upkeep: (asked, run) =>
      database.write({ tenantId: asked.call.tenantId }, async (tx) => {
        const recorder = new ChangeRecorder();
        const output = await run(contextOf(tx, asked, { recorder, rollupDelta: new RollupDelta() }));
        await recorder.due.write(tx, asked.call.tenantId);
        return output;
      }),
    kept: (asked) => database.read(scopeOf(asked), (tx) => idempotency.stored(tx, asked.call, asked.name)),
    alone: ({ call }, work) => idempotency.alone(call, work),
  };
}

/** An answer that is kept under its key has an end. */
const expiringAnswers: KeptAnswer = async (tx, { tenantId, expiresAt }) => {
  const due = new DueMarks();
  due.at('expiry', expiresAt);
  await due.write(tx, tenantId);
};

/** What a savepoint undoes, the change recorder and the rollup delta forget. */
async function savepoint<T>(
  {
    tx,
    recorder,
    rollupDelta,
  }: { readonly tx: Transaction; readonly recorder: ChangeRecorder; readonly rollupDelta: RollupDelta },
  attempt: () => Promise<T>,
): Promise<T> {
  const marks = { recorder: recorder.mark(), rollupDelta: rollupDelta.mark() };
  try {
    return await tx.savepoint(attempt);
  } catch (error) {
    recorder.rollBackTo(marks.recorder);
    rollupDelta.rollBackTo(marks.rollupDelta);
    throw error;
  }
}

/**
 * A unique index that refused a row lost a race against a check that found nothing: run again, that check finds it and
 * names it.
 */
async function afterLostRace<T>(change: () => Promise<T>): Promise<T> {
  try {
    return await change();
  } catch (error) {
    if (!isDatabaseError(error, 'unique')) throw error;
    return change();
  }
}

/** The answer that a write came to, now or when its key was first used. */
export function answered(settled: Settled): { readonly output: unknown; readonly replayed: boolean } {
  if ('failure' in settled) throw settled.failure;
  return settled;
}
