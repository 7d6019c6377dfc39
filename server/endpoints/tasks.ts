import { TaskInput, TaskPatch, TaskResult } from '../../data-plane-agent/plane/contract/records/tasks.js';
import { edit } from '../access/permissions.js';
import { endpoint } from '../http/endpoint.js';
import { checkReferences } from './named.js';

const addTask = endpoint('POST /contracts/:id/fulfillment-tasks', {
  summary: 'Add a fulfillment task to a contract',
  description:
    "In any of the seven states, with the stamps of that state, and to a locked contract too; a contract has at most 500. Moves the contract's version, and honours `If-Match` with it.",
  needs: edit('contract_edit'),
  body: TaskInput,
  status: 201,
  returns: TaskResult,
  calls: ['getContract', 'addTask'],
  fails: [],
  run: async ({ params, body, plane, principal, services }) => {
    await checkReferences({ ownerId: body.ownerId }, { principal, services }, async () => {
      await plane.getContract({ contractId: params.id }); // that there is no such contract is said first
      return {};
    });
    return plane.addTask({ contractId: params.id, ...body });
  },
});

const updateTask = endpoint('PATCH /contracts/:id/fulfillment-tasks/:taskId', {
  summary: 'Change a fulfillment task',
  description:
    "States: pending to in_progress, completed, blocked, canceled, overdue; in_progress to pending, completed, blocked, canceled, overdue; blocked to pending, in_progress, canceled, overdue; overdue to in_progress, completed, blocked, canceled, pending; completed to accepted or, for rework, in_progress; accepted to in_progress only with the workflow control `admin` at the contract's stage; canceled to pending. " +
    'The same again changes nothing, all else is `INVALID_TRANSITION`. Another due date that is not past, or none, brings an overdue task back: to in_progress once it had begun, else to pending. ' +
    "The stamps tell of the present state: a task that is pending again has not begun, one that is reworked is not completed. `null` for the status asks for pending, and `metadata` replaces what was there. `If-Match` takes the contract's version.",
  needs: edit('contract_edit'),
  body: TaskPatch,
  returns: TaskResult,
  calls: ['getContract', 'updateTask'],
  fails: [],
  run: async ({ params, body, plane, principal, services }) => {
    // Who has left since stays the owner until somebody names another one.
    await checkReferences({ ownerId: body.ownerId }, { principal, services }, async () => {
      const { fulfillmentTasks } = await plane.getContract({ contractId: params.id });
      return { ownerId: fulfillmentTasks.find(({ id }) => id === params.taskId)?.ownerId };
    });
    return plane.updateTask({ contractId: params.id, taskId: params.taskId, changes: body });
  },
});

export const taskEndpoints = { addTask, updateTask };
