import { derivedId } from '../../../base/ids.js';
import { s } from '../../../base/schema.js';
import type { Call } from '../../contract/call.js';
import { BulkReminderInput } from '../../contract/records/manual-reminders.js';
import { COLLECTED } from '../../domain/collections/tabs.js';
import { requireSubjectInScope } from '../../domain/subject-in-scope.js';
import { addManualReminders } from '../../steps/collections/manual-reminders.js';
import { multiStepOperation, type MultiStepContext } from '../../steps/operation-context.js';
import type { LinePlace } from '../../store/line-states.js';

/**
 * Queues a reminder by hand of every line of a tab, page by page, each page in a transaction of its own. A call that was
 * interrupted goes on when it is repeated with the same idempotency key.
 */
export const queueReminders = multiStepOperation({
  effect: 'write',
  input: BulkReminderInput,
  output: s.object({ runId: s.id() }),
  fails: [],
  async perform(work, call, { tab, subjectId, channel }) {
    requireSubjectInScope(call, subjectId);
    const runId = await runOf(work, call);
    const filter = { tab: COLLECTED[tab], contractId: null, subjectId, includeDeleted: false };
    for (let after: LinePlace | null | undefined = null; after !== undefined;) {
      const place: LinePlace | null = after;
      after = await work.write(async (context) => {
        const lines = await context.store.paymentList.following(filter, { after: place, limit: PAGE });
        await addManualReminders(context, call, { lines, channel, runId });
        return lines.length < PAGE ? undefined : lines.at(-1);
      });
    }
    return { runId };
  },
});

/** A multiple of the lines of a digest, so that every message but the last is full. */
const PAGE = 200;

const DAY_MS = 24 * 60 * 60 * 1_000;

/**
 * The run of a call, derived from its idempotency key: reminders of an interrupted call have the same one. Keys are
 * known for a day; a call with the same key after that is another run.
 */
async function runOf({ read, newId, clock }: MultiStepContext, { tenantId, idempotency }: Call): Promise<string> {
  if (!idempotency) return newId();
  const now = clock.now();
  const runOn = (day: number) => derivedId(tenantId, `remind-bulk ${idempotency.key} ${day}`);
  const today = Math.floor(now / DAY_MS);
  const before = runOn(today - 1);
  const isResumed = await read(({ store }) => store.reminders.hasRun(before, { since: now - DAY_MS }));
  return isResumed ? before : runOn(today);
}
