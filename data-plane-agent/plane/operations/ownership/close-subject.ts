import { isId } from '../../../base/ids.js';
import { s } from '../../../base/schema.js';
import { operation } from '../../steps/operation-context.js';

/**
 * Before the control plane removes a subject company: closes it, so that nothing is entered for it, unless it has
 * contracts, also such as the caller may not see and those in the trash; answers how many. Without `reopenClosed` it is
 * open again after ten minutes.
 */
export const closeSubject = operation({
  effect: 'write',
  isUpkeep: true,
  input: s.object({ subjectId: s.id(), /** Of this closing, made by the caller. */ closingId: s.id() }),
  output: s.object({ contracts: s.integer() }),
  fails: [],
  async run({ store }, _call, { subjectId, closingId }) {
    if (!isId(subjectId)) return { contracts: 0 };
    await store.closings.holdAlone(subjectId);
    const contracts = await store.ownership.countOf(subjectId);
    if (contracts === 0) await store.closings.close({ id: closingId, recordId: subjectId });
    return { contracts };
  },
});
