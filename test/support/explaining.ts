import type { Database, Row, Transaction, Value } from '../../data-plane-agent/base/database/database.js';

/** Wraps a transaction to record the plan of each read statement. */
export function explaining(tx: Transaction, plans: string[]): Transaction {
  return beforeEachRead(tx, async (sql, values) => void plans.push(await planOf(tx, sql, values)));
}

/** A statement that was read: its plan, and on PostgreSQL how many rows of contracts it read from indexes and the table. */
export interface Read {
  readonly plan: string;
  readonly rows: number | undefined;
}

/** Wraps a transaction to record the plan of each read statement and, on PostgreSQL, the number of rows that it reads. */
export function counting(tx: Transaction, reads: Read[]): Transaction {
  return beforeEachRead(tx, async (sql, values) => {
    const plan = await planOf(tx, sql, values);
    if (tx.dialect === 'sqlite') return void reads.push({ plan, rows: undefined });
    const [row] = await tx.all(`EXPLAIN (ANALYZE, TIMING OFF, FORMAT JSON) ${sql}`, values);
    const [{ Plan: top }] = explained(row);
    reads.push({ plan, rows: rowsIn(top) });
  });
}

/** The plan of a statement, a line for each step. */
export const planOf = async (tx: Transaction, sql: string, values: readonly Value[]): Promise<string> =>
  (await tx.all(`${tx.dialect === 'sqlite' ? 'EXPLAIN QUERY PLAN' : 'EXPLAIN'} ${sql}`, values))
    .map((row) => String(row['detail'] ?? row['QUERY PLAN']))
    .join('\n');

function beforeEachRead(tx: Transaction, look: (sql: string, values: readonly Value[]) => Promise<void>): Transaction {
  return {
    dialect: tx.dialect,
    whole: tx.whole,
    get writes() {
      return tx.writes;
    },
    all: async (sql, values = []) => {
      await look(sql, values);
      return tx.all(sql, values);
    },
    steady: async (sql, values = []) => {
      await look(sql, values);
      return tx.steady(sql, values);
    },
    get: async (sql, values = []) => {
      await look(sql, values);
      return tx.get(sql, values);
    },
    getForUpdate: async (sql, values = []) => {
      await look(sql, values);
      return tx.getForUpdate(sql, values);
    },
    run: (sql, values) => tx.run(sql, values),
    defer: (sql, values) => tx.defer(sql, values),
    insert: (insertion, rows) => tx.insert(insertion, rows),
    hold: (sql, values) => tx.hold(sql, values),
    table: (table) => tx.table(table),
    last: (key, one, work) => tx.last(key, one, work),
    mustBeAlone: () => tx.mustBeAlone(),
    savepoint: (work, options) => tx.savepoint(work, options),
  };
}

/** A node of a plan of PostgreSQL. */
interface PlanNode {
  readonly 'Relation Name'?: string;
  readonly 'Actual Rows': number;
  readonly 'Actual Loops': number;
  readonly 'Rows Removed by Filter'?: number;
  readonly Plans?: readonly PlanNode[];
}

function explained(row: Row | undefined): readonly [{ readonly Plan: PlanNode }] {
  const given: unknown = row?.['QUERY PLAN'];
  return (typeof given === 'string' ? JSON.parse(given) : given) as readonly [{ readonly Plan: PlanNode }]; // PostgreSQL's format
}

function rowsIn(node: PlanNode): number {
  const own =
    node['Relation Name'] === 'contracts'
      ? (node['Actual Rows'] + (node['Rows Removed by Filter'] ?? 0)) * node['Actual Loops']
      : 0;
  return own + (node.Plans ?? []).reduce((sum, part) => sum + rowsIn(part), 0);
}

/** Updates the planner's statistics. A read connection loads them when it executes a statement, not with EXPLAIN. */
export async function analyse(database: Database): Promise<void> {
  await database.exclusive((connection) =>
    connection.run(database.dialect === 'postgres' ? 'VACUUM ANALYZE' : 'ANALYZE'),
  );
  await database.read({ tenantId: null }, (tx) => tx.all('SELECT count(*) FROM schema_migrations'));
}
