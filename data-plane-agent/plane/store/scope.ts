import type { Dialect } from '../../base/database/database.js';
import { allOf, fragment, isOneOf, type Fragment } from '../../base/database/fragments.js';
import type { Call } from '../contract/call.js';

/**
 * Where every query over contracts begins: the tenant, the caller's subject companies and, where the caller sees only
 * contracts of which he is owner or superior, that. `alias` names the contracts in the query.
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
