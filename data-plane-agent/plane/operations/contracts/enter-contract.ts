import { fail } from '../../../base/failures.js';
import { isId } from '../../../base/ids.js';
import type { Call } from '../../contract/call.js';
import type { Warning } from '../../contract/records/common.js';
import type { ContractInput } from '../../contract/records/contracts.js';
import { AmountReader } from '../../domain/amounts.js';
import type { ContractParts } from '../../domain/answers.js';
import { newContract, newNotes, newTerms, withAggregates } from '../../domain/contract-changes.js';
import { controlAt, holds, isEarlyStage } from '../../domain/lifecycle.js';
import { checkSums, newLine, receiptWarnings } from '../../domain/line-changes.js';
import { openingReceipts } from '../../domain/receipts.js';
import type { ContractRow, StageRow } from '../../domain/rows.js';
import { checkLineFiles } from '../payments/check-files.js';
import type { Tools } from '../tools.js';
import { checkReferenceForm } from './checks.js';

export interface Entered extends ContractParts {
  readonly warnings: readonly Warning[];
}

/** Writes a new contract with its lines, terms and notes, whoever sends it: a request, or a row of an import. */
export async function enterContract(tools: Tools, call: Call, input: ContractInput): Promise<Entered> {
  const { store, clock, newId } = tools;
  const now = clock.now();
  const amounts = new AmountReader();
  const currencyCode = input.currencyCode ?? call.currencyCode;
  const { type, stage } = await placeInLifecycle(tools, call, input);
  const draft = newContract({ id: newId(), input, type, stage, currencyCode, amounts, now, actorId: call.actor.id });
  const lines = (input.payments ?? []).map((line, position) =>
    newLine(line, { id: newId(), contractId: draft.id, position }, { amounts, path: `payments[${position}].`, today: call.today, now, contractCurrency: currencyCode }),
  );
  checkSums(lines, { amounts, contractCurrency: currencyCode, blame: 'payments' });
  amounts.done();
  checkReferenceForm(draft, call);
  await store.files.check('contractAttachment', input.contractAttachment);
  for (const [i, line] of (input.payments ?? []).entries()) await checkLineFiles(store, line, `payments[${i}].`);

  const row = withAggregates(draft, lines);
  if (!(await store.contracts.insert(row))) throw await duplicateOf(tools, row);
  const terms = newTerms(input.terms ?? [], row.id, now, newId);
  const notes = newNotes(input.extraNotes ?? [], row.id, now, newId);
  await store.lines.insert(lines);
  await store.lines.insertReceipts(openingReceipts(lines, call, now, newId));
  await store.contracts.insertTerms(terms);
  await store.contracts.insertNotes(notes);
  await store.lifecycle.record({ contractId: row.id, kind: 'created', fromStageCode: null, toStageCode: row.stageCode, transitionCode: null, locked: row.locked, note: null });
  const byDueDate = lines.toSorted((a, b) => (a.dueDate < b.dueDate ? -1 : a.dueDate > b.dueDate ? 1 : a.position - b.position));
  return { row, lines: byDueDate, terms, notes, warnings: lines.flatMap(receiptWarnings) };
}

/** The contract's type and the stage at which it begins: later stages than review are for those who administer the workflow. */
async function placeInLifecycle({ store }: Tools, call: Call, input: ContractInput): Promise<{ type: ContractRow['type']; stage: StageRow }> {
  await store.lifecycle.ensureShipped();
  const typed = input.typeCode ? await store.lifecycle.type(input.typeCode) : undefined;
  if (input.typeCode && !typed?.enabled) throw fail('REFERENCE_INVALID', { field: 'typeCode', value: input.typeCode });
  const stage = await firstStage(store, input, typed?.defaultTemplateId ?? null);
  if (!isEarlyStage(stage.category) && !holds(controlAt(call.controls, stage), 'admin')) throw fail('WORKFLOW_CONTROL_REQUIRED', { control: 'admin', stage: stage.code });
  const category = typed?.category === 'sale' || typed?.category === 'lease' ? typed.category : 'sale';
  return { type: input.type ?? category, stage };
}

async function firstStage(store: Tools['store'], input: ContractInput, typeTemplateId: string | null): Promise<StageRow> {
  const templateId = input.lifecycleTemplateId ?? typeTemplateId ?? (await store.lifecycle.defaultTemplate()).id;
  const stages = isId(templateId) ? await store.lifecycle.stages(templateId) : [];
  if (stages.length === 0) throw fail('REFERENCE_INVALID', { field: 'lifecycleTemplateId', value: templateId });
  const named = input.lifecycleStageCode ? stages.find(({ code }) => code === input.lifecycleStageCode) : undefined;
  if (input.lifecycleStageCode && !named) throw fail('REFERENCE_INVALID', { field: 'lifecycleStageCode', value: input.lifecycleStageCode });
  const inCategory = input.workflowStage ? stages.find(({ category }) => category === input.workflowStage) : undefined;
  if (input.workflowStage && !inCategory) throw fail('REFERENCE_INVALID', { field: 'workflowStage', value: input.workflowStage });
  if (named && input.workflowStage && named.category !== input.workflowStage) {
    throw fail('INVALID_INPUT', { issues: [{ path: 'workflowStage', problem: 'must be the category of lifecycleStageCode' }] });
  }
  const first = named ?? inCategory ?? stages[0];
  if (!first) throw new Error('a list that is not empty has a first member');
  return first;
}

/** Which of the two keys is taken. */
async function duplicateOf({ store }: Tools, row: ContractRow) {
  if (await store.contracts.holderOf({ contractKey: row.contractKey })) return fail('DUPLICATE_CONTRACT_NO', { contractNo: row.contractNo });
  return fail('DUPLICATE_ARCHIVE_CODE', { archiveCode: row.archiveCode });
}
