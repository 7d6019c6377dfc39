import { s } from '../../../base/schema.js';
import { HandoverExtent, NOTHING } from '../../contract/records/ownership.js';
import { operation } from '../tools.js';

/** What is in a member's hands. Totals are the tenant's; samples only what the caller may see. */
export const getHandoverExtent = operation({
  effect: 'read',
  input: s.object({ memberId: s.id() }),
  output: HandoverExtent,
  fails: [],
  async run({ store: { ownership } }, _call, { memberId }) {
    return {
      totals: { ...NOTHING, contracts: await ownership.owned(memberId), contractsAsSupervisor: await ownership.supervised(memberId) },
      samples: {
        contracts: await ownership.samples('owned', memberId),
        contractsAsSupervisor: await ownership.samples('supervised', memberId),
        openTasks: [],
        reminders: [],
        personalViews: [],
        teamViews: [],
      },
      subjectIds: await ownership.subjectsOf(memberId),
    };
  },
});
