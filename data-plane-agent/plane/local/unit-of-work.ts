import type { Clock } from '../../base/clock.js';
import type { Database, SavepointOptions, Transaction, WriteOptions } from '../../base/database/database.js';
import { together } from '../../base/together.js';
import { isDatabaseError } from '../../base/database/errors.js';
import { IdempotencyStore, type KeptAnswer, type Settled } from '../../base/database/idempotency.js';
import type { Deadline } from '../../base/deadline.js';
import { newId } from '../../base/ids.js';
import type { KeyRing } from '../../base/secrets.js';
import type { Call } from '../contract/call.js';
import type { OperationContext } from '../steps/operation-context.js';
import type { Entries } from '../domain/analytics/rollups.js';
import { RollupDelta } from '../store/rollup-delta.js';
import { textOf } from '../domain/analytics/increments.js';
import { beginVersion, DeletionTurns, moveDataVersion } from '../store/data-version.js';
import { DueMarks } from '../store/due-work.js';
import { ChangeRecorder } from '../store/change-recorder.js';
import { ContractCores } from '../store/contract-cores.js';
import { FigureMemory } from '../store/figure-memory.js';
import { createStore, type StoreParts } from '../store/store.js';
import { Totals } from '../store/totals.js';
import { addWaiting, WaitingCount } from '../store/waiting-figures.js';
import { KeptAnswers } from './kept-answers.js';
import { createMoveGate } from './move-gate.js';

/** A running call of an operation. */
export interface Invocation {
  readonly name: string;
  readonly call: Call;
  readonly deadline: Deadline;
  /** Maintenance work: not audited, and the data version stays unchanged. */
  readonly isUpkeep: boolean;
  readonly whileMoving: 'always' | 'settling' | undefined;
}

/** What a write has recorded. */
interface Recorded {
  readonly invocation: Invocation;
  readonly recorder: ChangeRecorder;
  readonly entries: Entries;
}

type Run<T> = (context: OperationContext) => Promise<T>;

/**
 * The transactions of a call. In each of them the changes, their audit and outbox rows, the rollups, the tenant's data
 * version (by which totals are cached) and the stored response are committed together or not at all.
 */
export interface UnitsOfWork {
  /** Runs on one consistent snapshot. */
  read<T>(invocation: Invocation, run: Run<T>): Promise<T>;
  /** As `read`, but runs only if no answer to the same call and input is kept for the present data version. */
  readKept<T extends object>(invocation: Invocation, input: unknown, run: Run<T>): Promise<T>;
  write<T>(invocation: Invocation, run: Run<T>): Promise<T>;
  /** How many writes of an operation may run at once. */
  readonly writesAtOnce: number;
  /**
   * A write whose output or refusal is stored as the response for the call's idempotency key. If there is a stored
   * response already, nothing runs.
   */
  writeOnce(invocation: Invocation, run: Run<unknown>, options?: WriteOptions): Promise<Settled>;
  /** Writes internal state such as claims and counters, regardless of the deadline. */
  upkeep<T>(invocation: Invocation, run: Run<T>): Promise<T>;
  /**
   * As `upkeep`, but within the deadline, and undone if there is a stored response for the call's key by now: then
   * rejects with `AlreadyAnswered`.
   */
  announce<T>(invocation: Invocation, run: Run<T>): Promise<T>;
  /** The stored response for the call's key. */
  kept(invocation: Invocation): Promise<Settled | undefined>;
  /** Refuses a second call with the key while the first one runs in this process. */
  alone<T>(invocation: Invocation, work: () => Promise<T>): Promise<T>;
}

export interface UnitsOfWorkOptions {
  readonly database: Database;
  readonly clock: Clock;
  readonly keyRing: KeyRing;
}

