import type { Dialect, Value } from './database.js';

/** A piece of SQL with its values. Never interpolate values, and keep the number of distinct texts small. */
export interface Fragment {
  readonly sql: string;
  readonly values: readonly Value[];
}

export const fragment = (sql: string, ...values: Value[]): Fragment => ({ sql, values });

/** An array as PostgreSQL reads it. Texts may contain any characters. */
export const arrayLiteral = (values: readonly Value[]): string => `{${values.map(element).join(',')}}`;

/** As `arrayLiteral`, of what rows have in a column. */
export function columnLiteral(rows: readonly (readonly Value[])[], column: number): string {
  let text = '';
  for (const row of rows) text += text === '' ? element(row[column] ?? null) : `,${element(row[column] ?? null)}`;
  return `{${text}}`;
}

/**
 * The JSON texts that rows have in a column, or nulls, for `FROM_JSON_COLUMN`. In an array each of their many quotes
 * would have to be escaped, and found again.
 */
export const jsonColumn = (rows: readonly (readonly Value[])[], column: number): string =>
  rows.map((row) => row[column] ?? '').join(BETWEEN_JSON);

/** In JSON it can only be escaped: the record separator. */
const BETWEEN_JSON = '\u001e';
export const FROM_JSON_COLUMN = "string_to_array(?, chr(30), '')";

function element(value: Value): string {
  if (typeof value !== 'string') return value === null ? 'NULL' : String(value);
  return SPECIAL.test(value) ? `"${value.replaceAll(SPECIALS, '\\$&')}"` : `"${value}"`;
}

const SPECIAL = /["\\]/;
const SPECIALS = /["\\]/g;

/** Joins fragments with `AND`. */
export const allOf = (parts: readonly Fragment[]): Fragment => ({
  sql: parts.map(({ sql }) => sql).join(' AND '),
  values: parts.flatMap(({ values }) => values),
});

/**
 * `column` is one of `ids`. The text is the same for any number of ids but one, so that few statements are prepared. One
 * id, the usual number, is compared: PostgreSQL expects ten ids of an array that it does not know, and for one would
 * rather plan the statement anew each time.
 */
export function isOneOf(dialect: Dialect, column: string, ids: readonly string[]): Fragment {
  const [id, ...others] = ids;
  if (id !== undefined && others.length === 0) return fragment(`${column} = ?`, id);
  return dialect === 'sqlite'
    ? fragment(`${column} IN (SELECT value FROM json_each(?))`, JSON.stringify(ids))
    : fragment(`${column} = ANY(?::uuid[])`, `{${ids.join(',')}}`);
}

/**
 * `column` is one of `texts`, which may contain any characters. PostgreSQL plans for a hundred texts unless a limit says
 * how many there are, and then prefers to scan a table of some ten thousand rows; for one text, to scan hundreds of them.
 */
export function isOneOfTexts(dialect: Dialect, column: string, texts: readonly string[]): Fragment {
  const [text, ...others] = texts;
  if (text !== undefined && others.length === 0) return fragment(`${column} = ?`, text);
  return dialect === 'sqlite'
    ? fragment(`${column} IN (SELECT value FROM json_each(?))`, JSON.stringify(texts))
    : fragment(
        `${column} IN (SELECT value FROM json_array_elements_text(?::json) LIMIT ?)`,
        JSON.stringify(texts),
        texts.length,
      );
}
