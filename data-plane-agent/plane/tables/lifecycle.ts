import { c, table, type RecordOf } from '../../base/database/columns.js';
import type { Conditions, Effects } from '../contract/records/conditions.js';
import type { Control, WorkflowStage } from '../contract/vocabulary.js';

export const templates = table(
  'lifecycle_templates',
  {
    id: c.id('id').unaudited(),
    code: c.text('code'),
    name: c.text('name'),
    description: c.orNull(c.text('description')),
    isDefault: c.flag('is_default'),
    createdAt: c.instant('created_at').unaudited(),
    updatedAt: c.instant('updated_at').unaudited(),
  },
  { audit: 'lifecycle' },
);
export type TemplateRow = RecordOf<typeof templates>;

export const stages = table(
  'lifecycle_stages',
  {
    id: c.id('id').unaudited(),
    templateId: c.id('template_id').unaudited(),
    code: c.text('code'),
    name: c.text('name'),
    category: c.word<WorkflowStage>('category'),
    position: c.int('position').auditedAs('order'),
    isTerminal: c.flag('is_terminal'),
    locksCoreFields: c.flag('locks_core_fields'),
    completionRules: c.json<Conditions>('completion_rules'),
    allowedRoleCodes: c.json<string[]>('allowed_role_codes'),
    createdAt: c.instant('created_at').unaudited(),
    updatedAt: c.instant('updated_at').unaudited(),
  },
  { audit: 'lifecycle_stage' },
);
export type StageRow = RecordOf<typeof stages>;

export const transitions = table(
  'lifecycle_transitions',
  {
    id: c.id('id').unaudited(),
    templateId: c.id('template_id').unaudited(),
    code: c.text('code'),
    name: c.text('name'),
    fromStageCode: c.text('from_stage_code'),
    toStageCode: c.text('to_stage_code'),
    requiredControl: c.word<Control>('required_control'),
    conditions: c.json<Conditions>('conditions'),
    effects: c.json<Effects>('effects'),
    position: c.int('position').auditedAs('order'),
    enabled: c.flag('enabled'),
    createdAt: c.instant('created_at').unaudited(),
    updatedAt: c.instant('updated_at').unaudited(),
  },
  { audit: 'lifecycle_transition' },
);
export type TransitionRow = RecordOf<typeof transitions>;
