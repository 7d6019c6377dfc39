import { together } from '../../../base/together.js';
import { fail } from '../../../base/failures.js';
import type { Call } from '../../contract/call.js';
import type { Warning } from '../../contract/records/common.js';
import type { ContractPatch } from '../../contract/records/contracts.js';
import type { Member } from '../../contract/records/people.js';
import { AmountReader } from '../../domain/amounts.js';
import type { ContractParts } from '../../domain/contracts/presenter.js';
import { newNotes, newTerms, touched, withAggregates } from '../../domain/contracts/changes.js';
import { areSameNotes, areSameTerms, isSameContract, patched } from '../../domain/contracts/patch.js';
import { changedCoreFields } from '../../domain/contracts/core-fields.js';
import { hasMoney } from '../../domain/payments/line-changes.js';
import { checkLineRights } from '../../domain/payments/line-rights.js';
import { followedTo, movesPlan, plannedAs, type Plan, type PlanContext } from '../../domain/payments/plan.js';
import type { LineRow } from '../../tables/payment-lines.js';
import type { TermRow } from '../../tables/terms.js';
import type { NoteRow } from '../../tables/notes.js';
import type { ContractRow } from '../../tables/contracts.js';
import { checkValues, readValues } from '../fields/contract-values.js';
import { writeInvoices } from '../receivables/follow-lines.js';
import { followPlan } from '../receivables/follow-plan.js';
import type { OperationContext } from '../operation-context.js';
import { checkPlan, writePlan } from './change-plan.js';
import { checkReferenceForm, checkRolesControl } from '../../domain/contracts/checks.js';
import { checkSubjectOpen } from './check-subject-open.js';
import { checkUnique } from './check-unique.js';

export interface Changed extends Pick<ContractParts, 'row' | 'lines' | 'terms' | 'notes'> {
  readonly warnings: readonly Warning[];
}

/**
 * Applies a patch to a contract that was read for update. A patch without effect writes nothing and keeps the version.
 */
export async function changeContract(
  operationContext: OperationContext,
  call: Call,
  {
    before,
    changes,
    members = [],
  }: { readonly before: ContractRow; readonly changes: ContractPatch; readonly members?: readonly Member[] },
): Promise<Changed> {
  const { store, clock, newId } = operationContext;
  const [lines, terms, notes] = await together(
    store.lines.ofContract(before.id),
    store.contracts.terms(before.id),
    store.contracts.notes(before.id),
  );

  const now = clock.now();
  const amounts = new AmountReader();
  const plain = patched(before, changes, {
    amounts,
    defaultCurrency: call.currencyCode,
    defaultType: await defaultType(operationContext, before, changes),
  });
  const custom = await readValues(operationContext, call, {
    given: changes.dynamicFields,
    contract: plain,
    issues: amounts,
  });
  const changed = { ...plain, dynamicFields: custom.values };
  const plan = planOf(changes, lines, {
    amounts,
    contractId: before.id,
    today: call.today,
    now,
    newId,
    currencyCode: changed.currencyCode,
    formerCurrencyCode: before.currencyCode,
  });
  amounts.done();
  checkLineRights(plan.steps, call.rights);
  const sentTerms =
    changes.terms === undefined || areSameTerms(terms, changes.terms ?? []) ? undefined : (changes.terms ?? []);
  const sentNotes =
    changes.extraNotes === undefined || areSameNotes(notes, changes.extraNotes ?? [])
      ? undefined
      : (changes.extraNotes ?? []);
  const locked = [
    ...changedCoreFields(changes, before, changed),
    ...(changes.payments !== undefined && movesPlan(plan) ? ['payments'] : []),
    ...(sentTerms ? ['terms'] : []),
  ];
  if (before.locked && locked.length > 0) throw fail('CONTRACT_LOCKED', { fields: locked });
  checkRolesControl(before, changed, call);
  refuseMoves(before, changes);
  await checkChange(operationContext, call, { before, after: changed, lines });
  await checkValues(operationContext, custom, { members });
  await checkPlan(operationContext, plan);
  const { plan: followed, invoices } = await followPlan(operationContext, call, {
    before,
    after: changed,
    plan,
    amounts,
  });
  amounts.done();

  const next = withAggregates(changed, followed.lines);
  const isSamePlan = plan.steps.length === 0 && plan.removed.length === 0;
  if (isSameContract(before, next) && isSamePlan && !sentTerms && !sentNotes)
    return { row: before, lines, terms, notes, warnings: [] };
  if (before.subjectId !== changed.subjectId) {
    await store.invoices.moveToSubject(before.id, changed.subjectId, { except: invoices.map(({ after }) => after.id) });
    await store.files.moveToSubject(before.id, changed.subjectId);
  }
  const warnings = await writePlan(operationContext, call, followed);
  await writeInvoices(
    operationContext,
    invoices.map((change) => ({ ...change, after: { ...change.after, subjectId: changed.subjectId } })),
  );
  const nextTerms = sentTerms
    ? await replaceTerms(operationContext, terms, newTerms(sentTerms, { contractId: before.id, now, newId }))
    : terms;
  const nextNotes = sentNotes
    ? await replaceNotes(operationContext, notes, newNotes(sentNotes, { contractId: before.id, now, newId }))
    : notes;
  const row = await store.contracts.update(before, touched(next, { now, actorId: call.actor.id }));
  return { row, lines: followed.lines, terms: nextTerms, notes: nextNotes, warnings };
}

