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
} & ({ readonly does: 'move' | 'try'; readonly transition: string } | { readonly does: 'lock' });

/** Who has a hand in a contract: keys of the cast. */
export interface Hands {
  readonly owner: string;
  readonly superior: string | null;
}

export interface Journey {
  /** The stage at which it is entered. */
  readonly from: WorkflowStage;
  readonly acts: readonly DemoAct[];
}

interface Surroundings {
  readonly random: Random;
  readonly hands: Hands;
  readonly words: Words;
  readonly signDate: Day | null;
}

/**
 * How a contract came to its stage. What is recent went the whole way under the eyes of the demo's people; older contracts were taken over
 * as they stood, and of those that were done only lately it is told how they ended.
 */
export function journeyOf(life: Life, surroundings: Surroundings): Journey {
  const { stage, endedMonthsAgo } = life;
  if (stage === 'completed' && endedMonthsAgo <= 2) return { from: 'active', acts: [deed('complete', approverOf(surroundings.hands), surroundings)] };
  if (stage === 'archived' && endedMonthsAgo <= 6) return { from: 'completed', acts: [deed('archive', approverOf(surroundings.hands), surroundings)] };
  if (stage === 'completed' || stage === 'archived' || ageMonths(life) > RECENT_MONTHS) return { from: stage, acts: [] };
  return { from: 'draft', acts: wayTo(stage, surroundings) };
}

const RECENT_MONTHS = 4;

function wayTo(stage: WorkflowStage, surroundings: Surroundings): DemoAct[] {
  const { random, hands, words, signDate } = surroundings;
  if (stage === 'draft') return [];
  if (stage === 'extracted') return [deed('mark_extracted', hands.owner, surroundings)];
  const approver = approverOf(hands);
  const isReturned = random.percent(10);
  const submitted = [
    deed('submit_review', hands.owner, surroundings),
    ...(isReturned ? [deed('return_to_draft', 'hoffmann', surroundings), { ...deed('submit_review', hands.owner, surroundings), note: random.pick(words.moves.resubmit) }] : []),
  ];
  const signed = { ...deed('sign', random.percent(40) ? 'hoffmann' : approver, surroundings), ...(signDate === null ? {} : { on: signDate }) };
  const steps: readonly (readonly [WorkflowStage, readonly DemoAct[]])[] = [
    ['review', submitted],
    ['approved', [deed('approve', approver, surroundings)]],
    ['signed', [signed]],
    ['active', [deed('activate', hands.owner, surroundings)]],
  ];
  return steps.slice(0, steps.findIndex(([reached]) => reached === stage) + 1).flatMap(([, acts]) => acts);
}

/** Nobody approves what is his own. */
const approverOf = ({ superior }: Hands): string => superior ?? 'novak';

const deed = (transition: Exclude<keyof Words['moves'], 'resubmit'>, by: string, { random, words }: Surroundings): DemoAct => ({ does: 'move', transition, by, note: random.pick(words.moves[transition]) });
