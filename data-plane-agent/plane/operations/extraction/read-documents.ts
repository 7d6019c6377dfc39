import { s } from '../../../base/schema.js';
import { multiStepOperation } from '../../steps/operation-context.js';
import { READING_LEASE_MS, readDocument } from '../../steps/extraction/read-document.js';

/** Runs per call, so that tenants alternate. */
const AT_ONCE = 5;

/** Retries readings of documents that were lost in a crash or postponed. */
export const readDocuments = multiStepOperation({
  effect: 'write',
  input: s.object({}),
  output: s.object({ read: s.integer(), more: s.flag() }),
  fails: [],
  async perform(work, call) {
    const { clock, read, upkeep, signal } = work;
    const due = await read(({ store }) => store.extractions.toRead(clock.now(), AT_ONCE));
    for (const run of due) {
      if (signal.aborted) return { read: due.indexOf(run), more: true };
      if (await upkeep(({ store }) => store.extractions.claimReading(run, clock.now() + READING_LEASE_MS)))
        await readDocument(work, call, run.id);
    }
    return { read: due.length, more: due.length === AT_ONCE };
  },
});
