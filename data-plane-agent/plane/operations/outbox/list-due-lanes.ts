import { s } from '../../../base/schema.js';
import { MOST_LANES } from '../../contract/records/outbox.js';
import { operation } from '../../steps/operation-context.js';

/** The lanes of the outbox that have due messages, the longest waiting first. */
export const listDueLanes = operation({
  effect: 'read',
  isUpkeep: true,
  input: s.object({}),
  output: s.object({
    lanes: s.list(
      s.object({
        lane: s.text({ min: 0, max: 100 }),
        /** Since when the oldest message waits, in epoch milliseconds. */
        since: s.integer({ max: Number.MAX_SAFE_INTEGER }),
      }),
      MOST_LANES,
    ),
  }),
  fails: [],
  run: async ({ store }) => ({ lanes: await store.outbox.lanes(MOST_LANES) }),
});
