/**
 * The rollups: figures of receivables by day, and of contracts by what they are. They are kept by the operations that
 * change what they are made of, so that what is read costs days and not lines.
 */

/** In a key: all subject companies, all people, and the superior of a contract that has none. */
export const EVERY = '00000000-0000-0000-0000-000000000000';

/**
 * A sum is kept in two columns, since sums of many lines pass 2^53, and on SQLite 2^63: `x_high` has the whole parts of
 * this size.
 */
export const PART = 1_000_000_000;

type Parts<S extends string> = `${S}_high` | `${S}_low`;
const parts = <const S extends string>(sums: readonly S[]): Parts<S>[] =>
  sums.flatMap((name): Parts<S>[] => [`${name}_high`, `${name}_low`]);

export const DAY_KEYS = ['person_id', 'subject_id', 'currency_code', 'day'] as const;
/**
 * What a day has of the lines due on it, as far as a plan without money moves it; `to_invoice` counts lines not
 * invoiced in full.
 */
const PLAN_COUNTS = ['lines', 'to_invoice'] as const;
const PLAN_SUMS = ['amount', 'outstanding', 'uninvoiced'] as const;
/**
 * What money changes of it: `late` is Σ days late × amount of what was paid in full. Then the money that came, and the
 * invoices that were written, on that day.
 */
const MONEY_COUNTS = ['paid', 'partial', 'reconcile'] as const;
const MONEY_SUMS = ['received', 'settled', 'late', 'receipts', 'invoices'] as const;

export type DayCount = (typeof PLAN_COUNTS)[number] | (typeof MONEY_COUNTS)[number];
export type DaySum = (typeof PLAN_SUMS)[number] | (typeof MONEY_SUMS)[number];
export type DayColumn = DayCount | Parts<DaySum>;
/** The columns that a plan without money moves. */
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

/** What is added to the columns of a row; to those that are not named, nothing. */
export type Figures<C extends string> = Readonly<Partial<Record<C, number>>>;

/** One row of a rollup: its key, in the order of the table's keys, and what is to be added to it. */
export interface Entry<C extends string> {
  readonly key: readonly string[];
  readonly figures: Figures<C>;
}
