import { isFailure } from '../../data-plane-agent/base/failures.js';
import type { ContractDetail } from '../../data-plane-agent/plane/contract/records/contracts.js';
import type { WorkflowEvent } from '../../data-plane-agent/plane/contract/records/workflow.js';
import type { DemoAct } from './acts.js';
import type { DemoContract } from './book.js';
import { peopleAt, planeOf, type Desk, type Plane } from './desk.js';
import { valuesOf } from './field-values.js';
import type { DemoFields } from './fields.js';
import type { DemoInvoice } from './invoices.js';
import type { DemoLine } from './lines.js';
import type { DemoTask } from './tasks.js';

/** Creates a contract unless it exists, and performs the actions on it that are still missing. */
export async function enterContract(
  contract: DemoContract,
  presentId: string | undefined,
  { desk, fields }: { readonly desk: Desk; readonly fields: DemoFields },
): Promise<void> {
  const entered =
    presentId === undefined
      ? await createdAt(contract, { desk, fields })
      : await planeOf(desk, contract.owner).getContract({ contractId: presentId });
  await act(contract.acts, entered, { desk, isNew: presentId === undefined });
  // Transitions of a custom lifecycle may have created a task.
  const detail =
    contract.input.typeCode && contract.acts.length > 0
      ? await planeOf(desk, contract.owner).getContract({ contractId: entered.id })
      : entered;
  const books = planeOf(desk, contract.bookkeeper);
  for (const line of contract.lines) {
    const lineId = detail.payments.find(({ period }) => period === line.input.period)?.id;
    if (lineId === undefined) continue;
    await recordLater(line, { detail, lineId, plane: books });
    for (const invoice of line.invoices)
      await keepInvoice(invoice, { detail, lineId, desk, bookkeeper: contract.bookkeeper });
  }
  for (const task of contract.tasks) await seeTo(task, detail, desk);
  for (const { by, note } of contract.notes)
    if (!detail.notes.some(({ label }) => label === note.label))
      await planeOf(desk, by).addNote({ contractId: detail.id, ...note });
  if (contract.finish.length > 0) await act([...contract.acts, ...contract.finish], detail, { desk, isNew: false });
  const { creditLimit } = contract.custom;
  // Sellers cannot see the field. Setting it to its present value records no change.
  if (creditLimit !== null)
    await planeOf(desk, contract.superior ?? 'novak').updateContract({
      contractId: detail.id,
      changes: { dynamicFields: { [fields.creditLimit.id]: creditLimit } },
    });
}

function createdAt(
  { input, lines, subject, owner, superior, custom }: DemoContract,
  { desk, fields }: { readonly desk: Desk; readonly fields: DemoFields },
): Promise<ContractDetail> {
  return planeOf(desk, owner, { takesOver: input.workflowStage !== 'draft' }).createContract({
    ...input,
    subjectId: desk.ids.subject(subject.key),
    ownerId: desk.ids.member(owner),
    ownerSuperiorId: superior === null ? null : desk.ids.member(superior),
    dynamicFields: valuesOf(custom, fields, desk),
    payments: lines.map((line) => line.input),
    members: peopleAt(desk).members,
  });
}

/**
 * Continues the event trail at its last event. A trail that the demo did not write belongs to a user and is left
 * unchanged.
 */
async function act(
  acts: readonly DemoAct[],
  { id }: ContractDetail,
  { desk, isNew }: { readonly desk: Desk; readonly isNew: boolean },
): Promise<void> {
  if (acts.length === 0) return;
  const trail = isNew
    ? []
    : (await planeOf(desk, 'lin').listWorkflowEvents({ contractId: id }))
        .toReversed()
        .filter(({ kind }) => kind !== 'created');
  if (!trail.every((event, i) => isTrailOf(event, acts[i]))) return;
  for (const one of acts.slice(trail.length)) await perform(one, id, desk);
}

function isTrailOf({ kind, transitionCode }: WorkflowEvent, act: DemoAct | undefined): boolean {
  if (!act) return false;
  if (act.does === 'lock' || act.does === 'unlock') return kind === `${act.does}ed`;
  return kind === (act.does === 'try' ? 'transition_denied' : 'stage_changed') && transitionCode === act.transition;
}

async function perform(act: DemoAct, contractId: string, desk: Desk): Promise<void> {
  const { note } = act;
  const plane = planeOf(desk, act.by, { on: act.on });
  if (act.does === 'lock' || act.does === 'unlock')
    await plane.lockContract({ contractId, locked: act.does === 'lock', note });
  else if (act.does === 'move') await plane.transitionContract({ contractId, transitionCode: act.transition, note });
  else {
    try {
      await plane.transitionContract({ contractId, transitionCode: act.transition, note });
    } catch (error) {
      if (!isFailure(error, 'WORKFLOW_CONTROL_REQUIRED') && !isFailure(error, 'TRANSITION_CONDITION_FAILED'))
        throw error; // it is meant to be refused
    }
  }
}

interface OnLine {
  readonly detail: ContractDetail;
  readonly lineId: string;
}

/**
 * Each receipt is a new total, so the present total shows which receipts are missing. An unknown total was recorded by
 * a user and is left unchanged.
 */
async function recordLater(
  { input, later }: DemoLine,
  { detail, lineId, plane }: OnLine & { readonly plane: Plane },
): Promise<void> {
  const received = detail.payments.find(({ id }) => id === lineId)?.receivedAmount;
  const stands = [input, ...later].map(({ receivedAmount }) => receivedAmount ?? 0).lastIndexOf(received ?? -1);
  if (stands < 0) return;
  for (const receipt of later.slice(stands)) await plane.recordReceipt({ paymentId: lineId, ...receipt });
}

/** Corrections are dated on the day of the invoice, so that the figures of the months do not depend on the run. */
async function keepInvoice(
  { input, turns }: DemoInvoice,
  { detail, lineId, desk, bookkeeper }: OnLine & { readonly desk: Desk; readonly bookkeeper: string },
): Promise<void> {
  const plane = planeOf(desk, bookkeeper, { on: input.invoiceDate ?? undefined });
  const present = detail.invoices.find(({ invoiceNo }) => invoiceNo === input.invoiceNo);
  const { id, status, reversedByInvoiceId } =
    present ?? (await plane.addInvoice({ contractId: detail.id, receivablePlanId: lineId, ...input }));
  if (turns && status === 'issued' && reversedByInvoiceId === null)
    await plane.updateInvoice({ contractId: detail.id, invoiceId: id, changes: { status: turns } });
}

/** Continues the states of a task after its present one. */
async function seeTo({ input, owner, acceptor, states }: DemoTask, detail: ContractDetail, desk: Desk): Promise<void> {
  const present = detail.fulfillmentTasks.find(({ code }) => code === input.code);
  const [status] = states;
  const task =
    present ??
    (await planeOf(desk, owner).addTask({ contractId: detail.id, ...input, status, ownerId: desk.ids.member(owner) }));
  const stands = states.indexOf(task.status);
  if (stands < 0) return;
  for (const next of states.slice(stands + 1)) {
    const isAccepted = next === 'accepted';
    await planeOf(desk, isAccepted ? acceptor : owner).updateTask({
      contractId: detail.id,
      taskId: task.id,
      changes: { status: next, ...(isAccepted ? { acceptanceStatus: 'passed' } : {}) },
    });
  }
}
