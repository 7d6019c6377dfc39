import { s } from '../../../base/schema.js';
import { HandoverExtent, NOTHING, SAMPLES } from '../../contract/records/ownership.js';
import { operation } from '../../steps/operation-context.js';

/** What a member is responsible for. Totals cover the tenant; samples only what the caller may see. */
export const getHandoverExtent = operation({
  effect: 'read',
  input: s.object({ memberId: s.id() }),
  output: HandoverExtent,
  fails: [],
  async run({ store: { ownership, tasks, pendingReminders, views } }, _call, { memberId }) {
    return {
      totals: {
        ...NOTHING,
        contracts: await ownership.owned(memberId),
        contractsAsSupervisor: await ownership.supervised(memberId),
        openTasks: await tasks.countOpenOf(memberId),
        reminders: await pendingReminders.countOf(memberId),
        personalViews: await views.count('personal', memberId),
        teamViews: await views.count('team', memberId),
      },
      samples: {
        contracts: await ownership.samples('owned', memberId),
        contractsAsSupervisor: await ownership.samples('supervised', memberId),
        openTasks: await tasks.samplesOf(memberId),
        reminders: await pendingReminders.samplesOf(memberId),
        personalViews: await views.samples('personal', memberId, SAMPLES),
        teamViews: await views.samples('team', memberId, SAMPLES),
      },
      subjectIds: [
        ...new Set([
          ...(await ownership.subjectsOf(memberId)),
          ...(await tasks.subjectsOf(memberId)),
          ...(await pendingReminders.subjectsOf(memberId)),
        ]),
      ].toSorted(),
    };
  },
});
