import SqliteConnection, { type Statement } from 'better-sqlite3';
import type { Kept } from './contract.js';
import { condition, orderBy, PAGE, type List, type Reader } from './lists.js';
import type { LineOf, Receivable } from './receipt.js';
import type { Store } from './store.js';
import { KEYS, LINE, PART, SORTED, TEXTS } from './tables.js';

export function openSqlite(file: string): SqliteConnection.Database {
  const connection = new SqliteConnection(file);
  for (const pragma of [
    'page_size = 8192',
    'journal_mode = WAL',
    'synchronous = FULL',
    'cache_size = -65536',
    'mmap_size = 8589934592',
    'temp_store = MEMORY',
  ])
    connection.pragma(pragma);
  return connection;
}

/** Matches that are all looked at and sorted, against rows that are looked at in the order of the list. */
const GATHERING_COSTS = 4;

export interface SqliteStore extends Store {
  /** Outside a transaction of its own. */
  insert(contract: Kept): void;
  count(of: Pick<List, 'filters' | 'reader'>): number;
}

export function sqliteStore(connection: SqliteConnection.Database): SqliteStore {
  const prepared = new Map<string, Statement>();
  const prepare = (sql: string): Statement => {
    let statement = prepared.get(sql);
    if (!statement) prepared.set(sql, (statement = connection.prepare(sql)));
    return statement;
  };
  const plucked = (sql: string): Statement => {
    let statement = prepared.get(sql);
    if (!statement) prepared.set(sql, (statement = connection.prepare(sql).pluck()));
    return statement;
  };
  const all = Number(connection.prepare('SELECT count(*) FROM contracts').pluck().get());
  const [begin, commit] = [connection.prepare('BEGIN IMMEDIATE'), connection.prepare('COMMIT')];
  const durably = (work: () => void): void => {
    begin.run();
    try {
      work();
      commit.run();
    } catch (error) {
      connection.exec('ROLLBACK');
      throw error;
    }
  };
  const insert = ({ keys, texts, lines, parts }: Kept): void => {
    const { lastInsertRowid: n } = prepare(into('contracts', KEYS)).run(...keys);
    prepare(into('texts', ['n', ...TEXTS])).run(n, ...texts);
    prepare(into('search', ['rowid', 'text'])).run(n, keys[KEYS.indexOf('search')]);
    const line = prepare(into('lines', ['contract', ...LINE]));
    for (const values of lines) line.run(n, ...values);
    const part = prepare(into('parts', ['contract', ...PART]));
    for (const values of parts) part.run(n, ...values);
  };
  return {
    insert,
    count: (of) => {
      const { sql, values } = condition(of, { dialect: 'sqlite', byIndex: true });
      return Number(plucked(`SELECT count(*) FROM contracts ${sql}`).get(...values));
    },
    page(list) {
      const isWalked = (list.offset + PAGE) * (all / Math.max(1, list.total)) < list.total * GATHERING_COSTS;
      const { sql, values } = condition(list, { dialect: 'sqlite', byIndex: !isWalked });
      const order = orderBy(list);
      // `+` keeps the index of the order out of use.
      const from = isWalked ? ` INDEXED BY by_${SORTED[list.sort] ?? 'created_at'}` : '';
      const ids = plucked(
        `SELECT n FROM contracts${from} ${sql} ORDER BY ${isWalked ? order : `+${order}`} LIMIT ${PAGE} OFFSET ?`,
      ).all(...values, list.offset);
      const item = plucked(
        `SELECT core || ',' || ${ownOf(list.reader)} || ',' || state || ',' || names FROM texts WHERE n = ?`,
      );
      return ids.map((n) => String(item.get(n)));
    },
    detail(id, reader) {
      const found = prepare(
        `SELECT c.n, core || ',' || ${ownOf(reader)} || ',' || state AS contract, names FROM contracts c JOIN texts t ON t.n = c.n WHERE c.id = ?`,
      ).get(id) as { n: number; contract: string; names: string } | undefined;
      if (!found) return undefined;
      const parts: Record<string, string> = {};
      for (const { kind, json } of prepare(
        'SELECT kind, json FROM parts WHERE contract = ? ORDER BY kind, position',
      ).all(found.n) as { kind: string; json: string }[])
        parts[kind] = parts[kind] === undefined ? json : `${parts[kind]},${json}`;
      const lines = plucked('SELECT json FROM lines WHERE contract = ? ORDER BY due_date, position, id').all(found.n);
      return { contract: found.contract, names: found.names, lines: lines.join(','), parts };
    },
    overdue(today, offset) {
      const found = prepare(
        `SELECT json, contract FROM lines WHERE outstanding > 0 AND due_date < ? ORDER BY due_date, id LIMIT ${PAGE} OFFSET ?`,
      ).all(today, offset) as { json: string; contract: number }[];
      const of = plucked('SELECT of_lines FROM texts WHERE n = ?');
      return found.map(({ json, contract }) => `${json.slice(0, -1)},${String(of.get(contract))}}`);
    },
    create(contract) {
      durably(() => insert(contract));
    },
    receive(lineId, change) {
      let answer: string | undefined;
      durably(() => {
        const line = prepare(
          'SELECT l.n, l.contract, l.amount, l.json, c.version, t.core, t.state FROM lines l JOIN contracts c ON c.n = l.contract JOIN texts t ON t.n = l.contract WHERE l.id = ?',
        ).get(lineId) as (Omit<Receivable, 'lines'> & { n: number }) | undefined;
        if (!line) return;
        const lines = prepare(
          'SELECT id, due_date AS dueDate, amount, received, outstanding FROM lines WHERE contract = ?',
        ).all(line.contract) as LineOf[];
        const { line: own, contract, history, answer: text } = change({ ...line, lines });
        prepare('UPDATE lines SET received = ?, outstanding = ?, json = ? WHERE n = ?').run(
          own.received,
          own.outstanding,
          own.json,
          line.n,
        );
        prepare(
          'UPDATE contracts SET updated_at = ?, outstanding_amount = ?, payment_status = ?, next_due_date = ?, is_overdue = ?, is_due_soon = ?, version = version + 1 WHERE n = ?',
        ).run(
          contract.updatedAt,
          contract.outstanding,
          contract.paymentStatus,
          contract.nextDueDate,
          contract.isOverdue,
          contract.isDueSoon,
          line.contract,
        );
        prepare('UPDATE texts SET core = ?, state = ? WHERE n = ?').run(contract.core, contract.state, line.contract);
        prepare('INSERT INTO receipts (line, json) VALUES (?, ?)').run(lineId, history);
        answer = text;
      });
      return answer;
    },
  };
}

export const ownOf = ({ isHidden }: Reader): string => (isHidden ? 'hidden' : 'shown');

const into = (table: string, columns: readonly string[]): string =>
  `INSERT INTO ${table} (${columns.join(', ')}) VALUES (${columns.map(() => '?').join(', ')})`;
