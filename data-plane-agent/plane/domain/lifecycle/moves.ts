import { fail, invalid, type Failure } from '../../../base/failures.js';
import type { Issue } from '../../../base/issue.js';
import type { Call } from '../../contract/call.js';
import type { TransitionInput } from '../../contract/records/workflow.js';
import { WORKFLOW_STAGES, type Control, type WorkflowStage } from '../../contract/vocabulary.js';
import { controlAt, holds } from './lifecycle.js';
import type { StageRow, TransitionRow } from '../../tables/lifecycle.js';
import type { ContractRow } from '../../tables/contracts.js';

/** The stages and transitions of a lifecycle template, each list in its order. */
export interface Lifecycle {
  readonly stages: readonly StageRow[];
  readonly transitions: readonly TransitionRow[];
}

/** A possible move to another stage: by a transition, or directly when no transition leads there. */
export interface Way {
  readonly from: StageRow;
  readonly to: StageRow;
  readonly transition: TransitionRow | null;
  /** The workflow control required at the present stage. */
  readonly control: Control;
}

/** The issues of a move that names neither a transition nor a stage. */
export const namingIssues = ({
  transitionCode,
  toStageCode,
}: { readonly [K in 'transitionCode' | 'toStageCode']?: string | null | undefined }): Issue[] =>
  transitionCode || toStageCode ? [] : [{ path: 'transitionCode', problem: 'must be given, or toStageCode' }];

/** The issues of a transition that ends at the stage where it begins. */
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
 * The moves that a request may mean, preferred first; none when the contract is already at the named stage. Refuses
 * codes that are unknown or contradict each other, and transitions that do not start at the present stage.
 */
export function waysOf(
  row: ContractRow,
  { stages, transitions }: Lifecycle,
  { transitionCode, toStageCode }: TransitionInput,
): readonly Way[] {
  const issues = namingIssues({ transitionCode, toStageCode });
  if (issues.length > 0) throw invalid(...issues);
  const from = stageOf(stages, row.stageCode);
  const startingHere = leadingFrom(from, transitions);
  const named = transitionCode
    ? found({ field: 'transitionCode', value: transitionCode }, transitions, startingHere)
    : undefined;
  const target = toStageCode ? found({ field: 'toStageCode', value: toStageCode }, stages, stages) : undefined;
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
        allowed: startingHere.map(({ code }) => code),
      });
    return [wayBy(named, from, stages)];
  }
  if (!target || target.code === from.code) return [];
  const leading = startingHere
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
 * The reason why the caller may not make this move, if any: their role must be allowed to move the contract, have the
 * control at the present stage, and be admitted by the next stage.
 */
export function refusalOf(
  { from, to, control }: Way,
  { allowedRoles }: Pick<ContractRow, 'allowedRoles'>,
  { actor: { roleCode }, controls }: Pick<Call, 'actor' | 'controls'>,
): Failure | undefined {
  const isOneOf = (roles: readonly string[]) => roles.length === 0 || (roleCode !== null && roles.includes(roleCode));
  const has = controlAt(controls, from);
  const needs = { control, stage: from.code, has };
  if (!isOneOf(allowedRoles)) return fail('WORKFLOW_CONTROL_REQUIRED', { ...needs, roles: [...allowedRoles] });
  if (!holds(has, control)) return fail('WORKFLOW_CONTROL_REQUIRED', needs);
  if (!isOneOf(to.allowedRoleCodes))
    return fail('WORKFLOW_CONTROL_REQUIRED', { ...needs, roles: [...to.allowedRoleCodes] });
  return undefined;
}

/** The control required for a direct move into a category. */
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
 * The control required for a direct move back out of a category: that of the shipped transition back, and at least that
 * of the move into it.
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

/** A direct move skips stages but not their controls: it requires the strongest control of all stages in between. */
function directControl(from: WorkflowStage, to: WorkflowStage): Control {
  const [start, end] = [WORKFLOW_STAGES.indexOf(from), WORKFLOW_STAGES.indexOf(to)];
  const controls =
    start < end
      ? WORKFLOW_STAGES.slice(start + 1, end + 1).map((stage) => ENTER[stage])
      : WORKFLOW_STAGES.slice(end + 1, start + 1).map((stage) => UNDO[stage]);
  return controls.reduce(strongest, ENTER[to]);
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

function found<R extends { readonly code: string }>(
  { field, value }: { readonly field: string; readonly value: string },
  records: readonly R[],
  allowed: readonly R[],
): R {
  const record = records.find(({ code }) => code === value);
  if (!record) throw fail('REFERENCE_INVALID', { field, value, allowed: allowed.map(({ code }) => code) });
  return record;
}

/** Stage codes cannot change while contracts or transitions use them. */
function stageOf(stages: readonly StageRow[], code: string): StageRow {
  const stage = stages.find((candidate) => candidate.code === code);
  if (!stage) throw new Error(`the lifecycle template has no stage ${code}`);
  return stage;
}
