import { s } from '../../../base/schema.js';
import { operation } from '../../steps/operation-context.js';

/**
 * Looks into the tenant's tables for what is to be done, and has it done when it is due: once a day, for what a write
 * should have left and did not, such as one of an older program that was still running beside a new one.
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
