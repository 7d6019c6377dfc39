import type { Clock } from '../../data-plane-agent/base/clock.js';
import type { Database, Scope, Transaction } from '../../data-plane-agent/base/database/database.js';
import type { KeyRing } from '../../data-plane-agent/base/secrets.js';
import { IdempotencyStore, type Settled } from '../../data-plane-agent/base/database/idempotency.js';
import type { KeyedRequest } from '../../data-plane-agent/base/http/request.js';

/** The platform database as the services behind endpoints have it: a write for a keyed request happens once. */
export interface KeyedDatabase extends Database {
  /**
   * As any write, but for `keyed`: then the answer of the write, or its refusal by rule, is stored sealed in the
   * transaction of the write itself, as the data plane does it, and a repeat gets it again. Such a request makes one
   * write here, and answers from what that write answered: plain JSON.
   */
  write<T>(
    scope: Scope & { readonly keyed?: KeyedRequest | undefined },
    work: (tx: Transaction) => Promise<T>,
  ): Promise<T>;
  /**
   * What the write of this request answered before, or its refusal again; `undefined` when it has not answered. For who
   * asks something else before the write, which no longer matters then.
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
  const idempotency = new IdempotencyStore(keyRing, clock, () => Promise.resolve()); // a schedule removes what is over

  const once = async <T>(scope: Scope, keyed: KeyedRequest, work: (tx: Transaction) => Promise<T>): Promise<T> => {
    // JSON has no undefined.
    const settled = await idempotency.alone(keyed, () =>
      database.write(scope, (tx) =>
        idempotency.once(tx, { call: keyed, operation: keyed.operation }, async () => (await work(tx)) ?? null),
      ),
    );
    return told<T>(settled, keyed);
  };

  return {
    dialect: database.dialect,
    read: (scope, work) => database.read(scope, work),
    write: ({ keyed, ...scope }, work) => (keyed ? once(scope, keyed, work) : database.write(scope, work)),
    answered: async <T>(keyed: KeyedRequest | undefined) => {
      const settled =
        keyed && (await database.read({ tenantId: null }, (tx) => idempotency.stored(tx, keyed, keyed.operation)));
      return settled && { answer: told<T>(settled, keyed) };
    },
    ping: (timeoutMs) => database.ping(timeoutMs),
    pool: () => database.pool(),
    exclusive: (work, waiting) => database.exclusive(work, waiting),
    close: () => database.close(),
  };
}

function told<T>(settled: Settled, { onReplay }: KeyedRequest): T {
  if (settled.replayed) onReplay();
  if ('failure' in settled) throw settled.failure;
  return settled.output as T; // what the write answered, now or the first time
}
