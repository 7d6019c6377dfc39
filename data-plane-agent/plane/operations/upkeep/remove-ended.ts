import { s } from '../../../base/schema.js';
import { operation } from '../../steps/operation-context.js';

/**
 * Deletes expired records: responses by idempotency key, import reports and former forms of custom values. Expires
 * outdated outbox messages.
 */
export const removeEnded = operation({
  effect: 'write',
  isUpkeep: true,
  input: s.object({}),
  output: s.object({ removed: s.integer(), more: s.flag() }),
  fails: [],
  run: ({ store, clock }) => store.expiry.remove(clock.now()),
});
