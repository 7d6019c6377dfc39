/**
 * A spreadsheet runs a cell that begins with one of these characters as a formula, so such a text gets a leading
 * apostrophe. Source: OWASP ASVS 1.2.10, plus the full-width forms that East Asian spreadsheets treat alike. Stored
 * texts do not contain NUL.
 */
const FORMULA = /^'*[=+\-@\t\r\n\0＝＋－＠]/;
/** Only a text with one of these characters can match one of the patterns: most texts of a sheet have none. */
const MAY_MATCH = /^['=+\-@\t\r\n\0＝＋－＠]|[;\t\r\n]/;
const GUARDED_FORMULA = /^'+[=+\-@\t\r\n\0＝＋－＠]/;

/**
 * Spreadsheets in locales with decimal commas split rows at semicolons, some at tabs, and then ignore quotes around a
 * cell: text after a semicolon, tab or line break begins a new cell. The apostrophe is therefore inserted there as
 * well, also before quotes, which may be removed. A semicolon at the end of a text begins a cell with the text that
 * follows the closing quote.
 */
const WITHIN = /[;\t\r\n](?=['"]*[=+\-@\t\r\n\0＝＋－＠])|;(?='*$)/g;
const GUARDED_WITHIN = /([;\t\r\n])'(?=['"]*[=+\-@\t\r\n\0＝＋－＠])|(;)'(?='*$)/g;

/**
 * Guards a text for a cell. A text that already looks guarded gets another apostrophe, so that `unguarded` restores it
 * exactly.
 */
export function guarded(text: string): string {
  if (!MAY_MATCH.test(text)) return text;
  const within = text.replaceAll(WITHIN, "$&'");
  return FORMULA.test(text) ? `'${within}` : within;
}

/**
 * The original text of a cell: removes one apostrophe wherever a trigger, optionally preceded by more apostrophes,
 * follows.
 */
export function unguarded(cell: string): string {
  const text = GUARDED_FORMULA.test(cell) ? cell.slice(1) : cell;
  return text.replaceAll(GUARDED_WITHIN, '$1$2');
}

/**
 * A list as JSON for a cell. JSON escapes tabs and line breaks; semicolons before a formula character are escaped here.
 */
export const listText = (value: unknown): string =>
  JSON.stringify(value).replaceAll(/;(?=[=+\-@＝＋－＠])/g, String.raw`\u003b`);
