import type { WorkflowStage } from '../../data-plane-agent/plane/contract/vocabulary.js';
import type { Random } from './random.js';

/** The shape of a contract's payment plan, and how much of it is due. */
export interface Life {
  readonly type: 'sale' | 'lease';
  readonly lines: number;
  /** Months from one due date to the next. */
  readonly stepMonths: 1 | 2 | 3;
  readonly stage: WorkflowStage;
  /** How many of the lines are due already: the first of the others is next. */
  readonly past: number;
  /** How many months ago a finished plan ended. */
  readonly endedMonthsAgo: number;
}

/** 300 plans that have 3 000 lines together, the oldest first. */
export function demoLives(random: Random): Life[] {
  const lives = PLANS.flatMap(({ howMany, ...plan }) => Array.from({ length: howMany }, () => plan)).map((plan) =>
    liveThrough(plan, random),
  );
  return random.shuffled(lives).toSorted((a, b) => ageMonths(b) - ageMonths(a));
}

/** How many months ago the first line was due; negative when it will be. */
export const ageMonths = ({ past, stepMonths, endedMonthsAgo }: Life): number => past * stepMonths + endedMonthsAgo;

interface Plan {
  readonly type: 'sale' | 'lease';
  readonly lines: number;
  readonly stepMonths: 1 | 2 | 3;
}

const PLANS: readonly (Plan & { readonly howMany: number })[] = [
  { type: 'sale', lines: 3, stepMonths: 2, howMany: 42 },
  { type: 'sale', lines: 4, stepMonths: 1, howMany: 48 },
  { type: 'sale', lines: 5, stepMonths: 2, howMany: 30 },
  { type: 'lease', lines: 8, stepMonths: 3, howMany: 30 },
  { type: 'lease', lines: 12, stepMonths: 3, howMany: 10 },
  { type: 'lease', lines: 12, stepMonths: 1, howMany: 83 },
  { type: 'lease', lines: 18, stepMonths: 1, howMany: 32 },
  { type: 'lease', lines: 24, stepMonths: 1, howMany: 25 },
];

/** The three years that the book covers: two behind, one ahead. */
const MONTHS_BEHIND = 24;
const MONTHS_AHEAD = 12;

/** How often each stage comes up, in parts of a hundred. */
const BEGINNING: readonly (readonly [WorkflowStage, number])[] = [
  ['draft', 5],
  ['extracted', 2],
  ['review', 3],
  ['approved', 2],
  ['signed', 3],
];
const RUNNING = 85;
/** How many plans are done. Fewer than with an even distribution of start dates, as the business grows. */
const DONE = 0.75;

/** The shorter a plan is, the more of its kind are done by now. */
function weightsOf(
  { lines, stepMonths }: Plan,
  { canBegin }: { readonly canBegin: boolean },
): readonly (readonly [WorkflowStage, number])[] {
  const done = Math.max(0, Math.round(DONE * RUNNING * (1 - (lines * stepMonths) / MONTHS_BEHIND)));
  const archived = Math.round(done * 0.4);
  return [
    ...(canBegin ? BEGINNING : []),
    ['active', RUNNING - done],
    ['completed', done - archived],
    ['archived', archived],
  ];
}

function liveThrough(plan: Plan, random: Random): Life {
  const { lines, stepMonths } = plan;
  const least = Math.max(0, lines - Math.floor(MONTHS_AHEAD / stepMonths));
  const most = Math.min(lines, Math.floor(MONTHS_BEHIND / stepMonths));
  const possible = weightsOf(plan, { canBegin: least === 0 });
  const stage = random.pick(asSome(possible.flatMap(([name, weight]) => Array.from({ length: weight }, () => name))));
  if (isDone(stage))
    return { ...plan, stage, past: lines, endedMonthsAgo: random.between(0, MONTHS_BEHIND - lines * stepMonths) };
  if (stage === 'active')
    return { ...plan, stage, past: random.between(Math.max(1, least), Math.min(lines - 1, most)), endedMonthsAgo: 0 };
  return { ...plan, stage, past: stage === 'signed' ? random.between(0, 1) : 0, endedMonthsAgo: 0 };
}

const isDone = (stage: WorkflowStage): boolean => stage === 'completed' || stage === 'archived';

function asSome<T>(items: readonly T[]): readonly [T, ...T[]] {
  const [first, ...rest] = items;
  if (first === undefined) throw new Error('every plan can be at the stage active');
  return [first, ...rest];
}
