import pg from 'pg';
import { condition, orderBy, PAGE, type List } from './lists.js';
import type { LineOf, Receivable } from './receipt.js';
import { ownOf } from './sqlite.js';
import type { Store } from './store.js';
import { KEYS, SORTED, TEXTS } from './tables.js';

const INT8 = 20;
/** The default number of connections of the product. */
const POOL = 10;
/** Where the raw program has its tables, beside those of the product. */
export const SCHEMA = 'raw';

export interface PostgresStore extends Store {
  count(of: Pick<List, 'filters' | 'reader'>): Promise<number>;
  /** Runs a statement that has no values. */
  run(sql: string): Promise<void>;
  end(): Promise<void>;
}

/** Each answer is one round trip, each write at most two: a statement writes to all tables. */
export function postgresStore(connectionString: string): PostgresStore {
  pg.types.setTypeParser(INT8, Number);
  const pool = new pg.Pool({
    connectionString,
    max: POOL,
    options: `-c search_path=${SCHEMA},public -c synchronous_commit=on`,
  });
  const named = new Map<string, { readonly name: string; readonly text: string }>();
  const query = async <T extends pg.QueryResultRow>(sql: string, values: readonly unknown[]): Promise<T[]> => {
    let statement = named.get(sql);
    if (!statement) {
      let n = 0;
      named.set(sql, (statement = { name: `s${named.size}`, text: sql.replaceAll('?', () => `$${++n}`) }));
    }
    return (await pool.query<T>({ ...statement, values: [...values] })).rows;
  };
  return {
    run: async (sql) => void (await pool.query(sql)),
    end: () => pool.end(),
    async count(of) {
      const { sql, values } = condition(of, { dialect: 'postgres', byIndex: true });
      const [row] = await query<{ n: number }>(`SELECT count(*) AS n FROM contracts ${sql}`, values);
      return Number(row?.n);
    },
    async page(list) {
      const { sql, values } = condition(list, { dialect: 'postgres', byIndex: true });
      const column = SORTED[list.sort] ?? 'created_at';
      const rows = await query<{ item: string }>(
        `SELECT core || ',' || ${ownOf(list.reader)} || ',' || state || ',' || names AS item FROM (SELECT n, id, ${column} FROM contracts ${sql} ORDER BY ${orderBy(list)} LIMIT ${PAGE} OFFSET ?) AS page JOIN texts USING (n) ORDER BY ${orderBy(list)}`,
        [...values, list.offset],
      );
      return rows.map(({ item }) => item);
    },
    async detail(id, reader) {
      const [row] = await query<{
        contract: string;
        names: string;
        lines: string | null;
        parts: Record<string, string> | null;
      }>(
        `SELECT core || ',' || ${ownOf(reader)} || ',' || state AS contract, names,
           (SELECT string_agg(json, ',' ORDER BY due_date, position, id) FROM lines WHERE contract = c.n) AS lines,
           (SELECT json_object_agg(kind, json) FROM (SELECT kind, string_agg(json, ',' ORDER BY position) AS json FROM parts WHERE contract = c.n GROUP BY kind) AS p) AS parts
         FROM contracts c JOIN texts t USING (n) WHERE c.id = ?`,
        [id],
      );
      return row && { contract: row.contract, names: row.names, lines: row.lines ?? '', parts: row.parts ?? {} };
    },
    async overdue(today, offset) {
      const rows = await query<{ json: string; of_lines: string }>(
        `SELECT json, of_lines FROM (SELECT json, contract, due_date, id FROM lines WHERE outstanding > 0 AND due_date < ? ORDER BY due_date, id LIMIT ${PAGE} OFFSET ?) AS page JOIN texts ON n = contract ORDER BY due_date, id`,
        [today, offset],
      );
      return rows.map(({ json, of_lines }) => `${json.slice(0, -1)},${of_lines}}`);
    },
    async create({ keys, texts, lines, parts }) {
      await query(CREATE, [
        ...keys,
        ...texts,
        ...Array.from({ length: 7 }, (_, column) => lines.map((line) => line[column])),
        ...Array.from({ length: 3 }, (_, column) => parts.map((part) => part[column])),
      ]);
    },
    async receive(lineId, change) {
      // Another receipt for the same contract may come between the two statements: then it is read again.
      for (;;) {
        const [before] = await query<Receivable & { n: number; lines: LineOf[] }>(RECEIVABLE, [lineId]);
        if (!before) return undefined;
        const { line, contract, history, answer } = change(before);
        const { updatedAt, outstanding, paymentStatus, nextDueDate, isOverdue, isDueSoon } = contract;
        const written = await query<{ written: number }>(RECEIVE, [
          updatedAt,
          outstanding,
          paymentStatus,
          nextDueDate,
          isOverdue,
          isDueSoon,
          before.contract,
          before.version,
          contract.core,
          contract.state,
          line.received,
          line.outstanding,
          line.json,
          before.n,
          lineId,
          history,
        ]);
        if (written.length > 0) return answer;
      }
    },
  };
}

const marks = (n: number): string => Array.from({ length: n }, () => '?').join(', ');

const CREATE = `WITH c AS (INSERT INTO contracts (${KEYS.join(', ')}) VALUES (${marks(KEYS.length)}) RETURNING n),
  t AS (INSERT INTO texts (n, ${TEXTS.join(', ')}) SELECT n, ${marks(TEXTS.length)} FROM c),
  l AS (INSERT INTO lines (contract, id, due_date, position, amount, received, outstanding, json)
    SELECT c.n, x.* FROM c, unnest(?::text[], ?::text[], ?::bigint[], ?::bigint[], ?::bigint[], ?::bigint[], ?::text[]) AS x)
  INSERT INTO parts (contract, kind, position, json) SELECT c.n, x.* FROM c, unnest(?::text[], ?::bigint[], ?::text[]) AS x`;

const RECEIVABLE = `SELECT l.n, l.contract, l.amount, l.json, c.version, t.core, t.state,
    (SELECT json_agg(json_build_object('id', o.id, 'dueDate', o.due_date, 'amount', o.amount, 'received', o.received, 'outstanding', o.outstanding)) FROM lines o WHERE o.contract = l.contract) AS lines
  FROM lines l JOIN contracts c ON c.n = l.contract JOIN texts t ON t.n = l.contract WHERE l.id = ?`;

const RECEIVE = `WITH c AS (UPDATE contracts SET updated_at = ?, outstanding_amount = ?, payment_status = ?, next_due_date = ?, is_overdue = ?, is_due_soon = ?, version = version + 1 WHERE n = ? AND version = ? RETURNING n),
  t AS (UPDATE texts SET core = ?, state = ? WHERE n = (SELECT n FROM c)),
  l AS (UPDATE lines SET received = ?, outstanding = ?, json = ? WHERE n = ? AND EXISTS (SELECT 1 FROM c))
  INSERT INTO receipts (line, json) SELECT ?, ? FROM c RETURNING 1 AS written`;
