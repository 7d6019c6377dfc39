import type { Day } from '../../data-plane-agent/base/day.js';
import type { WorkflowStage } from '../../data-plane-agent/plane/contract/vocabulary.js';
import type { Random } from './random.js';
import { ageMonths, type Life } from './shapes.js';
import type { Words } from './words.js';

/** An action on a contract's stage or lock, recorded in its event trail. */
export type DemoAct = {
  readonly by: string;
  readonly note: string;
  /** The day of the action, where the contract records it. */
  readonly on?: Day;
} & (
  | { readonly does: 'move' | 'try'; readonly transition: string }
  | { readonly does: 'lock' }
  | { readonly does: 'unlock' }
);

/** The people who work on a contract, as keys of the cast. */
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
  /** Actions that require the receipts and tasks to be entered first. */
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
 * How a contract reached its stage. Recent contracts pass through every stage, older ones are entered at the stage they
 * have, and those that ended recently get their last move.
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

/** Whether the contract predates the use of Duebook by the demo's organisation. */
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

/** Members do not approve their own contracts. */
export const approverOf = ({ superior }: Hands): string => superior ?? 'novak';

const deed = (
  transition: Exclude<keyof Words['moves'], 'resubmit'>,
  by: string,
  { random, words }: Surroundings,
): DemoAct => ({ does: 'move', transition, by, note: random.pick(words.moves[transition]) });
