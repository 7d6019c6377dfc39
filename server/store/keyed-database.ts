import type { Clock } from '../../data-plane-agent/base/clock.js';
import type { Database, Scope, Transaction } from '../../data-plane-agent/base/database/database.js';
import type { KeyRing } from '../../data-plane-agent/base/secrets.js';
import { IdempotencyStore, type Settled } from '../../data-plane-agent/base/database/idempotency.js';
import type { KeyedRequest } from '../../data-plane-agent/base/http/request.js';

/**
 * The platform database for services behind endpoints: the write of a request with an idempotency key is executed once.
 */
export interface KeyedDatabase extends Database {
  /**
   * With `keyed`, the answer of the write, or its refusal, is stored encrypted in the same transaction, and a repeated
   * request gets it again. Such a request makes one write here, and answers with the result of that write as plain
   * JSON.
   */
  write<T>(
    scope: Scope & { readonly keyed?: KeyedRequest | undefined },
    work: (tx: Transaction) => Promise<T>,
  ): Promise<T>;
  /**
   * Returns the stored answer of this request, or throws its stored refusal; `undefined` if there is none. For requests
   * with checks before the write, which a repetition skips.
   */
  answered<T>(keyed: KeyedRequest | undefined): Promise<{ readonly answer: T } | undefined>;
}

export function keyedDatabase({
  database,
  clock,
  keyRing,
}: {
  database: Database;
  clock: Clock;
  keyRing: KeyRing;
}): KeyedDatabase {
  const idempotency = new IdempotencyStore(keyRing, clock, () => Promise.resolve()); // a schedule deletes expired records

  const once = async <T>(scope: Scope, keyed: KeyedRequest, work: (tx: Transaction) => Promise<T>): Promise<T> => {
    // JSON has no `undefined`.
    const settled = await idempotency.alone(keyed, () =>
      database.write(scope, (tx) =>
        idempotency.once(tx, { call: keyed, operation: keyed.operation }, async () => (await work(tx)) ?? null),
      ),
    );
    return answerOf<T>(settled, keyed);
  };

  return {
    dialect: database.dialect,
    read: (scope, work) => database.read(scope, work),
    glance: (scope, sql, id) => database.glance(scope, sql, id),
    generation: () => database.generation(),
    write: ({ keyed, ...scope }, work) => (keyed ? once(scope, keyed, work) : database.write(scope, work)),
    answered: async <T>(keyed: KeyedRequest | undefined) => {
      const settled =
        keyed && (await database.read({ tenantId: null }, (tx) => idempotency.stored(tx, keyed, keyed.operation)));
      return settled && { answer: answerOf<T>(settled, keyed) };
    },
    pauseWrites: () => database.pauseWrites(),
    ping: (timeoutMs) => database.ping(timeoutMs),
    pool: () => database.pool(),
    exclusive: (work, waiting) => database.exclusive(work, waiting),
    close: () => database.close(),
  };
}

function answerOf<T>(settled: Settled, { onReplay }: KeyedRequest): T {
  if (settled.replayed) onReplay();
  if ('failure' in settled) throw settled.failure;
  return settled.output as T; // the result of the write, or the stored one
}
