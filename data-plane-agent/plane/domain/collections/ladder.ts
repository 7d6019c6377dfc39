import type { ReminderStep } from '../../contract/vocabulary.js';

/** The tenant's settings that place the steps: days before the due date, and after it. 0 omits the step. */
export interface LadderRules {
  readonly leadDays: number;
  readonly escalationDays: number;
}

/** Identifies an automatic reminder of a line; `occurrence` counts from 1, and only `escalated` has more than one. */
export interface StepId {
  readonly step: ReminderStep;
  readonly occurrence: number;
}

/** An automatic reminder, with its day counted from the due date; negative before it. */
export interface Rung extends StepId {
  readonly after: number;
}

/** After the reminder of this day the automation stops. */
export const FINAL_DAYS = 90;
/** An escalation is repeated at most once a week. */
const LEAST_REPEAT_DAYS = 7;

/**
 * The automatic reminders of a line, by day. The first escalation comes after `overdue_1`: with `escalationDays` 1 it is
 * on the second day after the due date.
 */
export function ladder({ leadDays, escalationDays }: LadderRules): readonly Rung[] {
  const rungs: Rung[] = [
    ...(leadDays > 0 ? [{ step: 'pre_due', occurrence: 1, after: -leadDays } as const] : []),
    { step: 'due_day', occurrence: 1, after: 0 },
    { step: 'overdue_1', occurrence: 1, after: 1 },
  ];
  const every = Math.max(escalationDays, LEAST_REPEAT_DAYS);
  if (escalationDays > 0)
    for (let occurrence = 1, after = Math.max(escalationDays, 2); after < FINAL_DAYS; occurrence++, after += every)
      rungs.push({ step: 'escalated', occurrence, after });
  return [...rungs, { step: 'final', occurrence: 1, after: FINAL_DAYS }];
}

export const isSameStep = (a: StepId, b: StepId): boolean => a.step === b.step && a.occurrence === b.occurrence;
