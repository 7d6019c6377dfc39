import { s } from '../../../base/schema.js';
import { finishInterrupted, MAX_ATTEMPTS } from '../../steps/imports/finish-interrupted.js';
import { stepwiseOperation } from '../../steps/operation-context.js';

/**
 * Finishes an import whose process died, or that was stopped by its deadline or by an error, in the name of its call.
 * Removes one of which nothing was entered. Imports that somebody works on are left to them.
 */
export const continueImports = stepwiseOperation({
  effect: 'write',
  isUpkeep: true,
  queued: true,
  whileMoving: 'settling',
  input: s.object({}),
  /** `abandoned`: rows that were reported as failed, since every attempt to enter them has ended in an error. */
  output: s.object({ more: s.flag(), abandoned: s.integer() }),
  fails: [],
  isLong: () => true,
  async perform(steps, call) {
    const holder = steps.newId();
    const found = await steps.upkeep(async ({ store: { runningImports } }) => {
      const running = await runningImports.interrupted();
      if (running?.state === 'staging') await runningImports.discard(running);
      return (
        running && { running, isTaken: running.state === 'entering' && (await runningImports.take(running, holder)) }
      );
    });
    if (!found?.isTaken) return { more: found !== undefined, abandoned: 0 };
    const running = { ...found.running, holder };
    const report = await finishInterrupted(steps, call, running);
    return { more: true, abandoned: running.attempts >= MAX_ATTEMPTS ? report.failed : 0 };
  },
});
