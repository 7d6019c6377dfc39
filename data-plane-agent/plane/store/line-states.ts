import type { Day } from '../../base/day.js';
import type { Dialect } from '../../base/database/database.js';
import { fragment, type Fragment } from '../../base/database/fragments.js';

/** Whether something of a live line is outstanding, and whether something of it is still to be invoiced. */
const STATES = { neither: 0, toInvoice: 1, open: 2, both: 3 } as const;
export type LineState = (typeof STATES)[keyof typeof STATES];

export const OPEN: readonly LineState[] = [STATES.open, STATES.both];
export const TO_INVOICE: readonly LineState[] = [STATES.toInvoice, STATES.both];
export const ANY: readonly LineState[] = Object.values(STATES);

/** As in the index `lines_by_state`, which has the lines of each state by due date: else it is not used. */
const stateOf = (lines: string): string =>
  `CASE WHEN ${lines}.outstanding_minor > 0 THEN CASE WHEN ${lines}.uninvoiced_minor > 0 THEN 3 ELSE 2 END ELSE CASE WHEN ${lines}.uninvoiced_minor > 0 THEN 1 ELSE 0 END END`;

/** The condition that a line has one of the states. Deleted lines are not in the index. */
export const hasState = (states: readonly LineState[], lines = 'payment_lines'): Fragment =>
  fragment(`${stateOf(lines)} IN (${states.join(', ')})`);

/** A place between two lines in the order of due dates. */
export interface LinePlace {
  readonly dueDate: Day;
  readonly id: string;
}

export const isAfter = ({ dueDate, id }: LinePlace): Fragment =>
  fragment('(payment_lines.due_date, payment_lines.id) > (?, ?)', dueDate, id);

interface Walk {
  readonly dialect: Dialect;
  readonly states: readonly LineState[];
  readonly columns: string;
  readonly source: string;
  /** Without the state. */
  readonly where: Fragment;
  readonly limit: number;
  readonly offset?: number;
}

/**
 * Lines of some states by due date, those of each state by a walk along the index. SQLite merges the walks by itself,
 * PostgreSQL only if each has an order and a limit of its own.
 */
export function byDueDate({ dialect, states, columns, source, where, limit, offset = 0 }: Walk): Fragment {
  const walks = states.map((state) => {
    const walk = `SELECT payment_lines.id AS id, payment_lines.due_date AS due_date, ${columns} FROM ${source} WHERE ${where.sql} AND ${stateOf('payment_lines')} = ${state}`;
    return dialect === 'sqlite'
      ? fragment(walk, ...where.values)
      : fragment(`(${walk} ORDER BY due_date, id LIMIT ?)`, ...where.values, offset + limit);
  });
  return fragment(
    `${walks.map(({ sql }) => sql).join(' UNION ALL ')} ORDER BY due_date, id LIMIT ? OFFSET ?`,
    ...walks.flatMap(({ values }) => values),
    limit,
    offset,
  );
}
