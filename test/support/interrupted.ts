import type { Database, Scope, Transaction, WriteOptions } from '../../data-plane-agent/base/database/database.js';

type Write = [scope: Scope, work: (tx: Transaction) => Promise<unknown>, options?: WriteOptions];

/** Called before each write of a process, with its number from 1. What it throws, the write throws. */
export type BeforeWrite = (number: number) => Promise<void> | void;

/** The database as one process sees it: a test decides before each of its writes what happens. */
export function interruptedDatabase(database: Database, before: BeforeWrite): Database {
  let writes = 0;
  return changed(database, {
    write: async (...[scope, work, options]: Write) => {
      writes += 1;
      await before(writes);
      return database.write(scope, work, options);
    },
  });
}

/** A database in which a statement with this value among others ends in an unexpected error. */
export const poisonedDatabase = (database: Database, value: string): Database =>
  changed(database, {
    write: (...[scope, work, options]: Write) =>
      database.write(
        scope,
        (tx) => {
          const refusing =
            (name: 'run' | 'defer') =>
            async (sql: string, values: readonly unknown[] = []): Promise<unknown> => {
              if (values.includes(value)) throw new Error(`poisoned by ${value}`);
              return tx[name](sql, values as []); // as they were given
            };
          const insert: Transaction['insert'] = async (insertion, rows) => {
            if (rows.some((values) => values.includes(value))) throw new Error(`poisoned by ${value}`);
            return tx.insert(insertion, rows);
          };
          return work(changed(tx, { run: refusing('run'), defer: refusing('defer'), insert }));
        },
        options,
      ),
  });

/** After the write with this number the process is no more: none of its later writes happens. */
export const diesBefore =
  (at: number): BeforeWrite =>
  (number) => {
    if (number >= at) throw new Error('the process has died');
  };

/** Stops the process before the write with this number, until it is told to go on. */
export function stopsBefore(at: number): {
  readonly before: BeforeWrite;
  readonly stopped: Promise<void>;
  goOn(): void;
} {
  const stopped = Promise.withResolvers<void>();
  const continued = Promise.withResolvers<void>();
  return {
    before: async (number) => {
      if (number !== at) return;
      stopped.resolve();
      await continued.promise;
    },
    stopped: stopped.promise,
    goOn: continued.resolve,
  };
}

function changed<T extends object>(of: T, changes: Readonly<Record<string, unknown>>): T {
  return new Proxy(of, {
    get(target, name) {
      const other = typeof name === 'string' ? changes[name] : undefined;
      if (other !== undefined) return other;
      const found: unknown = Reflect.get(target, name);
      return typeof found === 'function' ? (found.bind(target) as unknown) : found;
    },
  });
}
