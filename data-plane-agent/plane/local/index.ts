import type { Clock } from '../../base/clock.js';
import type { Database, Transaction } from '../../base/database/database.js';
import { isDatabaseError } from '../../base/database/errors.js';
import { createFairTurns } from '../../base/fair-turns.js';
import { fail, invalid, isFailure, type Failure } from '../../base/failures.js';
import { newId } from '../../base/ids.js';
import type { Log } from '../../base/log.js';
import type { KeyRing } from '../../base/secrets.js';
import type { TSchema } from '../../base/schema.js';
import { checkerInTurns } from '../../base/validation-in-turns.js';
import type { Call } from '../contract/call.js';
import type { Answer, DataPlane } from '../contract/data-plane.js';
import type { Errand, Operation } from '../contract/operation.js';
import { ObjectStoreError } from '../files/objects/object-store.js';
import type { FileServices } from '../files/services.js';
import { outOfReach } from '../out-of-reach.js';
import { Books } from '../store/books.js';
import { IdempotencyStore, isRefusal, type KeptAnswer, type Settled } from '../../base/database/idempotency.js';
import { Journal } from '../store/journal.js';
import { createStore } from '../store/store.js';
import { moveDataVersion } from '../store/data-version.js';
import { DueMarks } from '../store/due-work.js';
import { Totals } from '../store/totals.js';
import type { Tools, Work } from '../steps/operation-context.js';

export interface LocalDataPlaneOptions<L> {
  readonly operations: L;
  readonly database: Database;
  readonly clock: Clock;
  /** Seals the stored answers of idempotent writes, and the head of each audit chain. */
  readonly keyRing: KeyRing;
  /** What errands need; a plane without it is for work on the database alone. */
  readonly outside?: Outside;
}

/** What is outside the database. */
export interface Outside {
  readonly files: FileServices;
  readonly log: Log;
  /** Keeps the process until this has come to its end. It never rejects. */
  afterwards(rest: Promise<void>): void;
}

/** An operation or an errand, as a list has them. */
type Listed = Operation<Tools> | Errand<Work>;

/** Of one tenant; each may take seconds, and its caller waits for it. */
const LONG_WRITES_WAITING = 10;

/**
 * The data plane in this process. Around every `run` stand, in this one place: validation of the input, the transaction, the idempotency
 * record, the audit rows, the outbox rows, the rollups, and the tenant's data version, under which totals are cached.
 */
export function createLocalDataPlane<L extends Readonly<Record<string, Listed>>>(options: LocalDataPlaneOptions<L>): DataPlane<L> {
  const { database, clock, keyRing, outside } = options;
  const idempotency = new IdempotencyStore(keyRing, clock, expiringAnswers);
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

  const perform = async (errand: Errand<Work>, name: string, call: Call, input: unknown): Promise<Answer<unknown>> => {
    if (!outside) throw new Error(`${name} needs an object store, and this data plane was opened without one`);
    const kept = await database.read(call, (tx) => idempotency.stored(tx, call, name));
    if (kept) return answered(kept);
    let concluded: Settled | undefined;
    const step = <T>(run: (tools: Tools) => Promise<T>) => (tx: Transaction) => journaled({ tx, call, clock, keyRing, totals, name, operation: { ...errand, run }, input, prepared: undefined }) as Promise<T>; // what `run` gives
    const write = <T>(run: (tools: Tools) => Promise<T>): Promise<T> => afterLostRace(() => database.write(call, step(run)));
    const work: Work = {
      files: outside.files,
      clock,
      newId,
      log: outside.log.child({ operation: name, requestId: call.requestId, tenantId: call.tenantId }),
      read: (run) => read(call, run),
      write,
      upkeep: (run) => database.write(call, async (tx) => {
        const journal = new Journal();
        const done = await run(toolsFor({ tx, call, clock, keyRing, totals }, journal, new Books()));
        await journal.due.write(tx, call.tenantId);
        return done;
      }),
      conclude: async <T>(run: (tools: Tools) => Promise<T>): Promise<T> => {
        concluded = await afterLostRace(() => database.write(call, (tx) => idempotency.once(tx, call, name, () => step(run)(tx))));
        return answered(concluded).output as T; // what `run` gave, now or when the key was first used
      },
      afterwards: (rest) => { outside.afterwards(rest().catch((error: unknown) => { work.log.error({ err: error }, 'not finished'); })); },
    };
    const output = await idempotency.alone(call, async () => {
      try {
        const came = await errand.perform(work, call, input);
        // What needed no last step is the answer to its key all the same.
        return concluded || !call.idempotency ? came : await work.conclude(() => Promise.resolve(came));
      } catch (error) {
        // A refusal on the way is an answer to keep, as one of the last step is.
        if (!concluded && isRefusal(error)) await database.write(call, (tx) => idempotency.once(tx, call, name, () => Promise.reject(error)));
        throw unavailable(error, work.log);
      }
    });
    return { output, replayed: concluded?.replayed ?? false };
  };

  return {
    async invoke(name, call, input) {
      const operation = options.operations[name];
      if (!operation) throw new Error(`no operation is called ${name}`);
      const checked = await validated(operation.input, input);
      try {
        return (await ('perform' in operation ? perform(operation, name, call, checked) : run(operation, name, call, checked))) as Answer<never>; // its output is what the operation declares
      } catch (error) {
        throw outOfReach(error, { effect: operation.effect, call });
      }
    },
  };
}

