import { fail } from '../../../base/failures.js';
import { s } from '../../../base/schema.js';
import { MAX_TASKS, TaskInput, TaskResult } from '../../contract/records/tasks.js';
import { newTask, taskAnswer } from '../../domain/tasks/tasks.js';
import { checkVersion } from '../../domain/contracts/checks.js';
import { checkAttachment } from '../../steps/files/check-attachment.js';
import { operation } from '../../steps/operation-context.js';
import { checkOwnerForm } from '../../domain/tasks/task-checks.js';
import { holdTasks, refuseTakenCode, writeTaskState } from '../../steps/tasks/hold-tasks.js';

/** Adds a fulfillment task in any status, also to a locked contract. */
export const addTask = operation({
  effect: 'write',
  input: s.object({ contractId: s.id(), ...TaskInput.properties }),
  output: TaskResult,
  fails: ['VERSION_MISMATCH', 'REFERENCE_INVALID', 'FILE_REFERENCE_INVALID', 'DUPLICATE_CODE', 'LIMIT_REACHED'],
  async run(operationContext, call, { contractId, ...input }) {
    const { store, newId } = operationContext;
    const held = await holdTasks(operationContext, call, contractId);
    checkVersion(held.contract, call);
    const task = newTask(input, { id: newId(), contractId: held.contract.id }, held.context);
    refuseTakenCode(held.tasks, task);
    if (held.tasks.length >= MAX_TASKS) throw fail('LIMIT_REACHED', { limit: MAX_TASKS });
    checkOwnerForm(task);
    await checkAttachment(store, task.attachment);
    await store.tasks.insert(task);
    const contract = await writeTaskState(operationContext, { ...held, tasks: [...held.tasks, task] });
    return { ...taskAnswer(task, call), contractVersion: contract.version };
  },
});
