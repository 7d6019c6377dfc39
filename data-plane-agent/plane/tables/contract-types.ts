import { c, table, type RecordOf } from '../../base/database/columns.js';

export const contractTypes = table(
  'contract_types',
  {
    id: c.id('id').unaudited(),
    code: c.text('code'),
    name: c.text('name'),
    category: c.text('category'),
    description: c.orNull(c.text('description')),
    enabled: c.flag('enabled'),
    position: c.int('position').auditedAs('order'),
    fieldSchema: c.json<Record<string, unknown>>('field_schema'),
    defaultRules: c.json<Record<string, unknown>>('default_rules'),
    defaultTemplateId: c.orNull(c.id('default_template_id')).shownAs('defaultLifecycleTemplateId'),
    createdAt: c.instant('created_at').unaudited(),
    updatedAt: c.instant('updated_at').unaudited(),
  },
  { audit: 'contract_type' },
);
export type ContractTypeRow = RecordOf<typeof contractTypes>;
