import type { Transaction } from '../../data-plane-agent/base/database/database.js';

/** The transaction, with some methods of it replaced. */
export const withMethods = (tx: Transaction, methods: Partial<Transaction>): Transaction =>
  new Proxy(tx, {
    get: (of, property) => {
      const value: unknown = Reflect.get(property in methods ? methods : of, property);
      return typeof value === 'function' ? (value.bind(of) as unknown) : value;
    },
  });
