import type { Dialect } from '../../base/database/database.js';
import { allOf, fragment, isOneOf, type Fragment } from '../../base/database/fragments.js';
import type { Call } from '../contract/call.js';

/**
 * The start of every query over contracts: the tenant, the caller's subject companies and, for callers limited to
 * contracts that they own or supervise, that condition. `alias` names the contracts table in the query.
 */
export function withinScope(
  call: Pick<Call, 'tenantId' | 'subjectScope' | 'ownerScope'>,
  dialect: Dialect,
  alias: string,
): Fragment {
  return allOf([
    fragment(`${alias}.tenant_id = ?`, call.tenantId),
    ...(call.subjectScope === null ? [] : [isOneOf(dialect, `${alias}.subject_id`, call.subjectScope)]),
    ...(call.ownerScope === null
      ? []
      : [fragment(`(${alias}.owner_id = ? OR ${alias}.owner_superior_id = ?)`, call.ownerScope, call.ownerScope)]),
  ]);
}
