import type { Dialect } from '../../base/database/database.js';
import type { Call } from '../contract/call.js';
import type { TrailName } from '../../base/audit/trail.js';
import { fragment, type Fragment } from '../../base/database/fragments.js';
import { withinScope } from './scope.js';

type Caller = Pick<Call, 'tenantId' | 'subjectScope' | 'ownerScope'>;

/** The tenant's trail in the tenant database, as this caller may see it. */
export const tenantTrail = (call: Caller, dialect: Dialect): TrailName => ({
  chain: call.tenantId,
  rows: fragment('tenant_id = ?', call.tenantId),
  headKey: 'tenant_id',
  visible: () => withinContracts(call, dialect),
});

/**
 * Records that belong to the whole tenant. What is neither one of them nor a contract is shown only to who sees
 * everything.
 */
const OF_EVERYBODY = "'lifecycle'";

/** Whoever sees some contracts only sees what was done to those, deleted ones too. */
function withinContracts(call: Caller, dialect: Dialect): readonly Fragment[] {
  if (call.subjectScope === null && call.ownerScope === null) return [];
  const { sql, values } = withinScope(call, dialect, 'c');
  return [
    fragment(
      `(record_kind IN (${OF_EVERYBODY}) OR record_id IN (SELECT c.id FROM contracts c WHERE ${sql}))`,
      ...values,
    ),
  ];
}
