import { s } from '../../../base/schema.js';
import { OK, Ok } from '../../contract/records/common.js';
import { operation } from '../../steps/operation-context.js';

/** Undoes `closeSubject` or `closeChannel` when the record is not deleted after all. */
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
