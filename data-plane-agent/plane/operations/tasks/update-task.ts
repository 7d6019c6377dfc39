import { fail } from '../../../base/failures.js';
import { s } from '../../../base/schema.js';
import { TaskPatch, TaskResult } from '../../contract/records/tasks.js';
import { isSameTask, patchedTask, taskAnswer } from '../../domain/tasks/tasks.js';
import { checkVersion } from '../../domain/contracts/checks.js';
import { checkAttachment } from '../../steps/files/check-attachment.js';
import { operation } from '../../steps/operation-context.js';
import { checkControl, checkOwnerForm } from '../../domain/tasks/task-checks.js';
import { holdTasks, refuseTakenCode, writeTaskState } from '../../steps/tasks/hold-tasks.js';

/** Updates a fulfillment task and its status. A request without effect writes nothing. */
export const updateTask = operation({
  effect: 'write',
  input: s.object({ contractId: s.id(), taskId: s.id(), changes: TaskPatch }),
  output: TaskResult,
  fails: [
    'VERSION_MISMATCH',
    'REFERENCE_INVALID',
    'FILE_REFERENCE_INVALID',
    'INVALID_TRANSITION',
    'WORKFLOW_CONTROL_REQUIRED',
    'DUPLICATE_CODE',
  ],
  async run(operationContext, call, { contractId, taskId, changes }) {
    const { store } = operationContext;
    const held = await holdTasks(operationContext, call, contractId);
    const before = held.tasks.find(({ id }) => id === taskId);
    if (!before) throw fail('NOT_FOUND', {});
    checkVersion(held.contract, call);
    const task = patchedTask(before, changes, held.context);
    checkControl(before, task, { contract: held.contract, controls: call.controls });
    refuseTakenCode(held.tasks, task);
    if (task.ownerId !== before.ownerId) checkOwnerForm(task);
    if (task.attachment !== before.attachment) await checkAttachment(store, task.attachment);
    if (isSameTask(before, task)) return { ...taskAnswer(before, call), contractVersion: held.contract.version };
    await store.tasks.update(before, task);
    const contract = await writeTaskState(operationContext, {
      ...held,
      tasks: held.tasks.map((other) => (other.id === before.id ? task : other)),
    });
    return { ...taskAnswer(task, call), contractVersion: contract.version };
  },
});
