/**
 * The rollups: totals of receivables per day, and of contracts per group. Write operations keep them up to date, so
 * that the cost of reading depends on the number of days, not of lines.
 */

/** Used in keys for "all subject companies", "all people", and "no superior". */
export const EVERY = '00000000-0000-0000-0000-000000000000';

/**
 * Each sum has two columns, since sums can exceed 2^53, and on SQLite 2^63: `x_high` holds the multiples of this
 * number, `x_low` the rest.
 */
export const PART = 1_000_000_000;

type Parts<S extends string> = `${S}_high` | `${S}_low`;
const parts = <const S extends string>(sums: readonly S[]): Parts<S>[] =>
  sums.flatMap((name): Parts<S>[] => [`${name}_high`, `${name}_low`]);

export const DAY_KEYS = ['person_id', 'subject_id', 'currency_code', 'day'] as const;
/** Totals of the lines due on a day that depend on the plan alone; `to_invoice` counts lines not invoiced in full. */
const PLAN_COUNTS = ['lines', 'to_invoice'] as const;
const PLAN_SUMS = ['amount', 'outstanding', 'uninvoiced'] as const;
/**
 * Totals that depend on payments: `late` is Σ days late × amount of the lines paid in full; `receipts` and `invoices`
 * are the money received and the invoices dated on that day.
 */
const MONEY_COUNTS = ['paid', 'partial', 'reconcile'] as const;
const MONEY_SUMS = ['received', 'settled', 'late', 'receipts', 'invoices'] as const;

export type DayCount = (typeof PLAN_COUNTS)[number] | (typeof MONEY_COUNTS)[number];
export type DaySum = (typeof PLAN_SUMS)[number] | (typeof MONEY_SUMS)[number];
export type DayColumn = DayCount | Parts<DaySum>;
/** The columns that a plan without payments affects. */
export const PLAN_COLUMNS: readonly DayColumn[] = [...PLAN_COUNTS, ...parts(PLAN_SUMS)];
export const DAY_COLUMNS: readonly DayColumn[] = [...PLAN_COLUMNS, ...MONEY_COUNTS, ...parts(MONEY_SUMS)];

export const GROUP_KEYS = [
  'subject_id',
  'owner_id',
  'superior_id',
  'currency_code',
  'type',
  'status',
  'stage',
  'payment_status',
] as const;
export type GroupColumn = 'contracts' | Parts<'total' | 'outstanding'>;
export const GROUP_COLUMNS: readonly GroupColumn[] = ['contracts', ...parts(['total', 'outstanding'])];

/** The increments of a row's columns; omitted columns do not change. */
export type Figures<C extends string> = Readonly<Partial<Record<C, number>>>;

/** The increments of one rollup row; `key` is in the order of the table's keys. */
export interface Entry<C extends string> {
  readonly key: readonly string[];
  readonly figures: Figures<C>;
}
