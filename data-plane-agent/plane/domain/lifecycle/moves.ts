import { fail, invalid, type Failure } from '../../../base/failures.js';
import type { Issue } from '../../../base/validation.js';
import type { Call } from '../../contract/call.js';
import type { TransitionInput } from '../../contract/records/workflow.js';
import { WORKFLOW_STAGES, type Control, type WorkflowStage } from '../../contract/vocabulary.js';
import { controlAt, holds } from './lifecycle.js';
import type { StageRow, TransitionRow } from '../../tables/lifecycle.js';
import type { ContractRow } from '../../tables/contracts.js';

/** A lifecycle template's inside. Both lists are in their order. */
export interface Lifecycle {
  readonly stages: readonly StageRow[];
  readonly transitions: readonly TransitionRow[];
}

/** One way from the present stage to another: a transition, or straight there where none leads. */
export interface Way {
  readonly from: StageRow;
  readonly to: StageRow;
  readonly transition: TransitionRow | null;
  /** The workflow control that it needs at the stage from which it leads. */
  readonly control: Control;
}

/** What is wrong with a move that names neither transition nor stage. */
export const namingIssues = ({
  transitionCode,
  toStageCode,
}: { readonly [K in 'transitionCode' | 'toStageCode']?: string | null | undefined }): Issue[] =>
  transitionCode || toStageCode ? [] : [{ path: 'transitionCode', problem: 'must be given, or toStageCode' }];

/** What is wrong with a transition that leads to where it begins. */
export const endIssues = ({
  fromStageCode,
  toStageCode,
}: {
  readonly fromStageCode?: string | undefined;
  readonly toStageCode?: string | undefined;
}): Issue[] =>
  fromStageCode !== undefined && fromStageCode === toStageCode
    ? [{ path: 'toStageCode', problem: 'must not be fromStageCode' }]
    : [];

/**
 * The ways that a request may mean, first choice first; none when the contract is at the named stage already. Refuses
 * codes that are unknown, that contradict each other, or that name a transition which does not lead from here.
 */
export function waysOf(
  row: ContractRow,
  { stages, transitions }: Lifecycle,
  { transitionCode, toStageCode }: TransitionInput,
): readonly Way[] {
  const issues = namingIssues({ transitionCode, toStageCode });
  if (issues.length > 0) throw invalid(...issues);
  const from = stageOf(stages, row.stageCode);
  const named = transitionCode ? found('transitionCode', transitionCode, transitions) : undefined;
  const target = toStageCode ? found('toStageCode', toStageCode, stages) : undefined;
  if (named) {
    if (target && target.code !== named.toStageCode)
      throw invalid({
        path: 'toStageCode',
        problem: `must be ${named.toStageCode}, to which ${named.code} leads, or be left out`,
      });
    if (named.fromStageCode !== from.code || !named.enabled)
      throw fail('INVALID_TRANSITION', {
        field: 'transitionCode',
        from: from.code,
        to: named.toStageCode,
        allowed: leadingFrom(from, transitions).map(({ code }) => code),
      });
    return [wayBy(named, from, stages)];
  }
  if (!target || target.code === from.code) return [];
  const leading = leadingFrom(from, transitions)
    .filter(({ toStageCode: to }) => to === target.code)
    .map((transition) => wayBy(transition, from, stages));
  return leading.length > 0
    ? leading
    : [
        {
          from,
          to: target,
          transition: null,
          control: strongest(directControl(from.category, target.category), outOf(from)),
        },
      ];
}

/**
 * Why the caller may not take this way, or nothing: his role must be one of those that may move the contract, hold the
 * control at the present stage, and be one of those that the next stage admits.
 */
export function refusalOf(
  { from, to, control }: Way,
  { allowedRoles }: Pick<ContractRow, 'allowedRoles'>,
  { actor: { roleCode }, controls }: Pick<Call, 'actor' | 'controls'>,
): Failure | undefined {
  const isOneOf = (roles: readonly string[]) => roles.length === 0 || (roleCode !== null && roles.includes(roleCode));
  const needs = { control, stage: from.code };
  if (!isOneOf(allowedRoles)) return fail('WORKFLOW_CONTROL_REQUIRED', { ...needs, roles: [...allowedRoles] });
  if (!holds(controlAt(controls, from), control)) return fail('WORKFLOW_CONTROL_REQUIRED', needs);
  if (!isOneOf(to.allowedRoleCodes))
    return fail('WORKFLOW_CONTROL_REQUIRED', { ...needs, roles: [...to.allowedRoleCodes] });
  return undefined;
}

/** What it takes to enter a category straight, where no transition leads there. */
const ENTER: Readonly<Record<WorkflowStage, Control>> = {
  draft: 'edit',
  extracted: 'edit',
  review: 'edit',
  approved: 'approve',
  signed: 'sign',
  active: 'edit',
  completed: 'approve',
  archived: 'admin',
};
/**
 * What it takes to undo one: as much as the shipped flow asks for the way back, and never less than it took to get
 * there.
 */
const UNDO: Readonly<Record<WorkflowStage, Control>> = {
  draft: 'edit',
  extracted: 'edit',
  review: 'approve',
  approved: 'approve',
  signed: 'sign',
  active: 'sign',
  completed: 'admin',
  archived: 'admin',
};

/**
 * A straight move skips stages, not their controls: it needs the strongest of all that lie on its way, forward or back.
 */
function directControl(from: WorkflowStage, to: WorkflowStage): Control {
  const [start, end] = [WORKFLOW_STAGES.indexOf(from), WORKFLOW_STAGES.indexOf(to)];
  const onTheWay =
    start < end
      ? WORKFLOW_STAGES.slice(start + 1, end + 1).map((stage) => ENTER[stage])
      : WORKFLOW_STAGES.slice(end + 1, start + 1).map((stage) => UNDO[stage]);
  return onTheWay.reduce(strongest, ENTER[to]);
}

const outOf = ({ isTerminal }: StageRow): Control => (isTerminal ? 'admin' : 'none');
const strongest = (a: Control, b: Control): Control => (holds(a, b) ? a : b);

const leadingFrom = ({ code }: StageRow, transitions: readonly TransitionRow[]): TransitionRow[] =>
  transitions.filter(({ enabled, fromStageCode }) => enabled && fromStageCode === code);

const wayBy = (transition: TransitionRow, from: StageRow, stages: readonly StageRow[]): Way => ({
  from,
  to: stageOf(stages, transition.toStageCode),
  transition,
  control: strongest(transition.requiredControl, outOf(from)),
});

function found<R extends { readonly code: string }>(field: string, code: string, records: readonly R[]): R {
  const record = records.find((candidate) => candidate.code === code);
  if (!record) throw fail('REFERENCE_INVALID', { field, value: code });
  return record;
}

/** Codes of stages cannot change while contracts or transitions name them. */
function stageOf(stages: readonly StageRow[], code: string): StageRow {
  const stage = stages.find((candidate) => candidate.code === code);
  if (!stage) throw new Error(`the lifecycle template has no stage ${code}`);
  return stage;
}
