import type { Dialect, Value } from './database.js';

/** A piece of SQL with its values. The text is of few, fixed shapes; values never go into it. */
export interface Fragment {
  readonly sql: string;
  readonly values: readonly Value[];
}

export const fragment = (sql: string, ...values: Value[]): Fragment => ({ sql, values });

/** Fragments with `AND` between them. */
export const allOf = (parts: readonly Fragment[]): Fragment => ({
  sql: parts.map(({ sql }) => sql).join(' AND '),
  values: parts.flatMap(({ values }) => values),
});

/** `column` is one of `ids`. One text for any number of ids, so that the statement is prepared once. */
export const isOneOf = (dialect: Dialect, column: string, ids: readonly string[]): Fragment =>
  dialect === 'sqlite'
    ? fragment(`${column} IN (SELECT value FROM json_each(?))`, JSON.stringify(ids))
    : fragment(`${column} = ANY(?::uuid[])`, `{${ids.join(',')}}`);

/** `column` is one of `texts`, which may hold anything. */
export const isOneOfTexts = (dialect: Dialect, column: string, texts: readonly string[]): Fragment =>
  fragment(
    `${column} IN (SELECT value FROM ${dialect === 'sqlite' ? 'json_each(?)' : 'json_array_elements_text(?::json)'})`,
    JSON.stringify(texts),
  );
