import type { Day } from '../../data-plane-agent/base/day.js';
import { approverOf, isOfOldBooks, type DemoAct, type Hands, type Journey } from './acts.js';
import type { Random } from './random.js';
import { ageMonths, type Life } from './shapes.js';
import type { DemoTask } from './tasks.js';
import { BOARD_FROM, FACTORY_TEST, type TurnkeyStage } from './turnkey.js';

interface Surroundings {
  readonly random: Random;
  readonly hands: Hands;
  readonly signDate: Day | null;
  readonly totalAmount: number;
  readonly tasks: readonly DemoTask[];
}

/** How a turnkey contract reached its stage: like other contracts, but through the stages of its own lifecycle. */
export function turnkeyJourney(life: Life, surroundings: Surroundings): Journey {
  const { hands, random } = surroundings;
  const approver = approverOf(hands);
  const deed = (transition: keyof typeof NOTES, by: string): DemoAct => ({
    does: 'move',
    transition,
    by,
    note: random.pick(NOTES[transition]),
  });
  if (life.stage === 'completed') {
    // It can be closed only when it is fully paid, so after its receipts are entered.
    return life.endedMonthsAgo <= 2
      ? { from: 'active', fromCode: 'warranty', acts: [], finish: [deed('close', approver)], to: 'closed' }
      : takenOver('completed', 'closed');
  }
  if (life.stage === 'archived')
    return life.endedMonthsAgo <= 6
      ? { from: 'completed', fromCode: 'closed', acts: [deed('archive', approver)], finish: [], to: 'archived' }
      : takenOver('archived', 'archived');
  if (isOfOldBooks(life)) return takenOver(life.stage, 'warranty');

  const isLarge = surroundings.totalAmount >= BOARD_FROM;
  const decided = isLarge ? [deed('to_board', approver), deed('board_approve', 'lin')] : [deed('approve', approver)];
  // The reviewer tries to approve, but the amount requires the board.
  const waiting = isLarge
    ? [{ ...deed('approve', approver), does: 'try' as const, transition: 'approve' }, deed('to_board', approver)]
    : [];
  const { signDate } = surroundings;
  const steps: readonly (readonly [Life['stage'], readonly DemoAct[]])[] = [
    ['draft', []],
    ['review', [deed('submit', hands.owner), ...(life.stage === 'review' ? waiting : [])]],
    ['approved', decided],
    ['signed', [{ ...deed('sign', 'hoffmann'), ...(signDate === null ? {} : { on: signDate }) }]],
    ['active', [deed('start_delivery', hands.owner)]],
  ];
  const acts = steps.slice(0, steps.findIndex(([stage]) => stage === life.stage) + 1).flatMap(([, done]) => done);
  const isDelivered =
    life.stage === 'active' &&
    ageMonths(life) >= DELIVERED_AFTER_MONTHS &&
    surroundings.tasks.every(({ states }) => ['completed', 'accepted', 'canceled'].includes(states.at(-1) ?? ''));
  const reached: TurnkeyStage =
    life.stage === 'active'
      ? isDelivered
        ? 'warranty'
        : 'delivery'
      : life.stage === 'review'
        ? isLarge
          ? 'board'
          : 'feasibility'
        : life.stage === 'approved' || life.stage === 'signed'
          ? life.stage
          : 'draft';
  return {
    from: 'draft',
    fromCode: 'draft',
    acts,
    finish: isDelivered ? [deed('hand_over', approver)] : [],
    to: reached,
  };
}

/** Far enough in the past that every task is due on any day of the run. */
const DELIVERED_AFTER_MONTHS = 4;

const takenOver = (from: Journey['from'], code: TurnkeyStage): Journey => ({
  from,
  fromCode: code,
  acts: [],
  finish: [],
  to: code,
});

/** The task that the transition to delivery creates, and its present state. */
export function factoryTest({ acts, finish }: Journey, hands: Hands): DemoTask[] {
  if (!acts.some((act) => act.does === 'move' && act.transition === 'start_delivery')) return [];
  const { code, title, kind } = FACTORY_TEST;
  return [
    {
      input: { code, title, kind },
      owner: hands.owner,
      acceptor: approverOf(hands),
      states: finish.length > 0 ? ['pending', 'in_progress', 'completed', 'accepted'] : ['pending', 'in_progress'],
    },
  ];
}

const NOTES = {
  submit: ['技术方案与报价已确认，请评审。', '现场勘察完成，可行性报告见备注。'],
  approve: ['技术可行，同意。', '方案合理，同意推进。'],
  to_board: ['金额超出授权，报董事会。', '技术可行，金额较大，请董事会审批。'],
  board_approve: ['董事会通过。', '同意，注意回款节点。'],
  sign: ['双方已用印，原件归档。', '客户已回签。'],
  start_delivery: ['预付款到账，启动交付。', '交付团队已进场。'],
  hand_over: ['验收完成，进入质保期。', '已移交客户，资料齐全。'],
  close: ['货款结清，项目关闭。', '质保事项无遗留，关闭。'],
  archive: ['资料齐全，归档。', '原件已移交档案室。'],
} as const;
