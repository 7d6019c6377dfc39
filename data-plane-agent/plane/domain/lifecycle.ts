import type { Control, WorkflowStage } from '../contract/vocabulary.js';
import { CONTROLS, WORKFLOW_STAGES } from '../contract/vocabulary.js';

/** The template that every tenant has from its first use. Model: workflow states with an own action, control and lock. */
export const STANDARD_TEMPLATE = {
  code: 'standard',
  name: 'Standard',
  stages: stagesOf({ locking: ['approved', 'signed', 'active', 'completed', 'archived'], terminal: ['archived'] }),
  transitions: [
    move('mark_extracted', 'Mark extracted', 'draft', 'extracted', 'edit'),
    move('submit_review', 'Submit for review', 'draft', 'review', 'edit'),
    move('submit_extracted', 'Submit for review', 'extracted', 'review', 'edit'),
    move('return_to_draft', 'Return to draft', 'review', 'draft', 'approve'),
    move('approve', 'Approve', 'review', 'approved', 'approve'),
    move('revise', 'Revise', 'approved', 'review', 'approve'),
    move('sign', 'Sign', 'approved', 'signed', 'sign', { setFieldToday: ['signDate'] }),
    move('activate', 'Activate', 'signed', 'active', 'edit', { setStatus: 'in_progress' }),
    move('complete', 'Complete', 'active', 'completed', 'approve', { setStatus: 'completed' }),
    move('reopen', 'Reopen', 'completed', 'active', 'admin', { setStatus: 'in_progress' }),
    move('archive', 'Archive', 'completed', 'archived', 'approve'),
    move('terminate', 'Terminate', 'active', 'archived', 'admin'),
    move('restore', 'Restore', 'archived', 'completed', 'admin'),
  ],
} as const;

/** The contract types that every tenant has from its first use. */
export const SHIPPED_TYPES = [
  { code: 'sale', name: 'Sale', category: 'sale' },
  { code: 'lease', name: 'Lease', category: 'lease' },
] as const;

/** Stages at which anybody who may create contracts may create one; later ones are for imports of running contracts. */
const EARLY: readonly WorkflowStage[] = ['draft', 'extracted', 'review'];
export const isEarlyStage = (category: WorkflowStage): boolean => EARLY.includes(category);

/** The caller's control at a stage: a key for the stage's own code wins over one for its category; none means none. */
export const controlAt = (controls: Readonly<Record<string, Control>>, stage: { code: string; category: WorkflowStage }): Control => controls[stage.code] ?? controls[stage.category] ?? 'none';

/** Each control level includes the weaker ones. */
export const holds = (actual: Control, needed: Control): boolean => CONTROLS.indexOf(actual) >= CONTROLS.indexOf(needed);

function stagesOf({ locking, terminal }: { locking: readonly WorkflowStage[]; terminal: readonly WorkflowStage[] }) {
  return WORKFLOW_STAGES.map((code, i) => ({
    code,
    name: code.charAt(0).toUpperCase() + code.slice(1),
    category: code,
    position: (i + 1) * 10,
    locksCoreFields: locking.includes(code),
    isTerminal: terminal.includes(code),
  }));
}

function move(code: string, name: string, from: WorkflowStage, to: WorkflowStage, requiredControl: Control, effects: Readonly<Record<string, unknown>> = {}) {
  return { code, name, fromStageCode: from, toStageCode: to, requiredControl, effects };
}
