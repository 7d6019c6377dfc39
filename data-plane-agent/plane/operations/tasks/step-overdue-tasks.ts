import { s } from '../../../base/schema.js';
import { fallenDue } from '../../domain/tasks/tasks.js';
import { operation } from '../../steps/operation-context.js';
import { holdTasks, writeTaskState } from '../../steps/tasks/hold-tasks.js';

/**
 * Marks pending and in-progress tasks that were due before today as overdue, for at most `limit` contracts per call;
 * `isMore` asks for another call. Repeating it on the same day has no effect. Each contract is locked before its tasks
 * are read, so that concurrent changes are not overwritten.
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
    // In the order of their ids, so that concurrent calls do not deadlock.
    for (const contractId of found.slice(0, limit).toSorted()) {
      const held = await holdTasks(operationContext, call, contractId);
      const moved = held.tasks.map((task) => fallenDue(task, held.context) ?? task);
      const changed = held.tasks.flatMap((before, i) =>
        moved[i] && moved[i] !== before ? [{ before, after: moved[i] }] : [],
      );
      if (changed.length === 0) continue; // changed concurrently
      for (const { before, after } of changed) await store.tasks.update(before, after);
      await writeTaskState(operationContext, { ...held, tasks: moved });
      contracts += 1;
      tasks += changed.length;
    }
    return { contracts, tasks, isMore: found.length > limit };
  },
});
