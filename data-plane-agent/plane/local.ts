import type { Clock } from '../base/clock.js';
import type { Database, Transaction } from '../base/database/database.js';
import { isDatabaseError } from '../base/database/errors.js';
import { createFairTurns } from '../base/fair-turns.js';
import { invalid, isFailure, type Failure } from '../base/failures.js';
import { newId } from '../base/ids.js';
import type { KeyRing } from '../base/secrets.js';
import type { TSchema } from '../base/schema.js';
import { checker } from '../base/validation.js';
import type { Call } from './contract/call.js';
import type { Answer, DataPlane } from './contract/data-plane.js';
import type { Operation } from './contract/operation.js';
import { Books } from './store/books.js';
import { IdempotencyStore } from './store/idempotency.js';
import { Journal } from './store/journal.js';
import { createStore } from './store/store.js';
import { moveDataVersion } from './store/data-version.js';
import { Totals } from './store/totals.js';
import type { Tools } from './operations/tools.js';

export interface LocalDataPlaneOptions<L> {
  readonly operations: L;
  readonly database: Database;
  readonly clock: Clock;
  /** Seals the stored answers of idempotent writes, and the head of each audit chain. */
  readonly keyRing: KeyRing;
}

/** Of one tenant; each may take seconds, and its caller waits for it. */
const LONG_WRITES_WAITING = 10;

/**
 * The data plane in this process. Around every `run` stand, in this one place: validation of the input, the transaction, the idempotency
 * record, the audit rows, the outbox rows, the rollups, and the tenant's data version, under which totals are cached.
 */
export function createLocalDataPlane<L extends Readonly<Record<string, Operation<Tools>>>>(options: LocalDataPlaneOptions<L>): DataPlane<L> {
  const { database, clock, keyRing } = options;
  const idempotency = new IdempotencyStore(keyRing, clock);
  const totals = new Totals();
  const turns = { read: createFairTurns(), write: createFairTurns({ waitingOfEach: LONG_WRITES_WAITING }) };
  const inTurn = <T>({ takesTurns, effect }: Operation<Tools>, { tenantId }: Call, work: () => Promise<T>): Promise<T> => (takesTurns ? turns[effect](tenantId, work) : work());
  const read = <T>(call: Call, work: (tools: Tools) => Promise<T>): Promise<T> => database.read(call, (tx) => work(toolsFor({ tx, call, clock, keyRing, totals }, new Journal(), new Books())));

  const run = async (operation: Operation<Tools>, name: string, call: Call, input: unknown): Promise<Answer<unknown>> => {
    if (operation.effect === 'read') return inTurn(operation, call, () => read(call, async (tools) => ({ output: await operation.run(tools, call, input, undefined), replayed: false })));
    const change = () =>
      inTurn(operation, call, async () => {
        const prepared = operation.prepare && (await read(call, async (tools) => operation.prepare?.(tools, call, input)));
        return database.write(call, (tx) => idempotency.once(tx, call, name, () => journaled({ tx, call, clock, keyRing, totals, name, operation, input, prepared })));
      });
    const refused = async (failure: Failure): Promise<never> => {
      const { afterRefusal } = operation;
      if (afterRefusal) await database.write(call, (tx) => journaled({ tx, call, clock, keyRing, totals, name, operation: { ...operation, run: (tools) => afterRefusal(tools, call, input, failure) }, input, prepared: undefined }));
      throw failure;
    };
    const settled = await idempotency.alone(call, () => afterLostRace(change)).catch((error: unknown) => (isFailure(error) ? refused(error) : Promise.reject(error)));
    if (!('failure' in settled)) return settled;
    return settled.replayed ? Promise.reject(settled.failure) : refused(settled.failure);
  };

  return {
    async invoke(name, call, input) {
      const operation = options.operations[name];
      if (!operation) throw new Error(`no operation is called ${name}`);
      return (await run(operation, name, call, validated(operation.input, input))) as Answer<never>; // its output is what the operation declares
    },
  };
}

function validated(schema: TSchema, input: unknown): unknown {
  const checked = checker(schema)(input);
  if (!checked.ok) throw invalid(...checked.issues);
  return checked.value;
}

interface Change extends Work {
  readonly name: string;
  readonly operation: Operation<Tools>;
  readonly input: unknown;
  readonly prepared: unknown;
}

/** Runs a write and leaves its audit and outbox rows in the same transaction. */
async function journaled({ name, operation, input, prepared, ...work }: Change): Promise<unknown> {
  const { tx, call, clock } = work;
  const journal = new Journal();
  const books = new Books();
  const before = tx.writes;
  const output = await operation.run(toolsFor(work, journal, books), call, input, prepared);
  const changed = tx.writes > before;
  if (operation.isUpkeep || !(changed || journal.hasNotes)) return output;
  if (journal.isEmpty) throw new Error(`${name} changed rows without telling the journal`);
  await journal.write(tx, call, name, clock.now());
  if (changed) await moveDataVersion(tx, call.tenantId);
  await books.close(tx, call.tenantId); // last: writers of the same figures wait for each other from here to the commit
  return output;
}

/** A unique index that refused a row lost a race against a check that found nothing: run again, that check finds it and names it. */
async function afterLostRace<T>(change: () => Promise<T>): Promise<T> {
  try {
    return await change();
  } catch (error) {
    if (!isDatabaseError(error, 'unique')) throw error;
    return change();
  }
}

interface Work {
  readonly tx: Transaction;
  readonly call: Call;
  readonly clock: Clock;
  readonly keyRing: KeyRing;
  readonly totals: Totals;
}

const toolsFor = (work: Work, journal: Journal, books: Books): Tools => ({
  store: createStore({ ...work, journal, books }),
  journal,
  clock: work.clock,
  newId,
  async savepoint(attempt) {
    const marks = { journal: journal.mark(), books: books.mark() };
    try {
      return await work.tx.savepoint(attempt);
    } catch (error) {
      journal.backTo(marks.journal);
      books.backTo(marks.books);
      throw error;
    }
  },
});

