import { s, type Static } from '../../../base/schema.js';
import { WORKFLOW_STAGES } from '../vocabulary.js';

/** How many samples of each kind a preview shows. */
export const SAMPLES = 20;

/**
 * How much of each kind is in somebody's hands: what a handover moves. Kinds of record that are not there yet count 0.
 */
export const HandoverTotals = s.object(
  {
    contracts: s.integer({ about: 'Live contracts of which the member is the owner, archived ones included.' }),
    contractsAsSupervisor: s.integer({ about: "Live contracts of which the member is the owner's superior." }),
    openTasks: s.integer({
      about: 'Fulfillment tasks of live contracts that are not completed, accepted or canceled.',
    }),
    reminders: s.integer(),
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
  { id: s.id(), name: s.text({ max: 700, about: 'Of a task its code and title.' }) },
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

/** Subject companies of what would move: a successor's scope must have all of them. */
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
