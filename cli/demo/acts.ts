import type { Day } from '../../data-plane-agent/base/day.js';
import type { WorkflowStage } from '../../data-plane-agent/plane/contract/vocabulary.js';
import type { Random } from './random.js';
import { ageMonths, type Life } from './shapes.js';
import type { Words } from './words.js';

/** Something that somebody does to a contract's stage or lock, as its trail shows it. */
export type DemoAct = {
  readonly by: string;
  readonly note: string;
  /** The day under which it is done, where the contract keeps it. */
  readonly on?: Day;
} & (
  | { readonly does: 'move' | 'try'; readonly transition: string }
  | { readonly does: 'lock' }
  | { readonly does: 'unlock' }
);

/** Who has a hand in a contract: keys of the cast. */
export interface Hands {
  readonly owner: string;
  readonly superior: string | null;
}

export interface Journey {
  /**
   * The stage at which it is entered, and its code where the contract's lifecycle template has several of that kind.
   */
  readonly from: WorkflowStage;
  readonly fromCode?: string;
  readonly acts: readonly DemoAct[];
  /** What can be done only when money and tasks are in the book. */
  readonly finish: readonly DemoAct[];
  /** The code of the stage where all that leaves it. */
  readonly to: string;
}

interface Surroundings {
  readonly random: Random;
  readonly hands: Hands;
  readonly words: Words;
  readonly signDate: Day | null;
}

/**
 * How a contract came to its stage. What is recent went the whole way under the eyes of the demo's people; older
 * contracts were taken over as they stood, and of those that were done only lately it is told how they ended.
 */
export function journeyOf(life: Life, surroundings: Surroundings): Journey {
  const { stage, endedMonthsAgo } = life;
  const reached = { finish: [], to: stage };
  if (stage === 'completed' && endedMonthsAgo <= 2)
    return { ...reached, from: 'active', acts: [deed('complete', approverOf(surroundings.hands), surroundings)] };
  if (stage === 'archived' && endedMonthsAgo <= 6)
    return { ...reached, from: 'completed', acts: [deed('archive', approverOf(surroundings.hands), surroundings)] };
  if (isOfOldBooks(life)) return { ...reached, from: stage, acts: [] };
  return { ...reached, from: 'draft', acts: wayTo(stage, surroundings) };
}

/** Whether it was begun before the demo's people kept their book here. */
export const isOfOldBooks = (life: Life): boolean =>
  life.stage === 'completed' || life.stage === 'archived' || ageMonths(life) > RECENT_MONTHS;

const RECENT_MONTHS = 4;

function wayTo(stage: WorkflowStage, surroundings: Surroundings): DemoAct[] {
  const { random, hands, words, signDate } = surroundings;
  if (stage === 'draft') return [];
  if (stage === 'extracted') return [deed('mark_extracted', hands.owner, surroundings)];
  const approver = approverOf(hands);
  const isReturned = random.percent(10);
  const submitted = [
    deed('submit_review', hands.owner, surroundings),
    ...(isReturned
      ? [
          deed('return_to_draft', 'hoffmann', surroundings),
          { ...deed('submit_review', hands.owner, surroundings), note: random.pick(words.moves.resubmit) },
        ]
      : []),
  ];
  const signed = {
    ...deed('sign', random.percent(40) ? 'hoffmann' : approver, surroundings),
    ...(signDate === null ? {} : { on: signDate }),
  };
  const steps: readonly (readonly [WorkflowStage, readonly DemoAct[]])[] = [
    ['review', submitted],
    ['approved', [deed('approve', approver, surroundings)]],
    ['signed', [signed]],
    ['active', [deed('activate', hands.owner, surroundings)]],
  ];
  return steps.slice(0, steps.findIndex(([reached]) => reached === stage) + 1).flatMap(([, acts]) => acts);
}

/** Nobody approves what is his own. */
export const approverOf = ({ superior }: Hands): string => superior ?? 'novak';

const deed = (
  transition: Exclude<keyof Words['moves'], 'resubmit'>,
  by: string,
  { random, words }: Surroundings,
): DemoAct => ({ does: 'move', transition, by, note: random.pick(words.moves[transition]) });
