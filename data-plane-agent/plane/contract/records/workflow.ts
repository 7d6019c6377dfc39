import { s, type Static } from '../../../base/schema.js';
import { WORKFLOW_EVENT_KINDS, WORKFLOW_EVENT_SOURCES } from '../vocabulary.js';
import { stamps } from './common.js';

/** A transition as requested by a client (API document 4.4). */
export const TransitionInput = s.object(
  {
    transitionCode: s.optional(
      s.text({
        max: 64,
        about: "A transition of the contract's lifecycle template from its current stage.",
      }),
    ),
    toStageCode: s.optional(
      s.text({
        max: 64,
        about: 'The stage to enter. If `transitionCode` is also given, it must be the target of that transition.',
      }),
    ),
    note: s.optional(s.longText()),
  },
  { title: 'TransitionInput', someOf: ['transitionCode', 'toStageCode'] },
);
export type TransitionInput = Static<typeof TransitionInput>;

export const LockInput = s.object(
  { locked: s.optional(s.flag('Default: true.')), note: s.optional(s.longText()) },
  { title: 'LockInput' },
);
export type LockInput = Static<typeof LockInput>;

/** The maximum number of events in a response: the latest ones. */
export const MAX_EVENTS = 5_000;

/** One entry of a contract's workflow history. Entries are never changed. */
export const WorkflowEvent = s.object(
  {
    id: s.id(),
    kind: s.enum(WORKFLOW_EVENT_KINDS),
    fromStageCode: s.nullable(s.text({ max: 64 })),
    toStageCode: s.nullable(
      s.text({
        max: 64,
        about: 'The stage that was entered; for a lock the current stage, for a refused transition the requested one.',
      }),
    ),
    transitionCode: s.nullable(s.text({ max: 64 })),
    locked: s.flag('Whether the contract was locked after the event.'),
    note: s.nullable(s.longText()),
    actor: s.object({ id: s.nullable(s.id()), name: s.text({ max: 200 }), roleCode: s.nullable(s.text({ max: 64 })) }),
    source: s.enum(WORKFLOW_EVENT_SOURCES),
    at: s.instant(),
    ...stamps,
  },
  { title: 'WorkflowEvent' },
);
export type WorkflowEvent = Static<typeof WorkflowEvent>;
export const WorkflowEvents = s.list(
  WorkflowEvent,
  MAX_EVENTS,
  'A plain array: a contract has few events; the latest 5 000 are listed.',
);
