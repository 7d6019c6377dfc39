import { LockInput, TransitionInput, WorkflowEvents } from '../../data-plane-agent/plane/contract/records/workflow.js';
import { edit, view } from '../access/permissions.js';
import { judgeMove } from '../data-planes/judged-bodies.js';
import { endpoint } from '../http/endpoint.js';
import { tagged } from '../http/reply.js';
import { NamedContractDetail, withNames } from './named.js';

const transitionContract = endpoint('POST /contracts/:id/workflow/transition', {
  summary: 'Move a contract to another stage',
  description:
    "By `transitionCode`, or to `toStageCode`. The caller's role must hold the transition's `requiredControl` at the present stage, and be one of the contract's `workflowAllowedRoles` and of the next stage's `allowedRoleCodes` where those are not empty. " +
    '`toStageCode` is no way around: of the enabled transitions that lead there the first applies that is open to the caller, and where none leads there it needs at the present stage the strongest control that lies on the way: `edit` to enter draft, extracted, review or active, ' +
    "`approve` for approved or completed, `sign` for signed, `admin` for archived, of each stage that it enters or skips; and backwards `approve` to undo a review or an approval, `sign` to undo a signature or what came after it, `admin` to undo a completion or an archiving. Then it has no effects but the stage's own. Out of a terminal stage every move needs `admin`. The stage that the contract is in already answers 200 and changes nothing. " +
    'Conditions of the transition and completion rules of the stage that is left must hold: all that do not are named (`TRANSITION_CONDITION_FAILED`). A disabled transition, or one that does not lead from here, is `INVALID_TRANSITION` with the codes that do. ' +
    'Entering a stage locks the contract or unlocks it, as the stage says. Refusals by control, role, condition or a disabled transition stay on the trail as `transition_denied`, of one member fifty in a day. ' +
    'Warnings: `OPEN_BALANCE` and `OPEN_TASKS` when a contract is completed, `EXTRACTION_UNREVIEWED` when fields that were read with low confidence are submitted unseen, `NOTE_RECOMMENDED` when it is returned from review to draft without a note, `TASK_EXISTS` and `TASK_LIMIT_REACHED` when the task of an effect was not made.',
  needs: edit('contract_edit'),
  feature: 'workflowAutomation',
  body: TransitionInput,
  judge: judgeMove,
  needsBody: true,
  returns: NamedContractDetail,
  calls: ['transitionContract'],
  fails: [],
  run: async ({ params, body, plane, principal, services }) => {
    const contract = await plane.transitionContract({ contractId: params.id, ...body });
    return tagged(withNames(contract, await services.directory.of(principal.tenant.id)));
  },
});

const lockContract = endpoint('POST /contracts/:id/workflow/lock', {
  summary: "Lock or unlock a contract's core fields",
  description:
    'Until the contract is moved to another stage. Without `locked` it is locked. Unlocking needs, beside `admin (edit)`, the workflow control `approve` at the present stage. What changes nothing answers 200 and leaves no event.',
  needs: edit('admin'),
  feature: 'workflowAutomation',
  body: LockInput,
  returns: NamedContractDetail,
  calls: ['lockContract'],
  fails: [],
  run: async ({ params, body, plane, principal, services }) => {
    const contract = await plane.lockContract({ contractId: params.id, ...body });
    return tagged(withNames(contract, await services.directory.of(principal.tenant.id)));
  },
});

const listWorkflowEvents = endpoint('GET /contracts/:id/workflow/events', {
  summary: "Read a contract's workflow trail",
  description:
    'All stage and lock changes and refused moves, newest first; of a contract with more than 5 000 the latest 5 000. Events never change. `source` is `import` for a contract that was imported.',
  needs: view('contract_view'),
  returns: WorkflowEvents,
  calls: ['listWorkflowEvents'],
  fails: [],
  run: ({ params, plane }) => plane.listWorkflowEvents({ contractId: params.id }),
});

export const workflowEndpoints = { transitionContract, lockContract, listWorkflowEvents };
