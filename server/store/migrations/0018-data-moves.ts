import type { Migration } from '../../../data-plane-agent/base/database/migrator.js';

/**
 * Moves of contract data between the data plane of the installation and agents: how far each has come. At most one of an
 * organisation is not over.
 */
export const dataMoves: Migration = {
  id: '0018-data-moves',
  statements: (t) => [
    `CREATE TABLE data_moves (
      id ${t.id} NOT NULL PRIMARY KEY, tenant_id ${t.id} NOT NULL REFERENCES tenants (id), direction ${t.text} NOT NULL, phase ${t.text} NOT NULL, progress ${t.text} NOT NULL,
      started_at ${t.big} NOT NULL, updated_at ${t.big} NOT NULL, finished_at ${t.big}, source_deleted_at ${t.big})`,
    'CREATE INDEX data_moves_by_tenant ON data_moves (tenant_id, started_at)',
    'CREATE UNIQUE INDEX data_moves_one_open ON data_moves (tenant_id) WHERE finished_at IS NULL',
  ],
};
