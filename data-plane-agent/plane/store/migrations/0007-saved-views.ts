import type { Migration } from '../../../base/database/migrator.js';

/** Saved views: a member's own, and those of the whole tenant. */
export const savedViews: Migration = {
  id: '0007-saved-views',
  statements: (t) => [
    `CREATE TABLE saved_views (
      tenant_id ${t.id} NOT NULL, id ${t.id} NOT NULL, name ${t.text} NOT NULL, name_key ${t.text} NOT NULL, mode ${t.text} NOT NULL, scope ${t.text} NOT NULL, owner_id ${t.id},
      group_by ${t.text} NOT NULL, filters ${t.text} NOT NULL, sort_key ${t.text} NOT NULL, visible_fields ${t.text} NOT NULL, card_fields ${t.text} NOT NULL, description ${t.text},
      created_by ${t.id}, created_at ${t.big} NOT NULL, updated_at ${t.big} NOT NULL,
      PRIMARY KEY (tenant_id, id))`,
    "CREATE UNIQUE INDEX saved_views_personal ON saved_views (tenant_id, owner_id, name_key) WHERE scope = 'personal'",
    "CREATE UNIQUE INDEX saved_views_team ON saved_views (tenant_id, name_key) WHERE scope = 'team'",
    'CREATE INDEX saved_views_by_owner ON saved_views (tenant_id, owner_id, scope)',
    ...(t.dialect === 'postgres'
      ? [
          'ALTER TABLE saved_views ENABLE ROW LEVEL SECURITY',
          'ALTER TABLE saved_views FORCE ROW LEVEL SECURITY',
          "CREATE POLICY saved_views_of_tenant ON saved_views USING (tenant_id = nullif(current_setting('duebook.tenant', true), '')::uuid)",
        ]
      : []),
  ],
};
