/**
 * Each connection keeps named prepared statements for its lifetime, so new combinations of filters beyond this number
 * are not named.
 */
const NAMED = 1_000;
const known = new Map<string, { readonly name: string; readonly text: string }>();

/**
 * The SQL with `$1, $2, …` for `?`, and the name under which connections prepare it. Our statements have no `?` in a
 * literal.
 */
export function numbered(sql: string): { readonly name?: string; readonly text: string } {
  const statement = known.get(sql);
  if (statement) return statement;
  let n = 0;
  const text = sql.replaceAll('?', () => `$${++n}`);
  if (known.size >= NAMED) return { text };
  const named = { name: `q${known.size + 1}`, text };
  known.set(sql, named);
  return named;
}
