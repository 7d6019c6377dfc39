import { fail, isFailure, type Failure } from '../../../base/failures.js';
import { s } from '../../../base/schema.js';
import { ContractDetail } from '../../contract/records/contracts.js';
import { TransitionInput } from '../../contract/records/workflow.js';
import { checkVersion } from '../../domain/contracts/checks.js';
import { detailOf } from '../../steps/contracts/detail.js';
import { operation } from '../../steps/operation-context.js';
import { moveContract } from '../../steps/workflow/move.js';

/** Moves a contract to another stage. A denied transition is recorded in its workflow events. */
export const transitionContract = operation({
  effect: 'write',
  input: s.object({ contractId: s.id(), ...TransitionInput.properties }),
  output: ContractDetail,
  fails: [
    'VERSION_MISMATCH',
    'INVALID_TRANSITION',
    'TRANSITION_CONDITION_FAILED',
    'WORKFLOW_CONTROL_REQUIRED',
    'REFERENCE_INVALID',
  ],
  async run(context, call, { contractId, ...request }) {
    // Locked before the contract, in the same order as a stage rename does.
    await context.store.lifecycle.hold();
    const found = await context.store.contracts.find(contractId, { forUpdate: true });
    if (!found) throw fail('NOT_FOUND', {});
    checkVersion(found, call);
    const { row, warnings } = await moveContract(context, call, { row: found, request });
    return detailOf(context, call, { row, known: {}, warnings });
  },
  async afterRefusal({ store, clock }, _call, { input: { contractId, transitionCode, toStageCode, note }, failure }) {
    const row = await store.contracts.find(contractId);
    if (!row) return;
    const transitions = await store.lifecycle.transitions(row.lifecycleTemplateId);
    const named = transitions.find(({ code }) => code === transitionCode);
    if (!isDenial(failure, named?.enabled === false && named.fromStageCode === row.stageCode)) return;
    // The limit keeps denials from displacing other events in the list, which shows only the latest.
    if ((await store.workflowEvents.denialsSince(row.id, clock.now() - DAY_MS)) >= MAX_DENIALS_PER_DAY) return;
    await store.workflowEvents.record({
      contractId: row.id,
      kind: 'transition_denied',
      fromStageCode: row.stageCode,
      toStageCode: named?.toStageCode ?? toStageCode ?? null,
      transitionCode: named?.code ?? null,
      locked: row.locked,
      note: note ?? null,
    });
  },
});

const DAY_MS = 24 * 3_600_000;
/** Per member and contract. */
const MAX_DENIALS_PER_DAY = 50;

/**
 * Whether an existing transition from the current stage was denied. A contract that has moved on since is no denial.
 */
const isDenial = (failure: Failure, isDisabled: boolean): boolean =>
  isFailure(failure, 'WORKFLOW_CONTROL_REQUIRED') ||
  isFailure(failure, 'TRANSITION_CONDITION_FAILED') ||
  (isFailure(failure, 'INVALID_TRANSITION') && isDisabled);
