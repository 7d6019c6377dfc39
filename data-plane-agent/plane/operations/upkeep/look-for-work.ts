import { s } from '../../../base/schema.js';
import { operation } from '../../steps/operation-context.js';

/**
 * Searches the tenant's tables for due work, once a day. It finds work that a write did not schedule, such as one by an
 * older version running beside a new one.
 */
export const lookForWork = operation({
  effect: 'write',
  isUpkeep: true,
  input: s.object({}),
  output: s.object({}),
  fails: [],
  async run({ store }) {
    await store.dueWork.look();
    return {};
  },
});
