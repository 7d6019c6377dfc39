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

/** One line that a change of the plan enters or changes. */
export interface LineStep {
  /** `null` for a new line. */
  readonly before: LineRow | null;
  /**
   * With what is owed and when as it should be, and with receipt and invoice still as they were: what the rest of the
   * request adds to it.
   */
  readonly planned: LineRow;
  readonly after: LineRow;
  readonly sent: PaymentLineInput | null;
  /** Begins the names of the line's fields, such as `payments[2].`. */
  readonly path: string;
}

export interface Plan {
  /** New lines, and lines that are not as they were. */
  readonly steps: readonly LineStep[];
  /** Lines that the plan no longer has, as they were. */
  readonly removed: readonly LineRow[];
  /** The contract's lines from now on, by due date. */
  readonly lines: readonly LineRow[];
}

export interface PlanContext {
  readonly amounts: AmountReader;
  readonly contractId: string;
  readonly today: Day;
  readonly now: number;
  readonly newId: () => string;
  /** The contract's currency as the request leaves it, and as it was. Lines that were in it follow it. */
  readonly currencyCode: string;
  readonly formerCurrencyCode: string;
}

/**
 * The plan as it should be. A sent line is the present one of the same period; a period that comes twice, on either
 * side, is told apart by due date. Of a line that is found only the fields that were sent change; the others are new,
 * and what was not sent goes.
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

/**
 * The plan as it is, under another currency of the contract: lines in the contract's currency follow it, others stay.
 */
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

/** Whether a plan is another one than before: what is owed and when, and not what was received or invoiced. */
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
  // Who sends a line back with another amount has not thereby matched it again.
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

/** Which present line each sent one is. */
function matches(
  present: readonly LineRow[],
  sent: readonly PaymentLineInput[],
  amounts: AmountReader,
): Map<number, LineRow> {
  const several = new Set([...repeated(present), ...repeated(sent)]);
  const keyOf = ({ period, dueDate }: Slot) => JSON.stringify(several.has(period) ? [period, dueDate] : [period]);
  const byKey = new Map<string, LineRow>();
  // A contract may have a pair twice, entered together or line by line: the one with money on it is meant, since the
  // other one can go.
  for (const line of present) if (!byKey.has(keyOf(line)) || hasMoney(line)) byKey.set(keyOf(line), line);
  const first = new Map<string, number>();
  const found = new Map<number, LineRow>();
  for (const [i, line] of sent.entries()) {
    const key = keyOf(line);
    const same = first.get(key);
    const there = byKey.get(key);
    if (same !== undefined)
      amounts.refuse(`payments[${i}].period`, `must not come twice with one dueDate: payments[${same}] has both`);
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
