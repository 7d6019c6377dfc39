import { s } from '../../../base/schema.js';
import { OK, Ok } from '../../contract/records/common.js';
import { operation } from '../../steps/operation-context.js';

/** Takes back what `closeSubject` or `closeChannel` did: what was to be removed stays. */
export const reopenClosed = operation({
  effect: 'write',
  isUpkeep: true,
  input: s.object({ closingId: s.id() }),
  output: Ok,
  fails: [],
  async run({ store }, _call, { closingId }) {
    await store.closings.reopen(closingId);
    return OK;
  },
});