/** `null` empties the plan, as it does terms and notes. */
const planOf = ({ payments }: ContractPatch, lines: readonly LineRow[], context: PlanContext): Plan =>
  payments === undefined ? followedTo(lines, context) : plannedAs(lines, payments ?? [], context);

/** The contract type that `type: null` falls back to: that of the type code, else `sale`. */
async function defaultType(
  { store }: OperationContext,
  row: ContractRow,
  { type, typeCode }: ContractPatch,
): Promise<ContractRow['type']> {
  const code = typeCode === undefined ? row.typeCode : typeCode;
  const category = type === null && code !== null ? (await store.lifecycle.type(code))?.category : undefined;
  return category === 'lease' ? 'lease' : 'sale';
}

/** The stage changes by transitions only, and the template is fixed. Sending the current values is no change. */
function refuseMoves(row: ContractRow, changes: ContractPatch): void {
  const present = {
    workflowStage: row.stageCategory,
    lifecycleStageCode: row.stageCode,
    lifecycleTemplateId: row.lifecycleTemplateId,
  };
  for (const field of ['workflowStage', 'lifecycleStageCode', 'lifecycleTemplateId'] as const) {
    const to = changes[field];
    if (to !== undefined && to !== null && to !== present[field])
      throw fail('INVALID_TRANSITION', { field, from: present[field], to, allowed: [] });
  }
}

/** Checks a change against other records: currency, unique numbers, subject company, type and attachment. */
async function checkChange(
  operationContext: OperationContext,
  call: Call,
  {
    before,
    after,
    lines,
  }: { readonly before: ContractRow; readonly after: ContractRow; readonly lines: readonly LineRow[] },
): Promise<void> {
  const { store } = operationContext;
  if (
    before.currencyCode !== after.currencyCode &&
    (lines.some(hasMoney) || (await store.contracts.hasReceipts(before.id)))
  )
    throw fail('CURRENCY_FIXED', { currencyCode: before.currencyCode });
  await checkUnique(operationContext, before, after);
  checkReferenceForm(after, call);
  if (after.subjectId !== before.subjectId) await checkSubjectOpen(operationContext, after.subjectId);
  if (after.typeCode !== null && after.typeCode !== before.typeCode && !(await store.lifecycle.type(after.typeCode)))
    throw fail('REFERENCE_INVALID', { field: 'typeCode', value: after.typeCode });
  if (after.contractAttachment !== before.contractAttachment)
    await store.files.check('contractAttachment', after.contractAttachment);
}

async function replaceTerms(
  { store }: OperationContext,
  present: readonly TermRow[],
  next: TermRow[],
): Promise<TermRow[]> {
  await store.contracts.removeTerms(present);
  await store.contracts.insertTerms(next);
  return next;
}

async function replaceNotes(
  { store }: OperationContext,
  present: readonly NoteRow[],
  next: NoteRow[],
): Promise<NoteRow[]> {
  await store.contracts.removeNotes(present);
  await store.contracts.insertNotes(next);
  return next;
}