export function createUnitsOfWork({ database, clock, keyRing }: UnitsOfWorkOptions): UnitsOfWork {
  const idempotency = new IdempotencyStore(keyRing, clock, scheduleExpiry);
  const totals = new Totals();
  const cores = new ContractCores();
  const answers = new KeptAnswers(database);
  const gate = createMoveGate(clock);
  const scopeOf = ({ call, deadline }: Invocation) => ({ tenantId: call.tenantId, deadline });
  const figures = new FigureMemory();
  const waiting = new WaitingCount();
  const deletions = new DeletionTurns();
  const contextOf = (
    tx: Transaction,
    { call, deadline }: Invocation,
    {
      recorder,
      rollupDelta,
      ...more
    }: Pick<StoreParts, 'recorder' | 'rollupDelta'> & { readonly figures?: FigureMemory },
  ): OperationContext => ({
    store: createStore({ tx, call, clock, keyRing, totals, cores, recorder, rollupDelta, ...more }),
    recorder,
    clock,
    newId,
    signal: deadline.signal,
    savepoint: (attempt, options) => savepoint({ tx, recorder, rollupDelta }, attempt, options),
    lanes: LANES[tx.dialect],
    isCollision: (error) => LANES[tx.dialect] > 1 && isDatabaseError(error, 'unique'),
  });

  /** The context of a read: what it would change is not recorded. */
  const readContextOf = (tx: Transaction, invocation: Invocation): OperationContext =>
    contextOf(tx, invocation, { recorder: new ChangeRecorder(), rollupDelta: new RollupDelta(), figures });

  /** Runs a write and adds its audit and outbox rows to the transaction. */
  const recorded = async <T>(tx: Transaction, invocation: Invocation, run: Run<T>): Promise<T> => {
    const { name, call, isUpkeep } = invocation;
    const recorder = new ChangeRecorder();
    const rollupDelta = new RollupDelta();
    const before = tx.writes;
    const output = await run(contextOf(tx, invocation, { recorder, rollupDelta }));
    const changed = tx.writes - recorder.internalWrites > before;
    if (isUpkeep || !(changed || recorder.hasEvents)) {
      await recorder.due.write(tx, call.tenantId);
      return output;
    }
    if (recorder.isEmpty) throw new Error(`${name} changed rows without reporting them to the recorder`);
    if (changed) {
      const entries = await rollupDelta.entries(tx, call.tenantId);
      await tx.last('recorded', { invocation, recorder, entries }, (all) => end(tx, call.tenantId, all));
    } else {
      await recorder.write(tx, { call, action: name, now: clock.now() });
      await recorder.due.write(tx, call.tenantId);
    }
    return output;
  };

  /**
   * Writes what the writes of a transaction have recorded, and one data version for all of them. Writers of the same
   * figures block each other from there until the commit.
   */
  const end = async (tx: Transaction, tenantId: string, all: readonly Recorded[]): Promise<void> => {
    const due = new DueMarks();
    for (const { invocation, recorder } of all) {
      await recorder.write(tx, { call: invocation.call, action: invocation.name, now: clock.now() });
      due.add(recorder.due);
    }
    const increments = all.map(({ entries }) => entries.increments());
    const changes = textOf(increments);
    const mayBeLeft = changes !== null && increments.some((one) => one.length > 0);
    const whole = tx.dialect === 'postgres' ? tx.whole : undefined; // SQLite has one writer
    const most = mayBeLeft ? waiting.due(tenantId, changes.length, whole) : 0;
    const leaves = mayBeLeft && most === 0;
    await moveDataVersion(tx, tenantId, { due, changes, leaves, deletesOld: deletions.next(tenantId) });
    const [first] = all;
    if (leaves || !first) return;
    await addWaiting(tx, tenantId, { most, own: { entries: first.entries, more: increments.slice(1).flat() } });
  };

  /** Runs a write that may add what waits for the figures. */
  const written = async <T>(
    invocation: Invocation,
    work: (tx: Transaction) => Promise<T>,
    options?: WriteOptions,
  ): Promise<T> => {
    const wholes = new Set<object>(); // of all attempts
    try {
      return await database.write(
        scopeOf(invocation),
        (tx) => {
          wholes.add(tx.whole);
          return work(tx);
        },
        options,
      );
    } finally {
      waiting.ended(invocation.call.tenantId, wholes);
    }
  };

  /** Runs a write of internal state. */
  const unrecorded = async <T>(tx: Transaction, invocation: Invocation, run: Run<T>): Promise<T> => {
    await gate.write(tx, invocation);
    const recorder = new ChangeRecorder();
    const output = await run(contextOf(tx, invocation, { recorder, rollupDelta: new RollupDelta() }));
    await recorder.due.write(tx, invocation.call.tenantId);
    return output;
  };

  return {
    read: (invocation, run) =>
      database.read(scopeOf(invocation), async (tx) => {
        await gate.read(tx, invocation);
        return run(readContextOf(tx, invocation));
      }),
    readKept: <T extends object>(invocation: Invocation, input: unknown, run: Run<T>): Promise<T> =>
      answers.answer(invocation, {
        input,
        isOpen: gate.isOpen(invocation),
        read: () =>
          database.read(scopeOf(invocation), async (tx) => {
            await gate.read(tx, invocation);
            const [version, output] = await together(
              beginVersion(tx, invocation.call.tenantId),
              run(readContextOf(tx, invocation)),
            );
            return { version, output };
          }),
      }),
    writesAtOnce: WRITES_AT_ONCE[database.dialect],
    write: (invocation, run) =>
      gate.passed(invocation, () =>
        afterLostRace(() =>
          written(invocation, async (tx) => {
            const [, output] = await together(gate.write(tx, invocation), recorded(tx, invocation, run));
            return output;
          }),
        ),
      ),
    writeOnce: (invocation, run, options) =>
      afterLostRace(() =>
        gate.passed(invocation, () =>
          written(
            invocation,
            async (tx) => {
              const [, settled] = await together(
                gate.write(tx, invocation),
                idempotency.once(tx, { call: invocation.call, operation: invocation.name }, () =>
                  recorded(tx, invocation, run),
                ),
              );
              return settled;
            },
            options,
          ),
        ),
      ),
    upkeep: (invocation, run) =>
      database.write({ tenantId: invocation.call.tenantId }, (tx) => unrecorded(tx, invocation, run)),
    announce: (invocation, run) =>
      database.write(scopeOf(invocation), async (tx) => {
        const output = await unrecorded(tx, invocation, run);
        // After the step: on PostgreSQL it has waited for another one that was storing the response.
        const settled = await idempotency.stored(tx, invocation.call, invocation.name);
        if (settled) throw new AlreadyAnswered(settled);
        return output;
      }),
    kept: (invocation) =>
      database.read(scopeOf(invocation), (tx) => idempotency.stored(tx, invocation.call, invocation.name)),
    alone: ({ call }, work) => idempotency.alone(call, work),
  };
}

