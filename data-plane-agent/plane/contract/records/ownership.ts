import { s, type Static } from '../../../base/schema.js';
import { WORKFLOW_STAGES } from '../vocabulary.js';

/** The number of samples of each kind in a preview. */
export const SAMPLES = 20;

/** The numbers of records that a member holds and a handover transfers. */
export const HandoverTotals = s.object(
  {
    contracts: s.integer({ about: 'Live contracts of which the member is the owner, archived ones included.' }),
    contractsAsSupervisor: s.integer({ about: "Live contracts on which the member is the owner's superior." }),
    openTasks: s.integer({
      about: 'Fulfillment tasks of live contracts that are not completed, accepted or canceled.',
    }),
    reminders: s.integer({
      about: 'Queued reminders of the contracts that the member owns, or that an earlier handover left to them.',
    }),
    personalViews: s.integer(),
    teamViews: s.integer(),
  },
  { title: 'HandoverTotals' },
);
export type HandoverTotals = Static<typeof HandoverTotals>;

const ContractSample = s.object(
  {
    id: s.id(),
    contractNo: s.text({ max: 100 }),
    projectName: s.text(),
    subjectId: s.id(),
    workflowStage: s.enum(WORKFLOW_STAGES),
  },
  { title: 'ContractSample' },
);
export type ContractSample = Static<typeof ContractSample>;
const Sample = s.object(
  {
    id: s.id(),
    name: s.text({
      max: 700,
      about: 'For a task, its code and title; for a reminder, the contract number, period and step.',
    }),
  },
  { title: 'HandoverSample' },
);

export const HandoverSamples = s.object(
  {
    contracts: s.list(ContractSample, SAMPLES),
    contractsAsSupervisor: s.list(ContractSample, SAMPLES),
    openTasks: s.list(Sample, SAMPLES),
    reminders: s.list(Sample, SAMPLES),
    personalViews: s.list(Sample, SAMPLES),
    teamViews: s.list(Sample, SAMPLES),
  },
  { title: 'HandoverSamples' },
);
export type HandoverSamples = Static<typeof HandoverSamples>;

/** What a handover would transfer. The successor's scope must include all `subjectIds`. */
export const HandoverExtent = s.object({
  totals: HandoverTotals,
  samples: HandoverSamples,
  subjectIds: s.list(s.id(), 1_000),
});
export type HandoverExtent = Static<typeof HandoverExtent>;

export const NOTHING: HandoverTotals = {
  contracts: 0,
  contractsAsSupervisor: 0,
  openTasks: 0,
  reminders: 0,
  personalViews: 0,
  teamViews: 0,
};
