import type { SkipReason, ReminderStatus } from '../../contract/vocabulary.js';
import { isSameStep, type Rung, type StepId } from './ladder.js';

/** The number of automatic reminders of a line for one due date; `final` is sent beyond it. */
export const MOST_AUTOMATIC = 10;

/** A reminder that was decided on earlier, for the line's present due date. */
export interface Decided extends StepId {
  readonly status: ReminderStatus;
  readonly reason: SkipReason | null;
}

/** The state of an open line on the day of a sweep. */
export interface SweptLine {
  /** Days past the due date; negative before it. */
  readonly daysPast: number;
  /** Days from the due date to the day on which the line was created; negative if it was created before. */
  readonly createdAfter: number;
  readonly decided: readonly Decided[];
  /** Whether somebody sent a reminder of the line by hand on this day. */
  readonly isRemindedToday: boolean;
  /** Why nothing may be sent at present, if so. */
  readonly obstacle: Obstacle | null;
}
export type Obstacle = Extract<SkipReason, 'HELD' | 'BEFORE_STAGE' | 'NO_CHANNEL' | 'CHANNEL_DISABLED'>;

/** What a sweep writes for a line. `isNew` is false for a decision that was skipped and is now taken up again. */
export interface Decision extends StepId {
  readonly status: Extract<ReminderStatus, 'queued' | 'skipped' | 'superseded'>;
  readonly reason: SkipReason | null;
  readonly isNew: boolean;
}

/**
 * The decisions of one sweep about a line: at most one reminder, of the latest step whose day has come. Steps that were
 * missed since the line exists, while no sweep ran, are superseded by it. A step that was skipped because of an
 * obstacle is taken up again when the obstacle is gone, unless a later step has come.
 */
export function decide(rungs: readonly Rung[], line: SweptLine): readonly Decision[] {
  const reached = rungs.filter(({ after }) => after <= line.daysPast);
  const current = reached.at(-1);
  if (!current) return [];
  const earlier = line.decided.find((known) => isSameStep(known, current));
  if (earlier && !isTakenUp(earlier, line)) return [];
  const latest = Math.max(...reached.flatMap((rung, i) => (isDecided(line, rung) ? [i] : [])), -1);
  const missed = reached
    .slice(latest + 1, -1)
    .filter(({ after }) => after >= line.createdAfter)
    .map(({ step, occurrence }): Decision => ({
      step,
      occurrence,
      status: 'superseded',
      reason: 'SUPERSEDED',
      isNew: true,
    }));
  const { step, occurrence } = current;
  const reason = skipReason(current, line);
  return [
    ...missed,
    { step, occurrence, status: reason === null ? 'queued' : 'skipped', reason, isNew: earlier === undefined },
  ];
}

/** The next step that a sweep will decide on; `undefined` when the automation has ended. */
export function nextRung(
  rungs: readonly Rung[],
  { daysPast, decided }: Pick<SweptLine, 'daysPast' | 'decided'>,
): Rung | undefined {
  const at = rungs.findLastIndex(({ after }) => after <= daysPast);
  const current = rungs[at];
  const known = current && decided.find((one) => isSameStep(one, current));
  return current && (!known || isObstacle(known.reason)) ? current : rungs[at + 1];
}

const isDecided = ({ decided }: SweptLine, rung: Rung): boolean => decided.some((known) => isSameStep(known, rung));

const isTakenUp = ({ status, reason }: Decided, { obstacle }: SweptLine): boolean =>
  obstacle === null && status === 'skipped' && isObstacle(reason);

function skipReason({ step }: Rung, { obstacle, isRemindedToday, decided }: SweptLine): SkipReason | null {
  if (obstacle !== null) return obstacle;
  if (isRemindedToday) return 'REMINDED_TODAY';
  const sent = decided.filter(({ status }) => status !== 'skipped' && status !== 'superseded').length;
  return sent >= MOST_AUTOMATIC && step !== 'final' ? 'LIMIT_REACHED' : null;
}

const OBSTACLES: readonly (SkipReason | null)[] = [
  'HELD',
  'BEFORE_STAGE',
  'NO_CHANNEL',
  'CHANNEL_DISABLED',
] satisfies Obstacle[];
const isObstacle = (reason: SkipReason | null): boolean => OBSTACLES.includes(reason);
