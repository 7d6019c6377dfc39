import { TaskInput, TaskPatch, TaskResult } from '../../data-plane-agent/plane/contract/records/tasks.js';
import { edit } from '../access/permissions.js';
import { endpoint } from '../http/endpoint.js';
import { checkReferences } from './named.js';

const addFulfillmentTask = endpoint('POST /contracts/:id/fulfillment-tasks', {
  summary: 'Add a fulfillment task to a contract',
  description:
    "The task may have any of the seven states, with the timestamps of that state; the contract may be locked. A contract has at most 500 tasks. Increments the contract's version, which `If-Match` refers to.",
  needs: edit('contract_edit'),
  body: TaskInput,
  status: 201,
  returns: TaskResult,
  calls: ['getContract', 'addTask'],
  fails: [],
  run: async ({ params, body, plane, principal, services }) => {
    await checkReferences({ ownerId: body.ownerId }, { principal, services }, async () => {
      await plane.getContract({ contractId: params.id }); // a missing contract is reported first
      return {};
    });
    return plane.addTask({ contractId: params.id, ...body });
  },
});

const updateFulfillmentTask = endpoint('PATCH /contracts/:id/fulfillment-tasks/:taskId', {
  summary: 'Update a fulfillment task',
  description:
    "State changes: pending to in_progress, completed, blocked, canceled, overdue; in_progress to pending, completed, blocked, canceled, overdue; blocked to pending, in_progress, canceled, overdue; overdue to in_progress, completed, blocked, canceled, pending; completed to accepted or, for rework, in_progress; accepted to in_progress only with the workflow control `admin` at the contract's stage; canceled to pending. " +
    'Setting the present state changes nothing; any other change is `INVALID_TRANSITION`. Changing the due date of an overdue task to a date that is not past, or removing it, resets the task: to in_progress if it had been started, otherwise to pending. ' +
    "The timestamps describe the present state: a task that is pending again has no start, one that is reworked no completion. `null` for the status means pending, and `metadata` is replaced as a whole. `If-Match` refers to the contract's version.",
  needs: edit('contract_edit'),
  body: TaskPatch,
  returns: TaskResult,
  calls: ['getContract', 'updateTask'],
  fails: [],
  run: async ({ params, body, plane, principal, services }) => {
    // An owner who is no longer active stays the owner until another one is set.
    await checkReferences({ ownerId: body.ownerId }, { principal, services }, async () => {
      const { fulfillmentTasks } = await plane.getContract({ contractId: params.id });
      return { ownerId: fulfillmentTasks.find(({ id }) => id === params.taskId)?.ownerId };
    });
    return plane.updateTask({ contractId: params.id, taskId: params.taskId, changes: body });
  },
});

export const taskEndpoints = { addFulfillmentTask, updateFulfillmentTask };
