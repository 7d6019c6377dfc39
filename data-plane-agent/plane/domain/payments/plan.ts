import type { Day } from '../../../base/day.js';
import type { PaymentLineInput } from '../../contract/records/lines.js';
import type { AmountReader } from '../amounts.js';
import {
  changesPlan,
  checkSums,
  hasMoney,
  isUnchanged,
  newLine,
  withInvoice,
  withPlan,
  withReceipt,
  type LineContext,
} from './line-changes.js';
import { unpaid } from './line-rights.js';
import type { LineRow } from '../../tables/payment-lines.js';

/** A line that a change of the plan creates or changes. */
export interface LineStep {
  /** `null` for a new line. */
  readonly before: LineRow | null;
  /** The line with its new amount and due date, but with unchanged receipt and invoice fields. */
  readonly planned: LineRow;
  readonly after: LineRow;
  readonly sent: PaymentLineInput | null;
  /** The prefix of the line's field names, such as `payments[2].`. */
  readonly path: string;
}

export interface Plan {
  /** New and changed lines. */
  readonly steps: readonly LineStep[];
  /** Lines that are no longer in the plan, in their former state. */
  readonly removed: readonly LineRow[];
  /** All lines of the contract after the change, by due date. */
  readonly lines: readonly LineRow[];
}

export interface PlanContext {
  readonly amounts: AmountReader;
  readonly contractId: string;
  readonly today: Day;
  readonly now: number;
  readonly newId: () => string;
  /** The contract's currency after and before the request. Lines in the former currency change to the new one. */
  readonly currencyCode: string;
  readonly formerCurrencyCode: string;
}

/**
 * Applies a sent plan. Sent lines are matched with present ones by period; a period used more than once is
 * distinguished by due date. Of matched lines only the sent fields change; unmatched sent lines are created, and
 * unmatched present lines are removed.
 */
export function plannedAs(present: readonly LineRow[], sent: readonly PaymentLineInput[], context: PlanContext): Plan {
  const found = matches(present, sent, context.amounts);
  let position = present.reduce((next, line) => Math.max(next, line.position + 1), 0);
  const all = sent.map((input, i): LineStep => {
    const lineContext = lineContextOf(context, i);
    const before = found.get(i);
    if (before) return changed(before, input, { context, lineContext });
    const row = newLine(
      input,
      { id: context.newId(), contractId: context.contractId, position: position++ },
      lineContext,
    );
    return { before: null, planned: unpaid(row), after: row, sent: input, path: lineContext.path };
  });
  const kept = new Set(found.values().map(({ id }) => id));
  return finished(all, { context, removed: present.filter(({ id }) => !kept.has(id)) });
}

/** The present plan when the contract's currency changes: lines in the former currency change, others stay. */
export function followedTo(present: readonly LineRow[], context: PlanContext): Plan {
  const { currencyCode, formerCurrencyCode } = context;
  if (currencyCode === formerCurrencyCode) return { steps: [], removed: [], lines: present };
  const all = present.map((before, i): LineStep => {
    const lineContext = lineContextOf(context, i);
    const after = before.currencyCode === formerCurrencyCode ? withPlan(before, { currencyCode }, lineContext) : before;
    return { before, planned: after, after, sent: null, path: lineContext.path };
  });
  return finished(all, { context, removed: [] });
}

/** Whether the amounts or dates owed change; received and invoiced amounts do not count. */
export const movesPlan = ({ steps, removed }: Plan): boolean =>
  removed.length > 0 || steps.some(({ before, after }) => before === null || changesPlan(before, after));

function finished(
  all: readonly LineStep[],
  { context, removed }: { readonly context: PlanContext; readonly removed: readonly LineRow[] },
): Plan {
  const lines = all
    .map(({ before, after }) => (before && isUnchanged(before, after) ? before : after))
    .toSorted(byDueDate);
  checkSums(lines, { amounts: context.amounts, contractCurrency: context.currencyCode, blame: 'payments' });
  return { steps: all.filter(({ before, after }) => !before || !isUnchanged(before, after)), removed, lines };
}

function changed(
  before: LineRow,
  sent: PaymentLineInput,
  { context, lineContext }: { readonly context: PlanContext; readonly lineContext: LineContext },
): LineStep {
  const { period, dueDate, amount, currencyCode, reconciliationStatus, ...rest } = sent;
  const asked =
    currencyCode === undefined && before.currencyCode === context.formerCurrencyCode
      ? context.currencyCode
      : currencyCode;
  const planned = withPlan(
    before,
    { period, dueDate, amount, ...(asked === undefined ? {} : { currencyCode: asked }) },
    lineContext,
  );
  // Sending back the present status with a changed amount does not mark the line as matched again.
  const status =
    reconciliationStatus === undefined || reconciliationStatus === before.reconciliationStatus
      ? {}
      : { reconciliationStatus };
  return {
    before,
    planned,
    after: withInvoice(withReceipt(planned, { ...rest, ...status }, lineContext), rest, lineContext),
    sent,
    path: lineContext.path,
  };
}

/** Matches sent lines with present ones. */
function matches(
  present: readonly LineRow[],
  sent: readonly PaymentLineInput[],
  amounts: AmountReader,
): Map<number, LineRow> {
  const several = new Set([...repeated(present), ...repeated(sent)]);
  const keyOf = ({ period, dueDate }: Slot) => JSON.stringify(several.has(period) ? [period, dueDate] : [period]);
  const byKey = new Map<string, LineRow>();
  // A contract may have two lines with the same period and due date: the one with money is matched, since the other can
  // be deleted.
  for (const line of present) if (!byKey.has(keyOf(line)) || hasMoney(line)) byKey.set(keyOf(line), line);
  const first = new Map<string, number>();
  const found = new Map<number, LineRow>();
  for (const [i, line] of sent.entries()) {
    const key = keyOf(line);
    const same = first.get(key);
    const there = byKey.get(key);
    if (same !== undefined)
      amounts.refuse(`payments[${i}].period`, `must not be repeated with the same dueDate: payments[${same}] has both`);
    else if (there) found.set(i, there);
    first.set(key, same ?? i);
  }
  return found;
}

interface Slot {
  readonly period: string;
  readonly dueDate: Day;
}

function repeated(slots: readonly Slot[]): string[] {
  const seen = new Set<string>();
  return slots.filter(({ period }) => seen.size === seen.add(period).size).map(({ period }) => period);
}

const lineContextOf = ({ amounts, today, now, currencyCode }: PlanContext, i: number): LineContext => ({
  amounts,
  path: `payments[${i}].`,
  today,
  now,
  contractCurrency: currencyCode,
});

const byDueDate = (a: LineRow, b: LineRow): number =>
  a.dueDate < b.dueDate ? -1 : a.dueDate > b.dueDate ? 1 : a.position - b.position || (a.id < b.id ? -1 : 1);
