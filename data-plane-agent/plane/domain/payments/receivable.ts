import { addDays, daysBetween, type Day } from '../../../base/day.js';
import type { DueStatus, PaymentStatus } from '../../contract/vocabulary.js';

/** The fields of a line that the money rules need, in minor units of its currency. */
export interface Receivable {
  readonly amountMinor: number;
  readonly receivedMinor: number;
  /** Net of red letters. */
  readonly invoicedMinor: number;
  readonly currencyCode: string;
  readonly dueDate: Day;
}

export const outstanding = ({
  amountMinor,
  receivedMinor,
}: Pick<Receivable, 'amountMinor' | 'receivedMinor'>): number => Math.max(0, amountMinor - receivedMinor);
export const overpaid = ({ amountMinor, receivedMinor }: Pick<Receivable, 'amountMinor' | 'receivedMinor'>): number =>
  Math.max(0, receivedMinor - amountMinor);
export const uninvoiced = ({ amountMinor, invoicedMinor }: Pick<Receivable, 'amountMinor' | 'invoicedMinor'>): number =>
  Math.max(0, amountMinor - invoicedMinor);

export function linePaymentStatus(line: Pick<Receivable, 'amountMinor' | 'receivedMinor'>): PaymentStatus {
  if (line.receivedMinor >= line.amountMinor) return 'paid';
  return line.receivedMinor === 0 ? 'unpaid' : 'partial';
}

/** The due status on a day. A line due today is not overdue; the reminder window includes both its ends. */
export function dueStatus(line: Receivable, today: Day, leadDays: number): DueStatus {
  if (outstanding(line) === 0) return 'settled';
  if (line.dueDate < today) return 'overdue';
  return line.dueDate <= horizonOf(today, leadDays) ? 'due_soon' : 'not_due';
}

function horizonOf(today: Day, leadDays: number): Day {
  if (horizon.today !== today || horizon.leadDays !== leadDays)
    horizon = { today, leadDays, day: addDays(today, leadDays) };
  return horizon.day;
}

// Asked for each of the lines of a contract or list.
let horizon: { readonly today: Day; readonly leadDays: number; readonly day: Day } = {
  today: '',
  leadDays: 0,
  day: '',
};

export const daysOverdue = (line: Receivable, today: Day): number =>
  outstanding(line) === 0 || line.dueDate >= today ? 0 : daysBetween(line.dueDate, today);

/** The totals of a contract's live lines. Lines in another currency are counted, but never added. */
export interface Aggregates {
  readonly paymentStatus: PaymentStatus;
  readonly receivableMinor: number;
  readonly receivedMinor: number;
  readonly outstandingMinor: number;
  readonly overpaidMinor: number;
  readonly invoicedMinor: number;
  readonly uninvoicedMinor: number;
  readonly nextDueDate: Day | null;
  readonly otherCurrencyLines: number;
}

export function aggregate(
  lines: readonly Receivable[],
  contract: { readonly currencyCode: string; readonly totalMinor: number },
): Aggregates {
  const own = lines.filter(({ currencyCode }) => currencyCode === contract.currencyCode);
  const sum = (of: (line: Receivable) => number) => own.reduce((total, line) => total + of(line), 0);
  const open = lines.filter((line) => outstanding(line) > 0).map(({ dueDate }) => dueDate);
  return {
    paymentStatus: contractPaymentStatus(lines, contract.totalMinor),
    receivableMinor: sum((line) => line.amountMinor),
    receivedMinor: sum((line) => line.receivedMinor),
    outstandingMinor: sum(outstanding),
    overpaidMinor: sum(overpaid),
    invoicedMinor: sum((line) => line.invoicedMinor),
    uninvoicedMinor: sum(uninvoiced),
    nextDueDate: open.length === 0 ? null : open.reduce((first, day) => (day < first ? day : first)),
    otherCurrencyLines: lines.length - own.length,
  };
}

/**
 * An overpaid line does not offset another line. A contract without lines owes its total, so it is paid only when the
 * total is 0.
 */
function contractPaymentStatus(lines: readonly Receivable[], totalMinor: number): PaymentStatus {
  if (lines.length === 0) return totalMinor === 0 ? 'paid' : 'unpaid';
  if (lines.every((line) => outstanding(line) === 0)) return 'paid';
  return lines.every(({ receivedMinor }) => receivedMinor === 0) ? 'unpaid' : 'partial';
}

/** The part of a contract's state that depends on the day, and is therefore not stored. */
export interface DueState {
  readonly overdueMinor: number;
  readonly daysOverdue: number;
  readonly isOverdue: boolean;
  readonly isDueSoon: boolean;
}

/** `lines` are the contract's open lines. Amounts include only those in the contract's currency. */
export function dueState(
  lines: readonly Receivable[],
  { currencyCode, today, leadDays }: { currencyCode: string; today: Day; leadDays: number },
): DueState {
  let overdueMinor = 0;
  let oldest = 0;
  let isDueSoon = false;
  for (const line of lines) {
    const status = dueStatus(line, today, leadDays);
    if (status === 'due_soon') isDueSoon = true;
    if (status !== 'overdue') continue;
    oldest = Math.max(oldest, daysOverdue(line, today));
    if (line.currencyCode === currencyCode) overdueMinor += outstanding(line);
  }
  return { overdueMinor, daysOverdue: oldest, isOverdue: oldest > 0, isDueSoon };
}
