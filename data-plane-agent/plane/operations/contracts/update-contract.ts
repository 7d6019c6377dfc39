import { fail, invalid } from '../../../base/failures.js';
import { s } from '../../../base/schema.js';
import type { Call } from '../../contract/call.js';
import { ContractDetail, ContractPatch } from '../../contract/records/contracts.js';
import { AmountReader } from '../../domain/amounts.js';
import { newNotes, newTerms, touched, withAggregates } from '../../domain/contract-changes.js';
import { areSameNotes, areSameTerms, isSameContract, patched } from '../../domain/contract-patch.js';
import { changedCoreFields } from '../../domain/core-fields.js';
import { checkSums, hasMoney, withPlan } from '../../domain/line-changes.js';
import type { ContractRow, LineRow, NoteRow, TermRow } from '../../domain/rows.js';
import { operation, type Tools } from '../tools.js';
import { checkReferenceForm, checkUnique, checkVersion } from './checks.js';
import { detailOf } from './detail.js';

/** Changes what is given of a contract. A request that changes nothing leaves no trace. */
export const updateContract = operation({
  effect: 'write',
  input: s.object({ contractId: s.id(), changes: ContractPatch }),
  output: ContractDetail,
  fails: ['VERSION_MISMATCH', 'CONTRACT_LOCKED', 'CURRENCY_FIXED', 'INVALID_TRANSITION', 'DUPLICATE_CONTRACT_NO', 'DUPLICATE_ARCHIVE_CODE', 'REFERENCE_INVALID', 'FILE_REFERENCE_INVALID'],
  async run(tools, call, { contractId, changes }) {
    const { store, clock, newId } = tools;
    refusePayments(changes);
    const before = await store.contracts.find(contractId, { forUpdate: true });
    if (!before) throw fail('NOT_FOUND', {});
    checkVersion(before, call);
    const lines = await store.lines.ofContract(before.id);
    const terms = await store.contracts.terms(before.id);
    const notes = await store.contracts.notes(before.id);

    const now = clock.now();
    const amounts = new AmountReader();
    const changed = patched(before, changes, { amounts, defaultCurrency: call.currencyCode, defaultType: await defaultType(tools, before, changes) });
    const following = linesInNewCurrency(lines, { before, after: changed, amounts, call, now });
    amounts.done();
    const sentTerms = changes.terms === undefined || areSameTerms(terms, changes.terms ?? []) ? undefined : (changes.terms ?? []);
    const sentNotes = changes.extraNotes === undefined || areSameNotes(notes, changes.extraNotes ?? []) ? undefined : (changes.extraNotes ?? []);
    refuseLocked(before, [...changedCoreFields(changes, before, changed), ...(sentTerms ? ['terms'] : [])]);
    refuseMoves(before, changes);
    await checkChange(tools, call, { before, after: changed, lines });

    const next = withAggregates(changed, following);
    if (isSameContract(before, next) && !sentTerms && !sentNotes) return detailOf(tools, call, before, { lines, terms, notes });
    for (const [i, line] of following.entries()) if (line !== lines[i]) await store.lines.update(lines[i] ?? line, line);
    const nextTerms = sentTerms ? await replaceTerms(tools, terms, newTerms(sentTerms, before.id, now, newId)) : terms;
    const nextNotes = sentNotes ? await replaceNotes(tools, notes, newNotes(sentNotes, before.id, now, newId)) : notes;
    const row = await store.contracts.update(before, touched(next, { now, actorId: call.actor.id }));
    return detailOf(tools, call, row, { lines: following, terms: nextTerms, notes: nextNotes });
  },
});

/** The plan as a whole cannot be sent yet. */
function refusePayments({ payments }: ContractPatch): void {
  if (payments !== undefined) throw invalid({ path: 'payments', problem: 'cannot be changed here: payment lines are added, changed and removed one by one, through /contracts/:id/payments and /payments/:paymentId' });
}

/** The type that `null` asks for. */
async function defaultType({ store }: Tools, row: ContractRow, { type, typeCode }: ContractPatch): Promise<ContractRow['type']> {
  const code = typeCode === undefined ? row.typeCode : typeCode;
  const category = type === null && code !== null ? (await store.lifecycle.type(code))?.category : undefined;
  return category === 'lease' ? 'lease' : 'sale';
}

interface Currencies {
  readonly before: ContractRow;
  readonly after: ContractRow;
  readonly amounts: AmountReader;
  readonly call: Call;
  readonly now: number;
}

/** Lines in the contract's currency follow it; those in another one stay as they are. */
function linesInNewCurrency(lines: readonly LineRow[], { before, after, amounts, call, now }: Currencies): LineRow[] {
  if (before.currencyCode === after.currencyCode) return [...lines];
  const contractCurrency = after.currencyCode;
  const following = lines.map((line, i) =>
    line.currencyCode === before.currencyCode ? withPlan(line, { currencyCode: contractCurrency }, { amounts, path: `payments[${i}].`, today: call.today, now, contractCurrency }) : line,
  );
  checkSums(following, { amounts, contractCurrency, blame: 'payments' });
  return following;
}

function refuseLocked({ locked }: ContractRow, fields: readonly string[]): void {
  if (locked && fields.length > 0) throw fail('CONTRACT_LOCKED', { fields: [...fields] });
}

/** A contract moves from stage to stage by transitions only; its template stays. Naming what it has is no change. */
function refuseMoves(row: ContractRow, changes: ContractPatch): void {
  const present = { workflowStage: row.stageCategory, lifecycleStageCode: row.stageCode, lifecycleTemplateId: row.lifecycleTemplateId };
  for (const field of ['workflowStage', 'lifecycleStageCode', 'lifecycleTemplateId'] as const) {
    const to = changes[field];
    if (to !== undefined && to !== null && to !== present[field]) throw fail('INVALID_TRANSITION', { field, from: present[field], to, allowed: [] });
  }
}

/** What a change must not clash with beyond the contract's own fields. */
async function checkChange(tools: Tools, call: Call, { before, after, lines }: { readonly before: ContractRow; readonly after: ContractRow; readonly lines: readonly LineRow[] }): Promise<void> {
  const { store } = tools;
  if (before.currencyCode !== after.currencyCode && (lines.some(hasMoney) || (await store.contracts.hasReceipts(before.id)))) throw fail('CURRENCY_FIXED', { currencyCode: before.currencyCode });
  await checkUnique(tools, before, after);
  checkReferenceForm(after, call);
  if (after.typeCode !== null && after.typeCode !== before.typeCode && !(await store.lifecycle.type(after.typeCode))) throw fail('REFERENCE_INVALID', { field: 'typeCode', value: after.typeCode });
  if (after.contractAttachment !== before.contractAttachment) await store.files.check('contractAttachment', after.contractAttachment);
}

async function replaceTerms({ store }: Tools, present: readonly TermRow[], next: TermRow[]): Promise<TermRow[]> {
  await store.contracts.removeTerms(present);
  await store.contracts.insertTerms(next);
  return next;
}

async function replaceNotes({ store }: Tools, present: readonly NoteRow[], next: NoteRow[]): Promise<NoteRow[]> {
  await store.contracts.removeNotes(present);
  await store.contracts.insertNotes(next);
  return next;
}
