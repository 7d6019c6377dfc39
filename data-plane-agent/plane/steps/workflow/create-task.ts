import { warn } from '../../../base/warnings.js';
import { addDays } from '../../../base/day.js';
import type { Call } from '../../contract/call.js';
import type { Warning } from '../../contract/records/common.js';
import type { Effects } from '../../contract/records/conditions.js';
import { MAX_TASKS } from '../../contract/records/tasks.js';
import { newTask, taskState } from '../../domain/tasks/tasks.js';
import type { ContractRow } from '../../tables/contracts.js';
import type { OperationContext } from '../operation-context.js';

/**
 * Writes the task that a transition creates. The returned contract row counts it and is still to be written. An
 * existing task with the code is kept with a warning, since a contract may go through a transition repeatedly.
 */
export async function createTaskOf(
  { store, clock, newId }: OperationContext,
  call: Call,
  {
    row,
    task: { code, title, kind, dueInDays, ownerId },
  }: { readonly row: ContractRow; readonly task: NonNullable<Effects['createTask']> },
): Promise<{ readonly row: ContractRow; readonly warnings: readonly Warning[] }> {
  const present = await store.tasks.ofContract(row.id);
  const dueDate = dueInDays === null || dueInDays === undefined ? null : addDays(call.today, dueInDays);
  const task = newTask(
    { code, title, kind: kind ?? null, dueDate, ownerId: ownerId ?? row.ownerId },
    { id: newId(), contractId: row.id },
    { today: call.today, now: clock.now(), actorId: call.actor.id },
  );
  if (present.some(({ codeKey }) => codeKey === task.codeKey))
    return {
      row,
      warnings: [
        warn('TASK_EXISTS', { message: `The contract already has a fulfillment task ${code}; none was added.` }),
      ],
    };
  if (present.length >= MAX_TASKS)
    return {
      row,
      warnings: [
        warn('TASK_LIMIT_REACHED', {
          message: `The contract has ${MAX_TASKS} fulfillment tasks, which is the maximum; none was added.`,
        }),
      ],
    };
  await store.tasks.insert(task);
  return { row: { ...row, ...taskState([...present, task]) }, warnings: [] };
}
