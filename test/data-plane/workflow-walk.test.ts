import { expect } from 'chai';
import fc from 'fast-check';
import type { Call } from '../../data-plane-agent/plane/contract/call.js';
import {
  CONTROLS,
  WORKFLOW_STAGES,
  type Control,
  type WorkflowStage,
} from '../../data-plane-agent/plane/contract/vocabulary.js';
import { refusal } from '../support/lifecycle.js';
import { forEachPlane } from '../support/plane.js';
import { aContract } from '../support/samples.js';

/** The shipped flow, repeated here independently, and what a move without a transition needs. */
const ARROWS: Readonly<Record<string, readonly [from: WorkflowStage, to: WorkflowStage, control: Control]>> = {
  mark_extracted: ['draft', 'extracted', 'edit'],
  submit_review: ['draft', 'review', 'edit'],
  submit_extracted: ['extracted', 'review', 'edit'],
  return_to_draft: ['review', 'draft', 'approve'],
  approve: ['review', 'approved', 'approve'],
  revise: ['approved', 'review', 'approve'],
  sign: ['approved', 'signed', 'sign'],
  activate: ['signed', 'active', 'edit'],
  complete: ['active', 'completed', 'approve'],
  reopen: ['completed', 'active', 'admin'],
  archive: ['completed', 'archived', 'approve'],
  terminate: ['active', 'archived', 'admin'],
  restore: ['archived', 'completed', 'admin'],
};
/** Moves from the row's stage directly to the column's, in the order of the stages; the table above has the others. */
const BESIDE: Readonly<Record<WorkflowStage, string>> = {
  draft: '- - - approve sign sign sign admin',
  extracted: 'edit - - approve sign sign sign admin',
  review: '- approve - - sign sign sign admin',
  approved: 'approve approve - - - sign sign admin',
  signed: 'sign sign sign sign - - approve admin',
  active: 'sign sign sign sign sign - - -',
  completed: 'admin admin admin admin admin - - -',
  archived: 'admin admin admin admin admin admin - -',
};
const direct = (from: WorkflowStage, to: WorkflowStage) =>
  BESIDE[from].split(' ')[WORKFLOW_STAGES.indexOf(to)] as Control;
const LOCKING = new Set<WorkflowStage>(['approved', 'signed', 'active', 'completed', 'archived']);
const MAX_STEPS = 25;

type Step =
  { readonly transitionCode: string } | { readonly toStageCode: WorkflowStage } | { readonly locked: boolean };
const steps = fc.array(
  fc.record({
    step: fc.oneof(
      fc.record({ transitionCode: fc.constantFrom(...Object.keys(ARROWS)) }),
      fc.record({ toStageCode: fc.constantFrom(...WORKFLOW_STAGES) }),
      fc.record({ locked: fc.boolean() }),
    ) as fc.Arbitrary<Step>,
    control: fc.constantFrom(...CONTROLS),
  }),
  { minLength: 5, maxLength: MAX_STEPS },
);

interface State {
  readonly stage: WorkflowStage;
  readonly locked: boolean;
}
const reaches = (actual: Control, needed: Control) => CONTROLS.indexOf(actual) >= CONTROLS.indexOf(needed);

/** The outcome of a step by the table: the next state, or the refusal. */
function expected({ stage, locked }: State, step: Step, control: Control): State | string {
  if ('locked' in step)
    return step.locked || !locked || reaches(control, 'approve')
      ? { stage, locked: step.locked }
      : 'WORKFLOW_CONTROL_REQUIRED';
  if ('transitionCode' in step) {
    const [from, to, needed] = ARROWS[step.transitionCode] ?? [];
    if (from !== stage || !to || !needed) return 'INVALID_TRANSITION';
    return reaches(control, needed) ? { stage: to, locked: LOCKING.has(to) } : 'WORKFLOW_CONTROL_REQUIRED';
  }
  const to = step.toStageCode;
  if (to === stage) return { stage, locked };
  const arrow = Object.values(ARROWS).find(([from, target]) => from === stage && target === to);
  const needed = arrow ? arrow[2] : direct(stage, to);
  return reaches(control, needed) ? { stage: to, locked: LOCKING.has(to) } : 'WORKFLOW_CONTROL_REQUIRED';
}

describe('any sequence of moves', () => {
  forEachPlane((name, makePlane) => {
    it('follows the table, and its trail leads from the first stage to the last', async () => {
      await fc.assert(
        fc.asyncProperty(steps, async (walk) => {
          const test = makePlane();
          const { id } = await test.plane.createContract(aContract());
          let state: State = { stage: 'draft', locked: false };
          for (const { step, control } of walk) {
            const plane = test.as({
              controls: Object.fromEntries(WORKFLOW_STAGES.map((stage) => [stage, control])) satisfies Call['controls'],
            });
            const outcome = await refusal(
              'locked' in step
                ? plane.lockContract({ contractId: id, ...step })
                : plane.transitionContract({ contractId: id, ...step }),
            );
            const next = expected(state, step, control);
            expect(
              outcome === 'carried out' ? outcome : outcome.code,
              `${state.stage} ${JSON.stringify(step)} ${control}`,
            ).to.equal(typeof next === 'string' ? next : 'carried out');
            if (typeof next !== 'string') state = next;
            const { lifecycleStageCode, locked, workflow } = await test.plane.getContract({ contractId: id });
            expect({ stage: lifecycleStageCode, locked, workflow }).to.deep.equal({ ...state, workflow: state.stage });
          }
          const trail = (await test.plane.listWorkflowEvents({ contractId: id }))
            .toReversed()
            .filter(({ kind }) => kind !== 'transition_denied');
          expect(trail.slice(1).every(({ fromStageCode }, i) => fromStageCode === trail[i]?.toStageCode)).to.equal(
            true,
          );
          expect(trail.at(-1)).to.include({ toStageCode: state.stage, locked: state.locked });
        }),
        { numRuns: name === 'sqlite' ? 40 : 12 },
      );
    }).timeout(20_000);
  });
});
