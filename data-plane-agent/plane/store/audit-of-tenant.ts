import type { Dialect } from '../../base/database/database.js';
import type { Call } from '../contract/call.js';
import type { TrailName } from '../../base/audit/trail.js';
import { fragment, type Fragment } from '../../base/database/fragments.js';
import { withinScope } from './scope.js';

type Caller = Pick<Call, 'tenantId' | 'subjectScope' | 'ownerScope'>;

/** The audit trail in the tenant database, limited to the events that the caller may see. */
export const tenantTrail = (call: Caller, dialect: Dialect): TrailName => ({
  chain: call.tenantId,
  rows: fragment('tenant_id = ?', call.tenantId),
  headKey: 'tenant_id',
  visible: () => withinContracts(call, dialect),
});

/**
 * Record kinds that belong to the whole tenant. Other records that are not contracts are visible only to callers
 * without a scope.
 */
const TENANT_WIDE_KINDS = "'lifecycle'";

/** A caller with a scope sees only the events of contracts in it, including deleted contracts. */
function withinContracts(call: Caller, dialect: Dialect): readonly Fragment[] {
  if (call.subjectScope === null && call.ownerScope === null) return [];
  const { sql, values } = withinScope(call, dialect, 'c');
  return [
    fragment(
      `(record_kind IN (${TENANT_WIDE_KINDS}) OR record_id IN (SELECT c.id FROM contracts c WHERE ${sql}))`,
      ...values,
    ),
  ];
}
