import { CONTROLS, type Control, type WorkflowStage } from '../../contract/vocabulary.js';

/** Stages at which anybody who may create contracts may create one; later ones are for imports of running contracts. */
const EARLY: readonly WorkflowStage[] = ['draft', 'extracted', 'review'];
export const isEarlyStage = (category: WorkflowStage): boolean => EARLY.includes(category);

/** The caller's control at a stage: a key for the stage's own code wins over one for its category; none means none. */
export const controlAt = (
  controls: Readonly<Record<string, Control>>,
  stage: { code: string; category: WorkflowStage },
): Control => controls[stage.code] ?? controls[stage.category] ?? 'none';

/** Each control level includes the weaker ones. */
export const holds = (actual: Control, needed: Control): boolean =>
  CONTROLS.indexOf(actual) >= CONTROLS.indexOf(needed);

/** Whether two lists name the same roles, in whatever order. */
export const areSameRoles = (some: readonly string[], others: readonly string[]): boolean =>
  some.every((code) => others.includes(code)) && others.every((code) => some.includes(code));
