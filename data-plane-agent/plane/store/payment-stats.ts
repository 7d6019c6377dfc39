import { addDays } from '../../base/day.js';
import type { Row, Transaction } from '../../base/database/database.js';
import type { Call } from '../contract/call.js';
import type { CurrencyFigures } from '../domain/payment-figures.js';
import { linesInScope, onTab } from './payment-list.js';
import { allOf, fragment, type Fragment } from './scope.js';

/** Counts and sums over the live lines in scope, currency by currency. */
export class PaymentStatsStore {
  constructor(
    private readonly tx: Transaction,
    private readonly call: Call,
  ) {}

  async byCurrency(): Promise<CurrencyFigures[]> {
    const { source, where } = linesInScope(this.tx.dialect, this.call);
    const figures = columns(this.call);
    const rows = await this.tx.all(
      `SELECT payment_lines.currency_code, ${figures.sql} FROM ${source} WHERE ${where.sql} AND ${STILL_LIVE} GROUP BY payment_lines.currency_code ORDER BY payment_lines.currency_code`,
      [...figures.values, ...where.values],
    );
    return rows.map((row) => ({
      currencyCode: String(row['currency_code']),
      counts: {
        due: whole(row, 'due'),
        overdue: whole(row, 'overdue'),
        dueSoon: whole(row, 'due_soon'),
        reconcile: whole(row, 'reconcile'),
        invoice: whole(row, 'invoice'),
        paid: whole(row, 'paid'),
        partial: whole(row, 'part_paid'),
        unpaid: whole(row, 'unpaid'),
        all: whole(row, 'every'),
      },
      sums: {
        amount: exact(row, 'amount'),
        received: exact(row, 'received'),
        outstanding: exact(row, 'outstanding'),
        overdue: exact(row, 'overdue'),
        dueSoon: exact(row, 'due_soon'),
        uninvoiced: exact(row, 'uninvoiced'),
      },
    }));
  }
}

/** With the sign no index on live lines answers it: all rows are read, and faster in the order in which they lie than by due date. */
const STILL_LIVE = '+payment_lines.deleted_at IS NULL';

/** The conditions of the tabs, and those of the money rules, as the database counts them. */
function columns({ today, reminderLeadDays }: Call): Fragment {
  const overdue = onTab('overdue', today);
  const dueSoon = allOf([onTab('due', today), fragment('payment_lines.due_date <= ?', addDays(today, reminderLeadDays))]);
  return joined([
    counted('every'),
    counted('due', onTab('due', today)),
    counted('overdue', overdue),
    counted('due_soon', dueSoon),
    counted('reconcile', onTab('reconcile', today)),
    counted('invoice', onTab('invoice', today)),
    counted('paid', fragment('payment_lines.received_minor >= payment_lines.amount_minor')),
    counted('part_paid', fragment('payment_lines.received_minor > 0 AND payment_lines.received_minor < payment_lines.amount_minor')),
    counted('unpaid', fragment('payment_lines.received_minor = 0 AND payment_lines.amount_minor > 0')),
    summed('amount', 'payment_lines.amount_minor'),
    summed('received', 'payment_lines.received_minor'),
    summed('outstanding', 'payment_lines.outstanding_minor'),
    summed('overdue', 'payment_lines.outstanding_minor', overdue),
    summed('due_soon', 'payment_lines.outstanding_minor', dueSoon),
    summed('uninvoiced', 'payment_lines.uninvoiced_minor'),
  ]);
}

/** Sums of many contracts pass 2^53, and on SQLite even 2^63: so each is taken in two parts, which are put together exactly. */
const PART = 1_000_000_000;

const summed = (name: string, column: string, when?: Fragment): Fragment =>
  joined([filtered(`sum(${column} / ${PART})`, `${name}_high`, when), filtered(`sum(${column} % ${PART})`, `${name}_low`, when)]);

const counted = (name: string, when?: Fragment): Fragment => filtered('count(*)', `${name}_count`, when);

const filtered = (expression: string, name: string, when: Fragment | undefined): Fragment =>
  when ? fragment(`${expression} FILTER (WHERE ${when.sql}) AS ${name}`, ...when.values) : fragment(`${expression} AS ${name}`);

const joined = (parts: readonly Fragment[]): Fragment => fragment(parts.map(({ sql }) => sql).join(', '), ...parts.flatMap(({ values }) => values));

const whole = (row: Row, name: string): number => Number(row[`${name}_count`]);

/** The sum of no rows is null. */
const exact = (row: Row, name: string): bigint => BigInt(row[`${name}_high`] ?? 0) * BigInt(PART) + BigInt(row[`${name}_low`] ?? 0);