/** Ends work whose response is stored already. */
export class AlreadyAnswered extends Error {
  constructor(readonly settled: Settled) {
    super('the response is stored already');
  }
}

/** Schedules the expiry of a stored response. */
const scheduleExpiry: KeptAnswer = async (tx, { tenantId, expiresAt }) => {
  const due = new DueMarks();
  due.at('expiry', expiresAt);
  await due.write(tx, tenantId);
};

/** One is computed while PostgreSQL works for the other; more would take its connections from others. */
const WRITES_AT_ONCE = { sqlite: 1, postgres: 2 } as const;
/** About the contracts that a step of an import enters. */
const LANES = { sqlite: 1, postgres: 16 } as const;

/** Rolls back the change recorder and the rollup delta together with the savepoint. */
async function savepoint<T>(
  {
    tx,
    recorder,
    rollupDelta,
  }: { readonly tx: Transaction; readonly recorder: ChangeRecorder; readonly rollupDelta: RollupDelta },
  attempt: () => Promise<T>,
  options?: SavepointOptions,
): Promise<T> {
  const marks = { recorder: recorder.mark(), rollupDelta: rollupDelta.mark() };
  try {
    return await tx.savepoint(attempt, options);
  } catch (error) {
    recorder.rollBackTo(marks.recorder);
    rollupDelta.rollBackTo(marks.rollupDelta);
    throw error;
  }
}

/**
 * A violated unique index means that a concurrent write won after the operation's own check. On the second run that
 * check finds the conflict and reports it.
 */
async function afterLostRace<T>(change: () => Promise<T>): Promise<T> {
  try {
    return await change();
  } catch (error) {
    if (!isDatabaseError(error, 'unique')) throw error;
    return change();
  }
}

/** The response of a write, from now or from the first use of its key. */
export function answered(settled: Settled): { readonly output: unknown; readonly replayed: boolean } {
  if ('failure' in settled) throw settled.failure;
  return settled;
}
