import type { Database, Transaction, Value } from '../../data-plane-agent/base/database/database.js';

/** Wraps a transaction to record the plan of each read statement. */
export function explaining(tx: Transaction, plans: string[]): Transaction {
  const noted = async <T>(sql: string, values: readonly Value[], run: () => Promise<T>): Promise<T> => {
    const rows = await tx.all(`${tx.dialect === 'sqlite' ? 'EXPLAIN QUERY PLAN' : 'EXPLAIN'} ${sql}`, values);
    plans.push(rows.map((row) => String(row['detail'] ?? row['QUERY PLAN'])).join('\n'));
    return run();
  };
  return {
    dialect: tx.dialect,
    get writes() {
      return tx.writes;
    },
    all: (sql, values = []) => noted(sql, values, () => tx.all(sql, values)),
    get: (sql, values = []) => noted(sql, values, () => tx.get(sql, values)),
    run: (sql, values) => tx.run(sql, values),
    defer: (sql, values) => tx.defer(sql, values),
    hold: (sql, values) => tx.hold(sql, values),
    table: (table) => tx.table(table),
    savepoint: (work, options) => tx.savepoint(work, options),
  };
}

/** Updates the planner's statistics. A read connection loads them when it executes a statement, not with EXPLAIN. */
export async function analyse(database: Database): Promise<void> {
  await database.exclusive((connection) =>
    connection.run(database.dialect === 'postgres' ? 'VACUUM ANALYZE' : 'ANALYZE'),
  );
  await database.read({ tenantId: null }, (tx) => tx.all('SELECT count(*) FROM schema_migrations'));
}
