import { LockInput, TransitionInput, WorkflowEvents } from '../../data-plane-agent/plane/contract/records/workflow.js';
import { edit, view } from '../access/permissions.js';
import { moveIssues } from '../data-planes/body-issues.js';
import { endpoint } from '../http/endpoint.js';
import { changed, NamedContractDetail } from './named.js';

const transitionContract = endpoint('POST /contracts/:id/workflow/transition', {
  summary: 'Move a contract to another stage',
  description:
    "Moves by `transitionCode`, or to `toStageCode`. The caller's role must hold the transition's `requiredControl` at the present stage, and be listed in the contract's `workflowAllowedRoles` and the next stage's `allowedRoleCodes` unless those are empty. " +
    '`toStageCode` does not bypass these rules: the first enabled transition to that stage that is allowed to the caller is used. If no transition leads there, the caller needs, at the present stage, the strongest control required by any stage that the move enters or skips: `edit` to enter draft, extracted, review or active, ' +
    '`approve` for approved or completed, `sign` for signed, `admin` for archived; and backwards `approve` to undo a review or an approval, `sign` to undo a signature or a later stage, `admin` to undo a completion or an archiving. Such a move has only the effects of the stage itself. Every move out of a terminal stage needs `admin`. A move to the present stage returns 200 and changes nothing. ' +
    'Conditions of the transition and completion rules of the present stage must hold: all that fail are listed (`TRANSITION_CONDITION_FAILED`). A disabled transition, or one that does not start at the present stage, is `INVALID_TRANSITION` with the codes of those that do. ' +
    'Entering a stage locks or unlocks the contract as configured for the stage. Refusals by control, role, condition or a disabled transition are recorded in the trail as `transition_denied`, at most fifty per member and day. ' +
    'Warnings: `OPEN_BALANCE` and `OPEN_TASKS` when a contract is completed, `EXTRACTION_UNREVIEWED` when fields that were extracted with low confidence are submitted without review, `NOTE_RECOMMENDED` when it is returned from review to draft without a note, `TASK_EXISTS` and `TASK_LIMIT_REACHED` when the task of an effect was not created.',
  needs: edit('contract_edit'),
  feature: 'workflowAutomation',
  body: TransitionInput,
  furtherIssues: moveIssues,
  returns: NamedContractDetail,
  calls: ['transitionContract'],
  fails: [],
  run: async ({ params, body, plane, principal, services }) => {
    const contract = await plane.transitionContract({ contractId: params.id, ...body });
    return changed(contract, { principal, services });
  },
});

const setContractLock = endpoint('POST /contracts/:id/workflow/lock', {
  summary: "Lock or unlock a contract's core fields",
  description:
    'Applies until the contract is moved to another stage. `locked` defaults to true. Unlocking also needs the workflow control `approve` at the present stage. A request that changes nothing returns 200 and records no event.',
  needs: edit('admin'),
  feature: 'workflowAutomation',
  body: LockInput,
  returns: NamedContractDetail,
  calls: ['lockContract'],
  fails: [],
  run: async ({ params, body, plane, principal, services }) => {
    const contract = await plane.lockContract({ contractId: params.id, ...body });
    return changed(contract, { principal, services });
  },
});

const listWorkflowEvents = endpoint('GET /contracts/:id/workflow/events', {
  summary: "List a contract's workflow events",
  description:
    'Lists all stage changes, lock changes and refused moves, newest first, up to the latest 5 000. Events never change. `source` is `import` for a contract that was imported.',
  needs: view('contract_view'),
  returns: WorkflowEvents,
  calls: ['listWorkflowEvents'],
  fails: [],
  run: ({ params, plane }) => plane.listWorkflowEvents({ contractId: params.id }),
});

export const workflowEndpoints = { transitionContract, setContractLock, listWorkflowEvents };
