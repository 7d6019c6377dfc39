import type { Call } from '../../contract/call.js';
import type { AmountReader } from '../../domain/amounts.js';
import type { InvoiceChange } from '../../tables/invoices.js';
import { checkSums } from '../../domain/payments/line-changes.js';
import type { Plan } from '../../domain/payments/plan.js';
import type { ContractRow } from '../../tables/contracts.js';
import type { OperationContext } from '../operation-context.js';
import { followCurrency, followLines } from './follow-lines.js';

/** A change of a contract and its plan. `after` does not yet have its totals of the lines. */
interface PlanChange {
  readonly before: ContractRow;
  readonly after: ContractRow;
  readonly plan: Plan;
  readonly amounts: AmountReader;
}

/** The plan with its lines updated from their invoice records, and the records to write after the lines. */
export async function followPlan(
  context: OperationContext,
  call: Call,
  { before, after, plan, amounts }: PlanChange,
): Promise<{ readonly plan: Plan; readonly invoices: readonly InvoiceChange[] }> {
  const removed = plan.removed.map((line) => ({
    before: line,
    after: { ...line, deletedAt: context.clock.now() },
    path: '',
  }));
  const { lines, changes } = await followLines(context, call, {
    contract: after,
    steps: [...plan.steps, ...removed],
    amounts,
  });
  const steps = plan.steps.map((step, i) => ({ ...step, after: lines[i] ?? step.after }));
  const byId = new Map(steps.map((step) => [step.after.id, step.after]));
  const next = plan.lines.map((line) => byId.get(line.id) ?? line);
  checkSums(next, {
    amounts,
    contractCurrency: after.currencyCode,
    unlinkedInvoicedMinor: before.unlinkedInvoicedMinor,
    blame: 'payments',
  });
  return {
    plan: { ...plan, steps, lines: next },
    invoices: [...changes, ...(await followCurrency(context, call, { before, after, amounts }))],
  };
}
