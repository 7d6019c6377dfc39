import type { Migration } from '../../../base/database/migrator.js';

/** A tenant has one default lifecycle template, whoever changes it at once. */
export const oneDefaultTemplate: Migration = {
  id: '0004-one-default-template',
  statements: () => ['CREATE UNIQUE INDEX lifecycle_templates_default ON lifecycle_templates (tenant_id) WHERE is_default = 1'],
};
