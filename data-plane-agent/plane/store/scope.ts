import type { Dialect, Value } from '../../base/database/database.js';
import type { Call } from '../contract/call.js';

/** A piece of SQL with its values. The text is of few, fixed shapes; values never go into it. */
export interface Fragment {
  readonly sql: string;
  readonly values: readonly Value[];
}

export const fragment = (sql: string, ...values: Value[]): Fragment => ({ sql, values });

/** Fragments with `AND` between them. */
export const allOf = (parts: readonly Fragment[]): Fragment => ({ sql: parts.map(({ sql }) => sql).join(' AND '), values: parts.flatMap(({ values }) => values) });

/** `column` is one of `ids`. One text for any number of ids, so that the statement is prepared once. */
export const isOneOf = (dialect: Dialect, column: string, ids: readonly string[]): Fragment =>
  dialect === 'sqlite' ? fragment(`${column} IN (SELECT value FROM json_each(?))`, JSON.stringify(ids)) : fragment(`${column} = ANY(?::uuid[])`, `{${ids.join(',')}}`);

/** `column` is one of `texts`, which may hold anything. */
export const isOneOfTexts = (dialect: Dialect, column: string, texts: readonly string[]): Fragment =>
  fragment(`${column} IN (SELECT value FROM ${dialect === 'sqlite' ? 'json_each(?)' : 'json_array_elements_text(?::json)'})`, JSON.stringify(texts));

/**
 * Where every query over contracts begins: the tenant, the caller's subject companies and, where the caller sees only contracts of
 * which he is owner or superior, that. `alias` names the contracts in the query.
 */
export function withinScope(call: Pick<Call, 'tenantId' | 'subjectScope' | 'ownerScope'>, dialect: Dialect, alias: string): Fragment {
  return allOf([
    fragment(`${alias}.tenant_id = ?`, call.tenantId),
    ...(call.subjectScope === null ? [] : [isOneOf(dialect, `${alias}.subject_id`, call.subjectScope)]),
    ...(call.ownerScope === null ? [] : [fragment(`(${alias}.owner_id = ? OR ${alias}.owner_superior_id = ?)`, call.ownerScope, call.ownerScope)]),
  ]);
}
