import { s } from '../../../base/schema.js';
import { operation } from '../../steps/operation-context.js';

/**
 * Removes what was kept for a while: answers under a key, reports of imports, former forms of custom values; messages
 * that are of no use any more expire.
 */
export const removeEnded = operation({
  effect: 'write',
  isUpkeep: true,
  input: s.object({}),
  output: s.object({ removed: s.integer(), more: s.flag() }),
  fails: [],
  run: ({ store, clock }) => store.expiry.remove(clock.now()),
});
