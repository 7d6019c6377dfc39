import { c, table, type RecordOf } from '../../base/database/columns.js';

export const workflowEvents = table(
  'workflow_events',
  {
    id: c.id('id').unaudited(),
    contractId: c.id('contract_id').unaudited(),
    kind: c.word<'created' | 'stage_changed' | 'locked' | 'unlocked' | 'transition_denied'>('kind'),
    fromStageCode: c.orNull(c.text('from_stage_code')),
    toStageCode: c.orNull(c.text('to_stage_code')),
    transitionCode: c.orNull(c.text('transition_code')),
    locked: c.flag('locked'),
    note: c.orNull(c.text('note')),
    actorId: c.orNull(c.id('actor_id')).unaudited(),
    actorName: c.text('actor_name').unaudited(),
    actorRole: c.orNull(c.text('actor_role')).unaudited(),
    source: c.word<'user' | 'system' | 'import'>('source').unaudited(),
    createdAt: c.instant('created_at').unaudited(),
  },
  { audit: 'workflow_event' },
);
export type WorkflowEventRow = RecordOf<typeof workflowEvents>;
