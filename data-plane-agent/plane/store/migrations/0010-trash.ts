import type { Migration } from '../../../base/database/migrator.js';

/** Deleted contracts are listed, the latest first, until they can no longer be restored. */
export const trash: Migration = {
  id: '0010-trash',
  statements: () => ['CREATE INDEX contracts_in_trash ON contracts (tenant_id, deleted_at, id) WHERE deleted_at IS NOT NULL'],
};
