import type { Database, Transaction, Value } from '../../data-plane-agent/base/database/database.js';

interface Asked {
  readonly sql: string;
  readonly values: readonly Value[];
}

/** A database that notes each statement whose rows a snapshot of it reads. */
export function watchedDatabase(database: Database): { readonly database: Database; readonly asked: Asked[] } {
  const asked: Asked[] = [];
  const noting = <T extends object>(of: T, changed: Readonly<Record<string, unknown>>): T =>
    new Proxy(of, {
      get(target, name) {
        const other = typeof name === 'string' ? changed[name] : undefined;
        if (other !== undefined) return other;
        const found: unknown = Reflect.get(target, name);
        return typeof found === 'function' ? (found.bind(target) as unknown) : found;
      },
    });
  const watched = (tx: Transaction): Transaction => {
    const all: Transaction['all'] = (sql, values = []) => {
      asked.push({ sql, values });
      return tx.all(sql, values);
    };
    const get: Transaction['get'] = (sql, values = []) => {
      asked.push({ sql, values });
      return tx.get(sql, values);
    };
    return noting(tx, { all, get });
  };
  const read: Database['read'] = (scope, work) => database.read(scope, (tx) => work(watched(tx)));
  return { database: noting(database, { read }), asked };
}