/** An answer that is kept under its key has an end. */
const expiringAnswers: KeptAnswer = async (tx, { tenantId, expiresAt }) => {
  const due = new DueMarks();
  due.at('expiry', expiresAt);
  await due.write(tx, tenantId);
};

function answered(settled: Settled): Answer<unknown> {
  if ('failure' in settled) throw settled.failure;
  return settled;
}

/** A store out of reach, and one that its operator has locked us out of, are alike to the caller: try again later. The log tells them apart. */
function unavailable(error: unknown, log: Log): unknown {
  if (!(error instanceof ObjectStoreError)) return error;
  log.error({ err: error }, error.code === 'denied' ? 'the object store refuses us: see duebook doctor' : 'the object store is out of reach');
  return fail('OBJECT_STORE_UNAVAILABLE', { retryAfterSeconds: 10 }, { cause: error });
}

async function validated(schema: TSchema, input: unknown): Promise<unknown> {
  const checked = await checkerInTurns(schema)(input);
  if (!checked.ok) throw invalid(...checked.issues);
  return checked.value;
}

interface Change extends Parts {
  readonly name: string;
  readonly operation: Operation<Tools>;
  readonly input: unknown;
  readonly prepared: unknown;
}

/** Runs a write and leaves its audit and outbox rows in the same transaction. */
async function journaled({ name, operation, input, prepared, ...parts }: Change): Promise<unknown> {
  const { tx, call, clock } = parts;
  const journal = new Journal();
  const books = new Books();
  const before = tx.writes;
  const output = await operation.run(toolsFor(parts, journal, books), call, input, prepared);
  const changed = tx.writes > before;
  if (operation.isUpkeep || !(changed || journal.hasNotes)) {
    if (changed) await journal.due.write(tx, call.tenantId);
    return output;
  }
  if (journal.isEmpty) throw new Error(`${name} changed rows without telling the journal`);
  await journal.write(tx, call, name, clock.now());
  await (changed ? moveDataVersion(tx, call.tenantId, journal.due) : journal.due.write(tx, call.tenantId));
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

/** What a store is made of. */
interface Parts {
  readonly tx: Transaction;
  readonly call: Call;
  readonly clock: Clock;
  readonly keyRing: KeyRing;
  readonly totals: Totals;
}

const toolsFor = (parts: Parts, journal: Journal, books: Books): Tools => ({
  store: createStore({ ...parts, journal, books }),
  journal,
  clock: parts.clock,
  newId,
  async savepoint(attempt) {
    const marks = { journal: journal.mark(), books: books.mark() };
    try {
      return await parts.tx.savepoint(attempt);
    } catch (error) {
      journal.backTo(marks.journal);
      books.backTo(marks.books);
      throw error;
    }
  },
});

