import { fail, type Failure } from '../../../base/failures.js';
import type { Call } from '../../contract/call.js';
import type { Warning } from '../../contract/records/common.js';
import type { TransitionInput } from '../../contract/records/workflow.js';
import { failedConditions, type FailedCondition } from '../../domain/lifecycle/conditions.js';
import { touched } from '../../domain/contracts/changes.js';
import { failedEffects, moved } from '../../domain/lifecycle/effects.js';
import { bandOf } from '../../domain/extraction/answer.js';
import { completes, moveWarnings, submitsExtracted } from '../../domain/lifecycle/move-warnings.js';
import { refusalOf, waysOf, type Way } from '../../domain/lifecycle/moves.js';
import type { OperationContext } from '../operation-context.js';
import type { ContractRow } from '../../tables/contracts.js';
import type { WorkflowEventRow } from '../../tables/workflow-events.js';
import { circumstancesOf } from './circumstances.js';
import { createTaskOf } from './create-task.js';

export interface Moved {
  readonly row: ContractRow;
  readonly warnings: readonly Warning[];
  /** `null` when the contract was already in the stage; nothing was written. */
  readonly event: WorkflowEventRow | null;
}

/**
 * Moves a contract that was read for update, by a transition or to a stage. Throws INVALID_TRANSITION,
 * WORKFLOW_CONTROL_REQUIRED, TRANSITION_CONDITION_FAILED, REFERENCE_INVALID for unknown codes, and INVALID_INPUT for
 * contradictory codes.
 */
export async function moveContract(
  context: OperationContext,
  call: Call,
  { row, request }: { readonly row: ContractRow; readonly request: TransitionInput },
): Promise<Moved> {
  const { store, clock, recorder } = context;
  await store.lifecycle.hold();
  const [first, ...others] = waysOf(row, await store.lifecycle.of(row.lifecycleTemplateId), request);
  if (!first) return { row, warnings: [], event: null };
  const note = request.note ?? null;
  const way = await openWay(context, call, { row, note, ways: [first, ...others] });
  const { from, to, transition } = way;
  const effects = transition?.effects ?? {};

  const withTask = effects.createTask
    ? await createTaskOf(context, call, { row, task: effects.createTask })
    : { row, warnings: [] };
  const after = await store.contracts.update(
    row,
    touched(moved(withTask.row, { to, effects, today: call.today }), { now: clock.now(), actorId: call.actor.id }),
  );
  const event = await store.workflowEvents.record({
    contractId: row.id,
    kind: 'stage_changed',
    fromStageCode: from.code,
    toStageCode: to.code,
    transitionCode: transition?.code ?? null,
    locked: after.locked,
    note,
  });
  if (effects.notifyChannelId)
    recorder.enqueue({
      topic: 'workflow.moved',
      lane: effects.notifyChannelId,
      reference: { channelId: effects.notifyChannelId, contractId: row.id, eventId: event.id },
    });
  return {
    row: after,
    warnings: [...withTask.warnings, ...(await warningsOf(context, { way, row: after, note }))],
    event,
  };
}

interface Choice {
  readonly row: ContractRow;
  readonly note: string | null;
  readonly ways: readonly Way[];
}

/** The first way open to the caller. If there is none, throws the failure of the first. */
async function openWay(context: OperationContext, call: Call, { row, note, ways }: Choice): Promise<Way> {
  const refusals: Failure[] = [];
  for (const way of ways) {
    const refusal = refusalOf(way, row, call) ?? (await unmet(context, call, { row, note, way }));
    if (!refusal) return way;
    refusals.push(refusal);
  }
  throw refusals[0] ?? new Error('no ways were given');
}

/** The failure for unmet conditions of the transition, the stage that is left, or the effects. */
async function unmet(
  context: OperationContext,
  call: Call,
  {
    row,
    note,
    way: { from, to, transition },
  }: { readonly row: ContractRow; readonly note: string | null; readonly way: Way },
): Promise<Failure | undefined> {
  const conditions = transition?.conditions ?? {};
  const circumstances = await circumstancesOf(context, call, {
    row,
    note,
    conditions: [conditions, from.completionRules],
  });
  const failed: FailedCondition[] = [
    ...failedConditions('transition', conditions, circumstances),
    ...failedConditions('stage', from.completionRules, circumstances),
    ...failedEffects(moved(row, { to, effects: transition?.effects ?? {}, today: call.today })),
  ];
  return failed.length === 0 ? undefined : fail('TRANSITION_CONDITION_FAILED', { failed });
}

async function warningsOf(
  { store }: OperationContext,
  { way, row, note }: { readonly way: Way; readonly row: ContractRow; readonly note: string | null },
): Promise<Warning[]> {
  const lines =
    completes(way) && row.outstandingMinor + row.otherCurrencyLines > 0 ? await store.lines.ofContract(row.id) : [];
  return moveWarnings({
    ...way,
    row,
    lines,
    note,
    doubtfulFields: submitsExtracted(way) ? await doubtfulFields(store, row.id) : [],
  });
}

/** Fields of the contract's latest extraction that have low confidence and were not reviewed. */
async function doubtfulFields(store: OperationContext['store'], contractId: string): Promise<string[]> {
  const run = await store.extractions.latestOf(contractId);
  if (!run) return [];
  const reviewed = await store.extractions.fieldReviews(run.id);
  return run.fields
    .filter(({ fieldKey, confidence }) => bandOf(confidence) === 'low' && !reviewed.has(fieldKey))
    .map(({ fieldKey }) => fieldKey);
}
