import { setTimeout as sleep } from 'node:timers/promises';
import { fail } from '../../../base/failures.js';
import { s } from '../../../base/schema.js';
import { hash, moveId } from '../../contract/records/moving.js';
import { inMove, sameTables } from '../../steps/moving/the-move.js';
import { multiStepOperation, type MultiStepContext, type OperationContext } from '../../steps/operation-context.js';

/** How long one call waits for the transactions that had begun before. */
const WAIT_MS = 5_000;
const POLL_MS = 20;

/**
 * Begins a move from this data plane: changes are refused from now on, reading continues. Repeated until it is `ready`:
 * until transactions, deliveries and imports that had begun before have ended, and all events of the audit are chained.
 */
export const beginMovingOut = multiStepOperation({
  effect: 'write',
  isUpkeep: true,
  whileMoving: 'always',
  input: s.object({ moveId: moveId(), tables: hash() }),
  output: s.object({
    ready: s.flag(),
    leasedMessages: s.integer(),
    unchained: s.integer(),
    /** Missing in the answer of an agent of an earlier version, whose imports are one transaction. */
    runningImports: s.omittable(s.integer()),
  }),
  fails: ['DATA_MOVE_REFUSED'],
  async perform(work, _call, { moveId: id, tables }) {
    sameTables(tables);
    const state = await work.upkeep((context) => drain(context, id));
    if (state !== 'draining') return { ready: true, leasedMessages: 0, unchained: 0, runningImports: 0 };
    const hasEnded = await othersHaveEnded(work);
    return work.upkeep(async ({ store }) => {
      await inMove(store, id, 'draining');
      const leasedMessages = await store.dataMoves.leasedMessages();
      const { waiting: unchained } = await store.auditTrail.headNow();
      const runningImports = await store.runningImports.entering();
      const ready = hasEnded && leasedMessages === 0 && unchained === 0 && runningImports === 0;
      if (ready) {
        await store.movedRows.completeFigures();
        await store.dataMoves.set({ moveId: id, state: 'frozen' });
      }
      return { ready, leasedMessages, unchained, runningImports };
    });
  },
});

async function drain({ store }: OperationContext, moveId: string): Promise<string> {
  const before = await store.dataMoves.find();
  if (before?.moveId === moveId) return inMove(store, moveId, 'draining', 'frozen', 'moved');
  if (before && before.state !== 'arrived') throw fail('DATA_MOVE_REFUSED', { reason: 'other_move' });
  await store.dataMoves.set({ moveId, state: 'draining' });
  return 'draining';
}

/** Whether the transactions that ran after the state was committed, and may have begun before, have ended. */
async function othersHaveEnded({ read, signal }: MultiStepContext): Promise<boolean> {
  const running = (): Promise<string[]> => read(({ store }) => store.dataMoves.running());
  let left = new Set(await running());
  for (const giveUpAt = performance.now() + WAIT_MS; left.size > 0; await sleep(POLL_MS, undefined, { signal })) {
    const now = new Set(await running());
    left = new Set([...left].filter((name) => now.has(name)));
    if (performance.now() > giveUpAt) break;
  }
  return left.size === 0;
}
