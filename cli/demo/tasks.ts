import { addDays, type Day } from '../../data-plane-agent/base/day.js';
import type { TaskInput } from '../../data-plane-agent/plane/contract/records/tasks.js';
import type { TaskStatus } from '../../data-plane-agent/plane/contract/vocabulary.js';
import type { Hands } from './acts.js';
import type { Random } from './random.js';
import { ageMonths, type Life } from './shapes.js';
import type { TaskKind, Words } from './words.js';

/**
 * A fulfillment task of a contract, its owner, and the states that it passes through, beginning with the one it is
 * created in.
 */
export interface DemoTask {
  readonly input: Omit<TaskInput, 'ownerId' | 'status'>;
  readonly owner: string;
  /** The member who accepts it. */
  readonly acceptor: string;
  readonly states: readonly [TaskStatus, ...TaskStatus[]];
}

interface Surroundings {
  readonly random: Random;
  readonly today: Day;
  readonly hands: Hands;
  readonly words: Words;
  readonly startDate: Day;
  readonly endDate: Day;
}

/** The tasks of recently signed contracts; older contracts have none. */
export function tasksOf(life: Life, { random, today, hands, words, startDate, endDate }: Surroundings): DemoTask[] {
  const isLate = random.percent(12);
  const isGoing = life.stage === 'signed' || life.stage === 'active';
  if (!isGoing || ageMonths(life) > (life.type === 'sale' ? 6 : 4)) return [];
  const days: readonly (readonly [TaskKind, Day])[] =
    life.type === 'sale'
      ? [
          ['delivery', addDays(startDate, 45)],
          ['installation', addDays(startDate, 52)],
          ['training', addDays(startDate, 58)],
          ['acceptance', addDays(startDate, 65)],
        ]
      : [
          ['delivery', startDate],
          ['acceptance', addDays(startDate, 7)],
          ['return', endDate],
        ];
  return days.map(([kind, dueDate]): DemoTask => {
    const states = statesOf({ kind, dueDate, today, isLate, random });
    const acceptance =
      states.at(-1) === 'accepted'
        ? 'passed'
        : kind === 'acceptance' || states.at(-1) === 'completed'
          ? 'pending'
          : 'not_required';
    return {
      input: { code: kind, title: words.tasks[kind], kind, dueDate, acceptanceStatus: acceptance },
      owner: hands.owner,
      acceptor: hands.superior ?? 'novak',
      states,
    };
  });
}

/** The present state of a task. Overdue tasks are marked by the daily job. */
function statesOf({
  kind,
  dueDate,
  today,
  isLate,
  random,
}: {
  kind: TaskKind;
  dueDate: Day;
  today: Day;
  isLate: boolean;
  random: Random;
}): DemoTask['states'] {
  if (kind === 'training' && random.percent(8)) return ['pending', 'canceled'];
  if (dueDate < addDays(today, -3) && !isLate)
    return random.percent(75) ? ['in_progress', 'completed', 'accepted'] : ['in_progress', 'completed'];
  if (dueDate < today) return random.percent(50) ? ['in_progress'] : ['pending'];
  if (dueDate < addDays(today, 21)) return random.percent(20) ? ['in_progress', 'blocked'] : ['in_progress'];
  return ['pending'];
}
