import { s } from '../../../base/schema.js';
import { fallenDue } from '../../domain/tasks/tasks.js';
import { operation } from '../../steps/operation-context.js';
import { holdTasks, writeTaskState } from '../../steps/tasks/hold-tasks.js';

/**
 * Marks what is pending or in progress and was due before today as overdue, contract by contract: at most `limit`
 * contracts in one call, and `isMore` says whether to call again. Done again on the same day it finds nothing. It holds
 * each contract as a change of a task does, and looks at its tasks only then, so that neither undoes the other.
 */
export const stepOverdueTasks = operation({
  effect: 'write',
  input: s.object({ limit: s.integer({ min: 1, max: 500 }) }),
  output: s.object({ contracts: s.integer(), tasks: s.integer(), isMore: s.flag() }),
  fails: [],
  async run(operationContext, call, { limit }) {
    const { store } = operationContext;
    const found = await store.tasks.contractsFallenDue(call.today, limit + 1);
    let contracts = 0;
    let tasks = 0;
    // In the order of their ids, so that two steps at once wait for each other instead of locking crosswise.
    for (const contractId of found.slice(0, limit).toSorted()) {
      const held = await holdTasks(operationContext, call, contractId);
      const moved = held.tasks.map((task) => fallenDue(task, held.context) ?? task);
      const changed = held.tasks.flatMap((before, i) =>
        moved[i] && moved[i] !== before ? [{ before, after: moved[i] }] : [],
      );
      if (changed.length === 0) continue; // somebody was faster
      for (const { before, after } of changed) await store.tasks.update(before, after);
      await writeTaskState(operationContext, { ...held, tasks: moved });
      contracts += 1;
      tasks += changed.length;
    }
    return { contracts, tasks, isMore: found.length > limit };
  },
});
