import { fail } from '../../../base/failures.js';
import { CONTROLS, type Control, type WorkflowStage } from '../../contract/vocabulary.js';

/**
 * Stages at which any user who may create contracts can create one; later stages are for importing running contracts.
 */
const EARLY: readonly WorkflowStage[] = ['draft', 'extracted', 'review'];
export const isEarlyStage = (category: WorkflowStage): boolean => EARLY.includes(category);

/**
 * The caller's control at a stage: an entry for the stage code takes precedence over one for its category; without
 * either it is `none`.
 */
export const controlAt = (
  controls: Readonly<Record<string, Control>>,
  stage: { code: string; category: WorkflowStage },
): Control => controls[stage.code] ?? controls[stage.category] ?? 'none';

/** Each control level includes the weaker ones. */
export const holds = (actual: Control, needed: Control): boolean =>
  CONTROLS.indexOf(actual) >= CONTROLS.indexOf(needed);

/** Refuses callers whose role lacks a control level at a stage. */
export function requireControl(
  controls: Readonly<Record<string, Control>>,
  stage: { code: string; category: WorkflowStage },
  control: Control,
): void {
  const has = controlAt(controls, stage);
  if (!holds(has, control)) throw fail('WORKFLOW_CONTROL_REQUIRED', { control, stage: stage.code, has });
}

/** Whether two lists contain the same roles in any order. */
export const areSameRoles = (some: readonly string[], others: readonly string[]): boolean =>
  some.every((code) => others.includes(code)) && others.every((code) => some.includes(code));
