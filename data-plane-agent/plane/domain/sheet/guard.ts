/**
 * A spreadsheet takes a cell that begins with one of these for a formula and would run it: so a text that begins with
 * one gets an apostrophe in front. Source: OWASP ASVS 1.2.10, and the full-width twins that East Asian spreadsheets
 * read alike. NUL is in no text that we keep.
 */
const FORMULA = /^'*[=+\-@\t\r\n\0＝＋－＠]/;
const GUARDED_FORMULA = /^'+[=+\-@\t\r\n\0＝＋－＠]/;

/**
 * A spreadsheet of a country whose decimals have a comma parts our rows at semicolons, some at tabs, and a cell of
 * several columns is in quotes of no meaning then: what follows a semicolon, tab or line break within a text begins a
 * cell. So the apostrophe stands there as well; quotes in between may be taken off. A semicolon at the end of a text
 * begins one with what comes after our own quote.
 */
const WITHIN = /[;\t\r\n](?=['"]*[=+\-@\t\r\n\0＝＋－＠])|;(?='*$)/g;
const GUARDED_WITHIN = /([;\t\r\n])'(?=['"]*[=+\-@\t\r\n\0＝＋－＠])|(;)'(?='*$)/g;

/**
 * A text as it may stand in a cell. One that already looks guarded gets another apostrophe, so that `unguarded` gives
 * back exactly what there was.
 */
export function guarded(text: string): string {
  const within = text.replaceAll(WITHIN, "$&'");
  return FORMULA.test(text) ? `'${within}` : within;
}

/**
 * The text that a cell stands for: one apostrophe is taken off wherever a trigger, or more apostrophes and a trigger,
 * follow.
 */
export function unguarded(cell: string): string {
  const text = GUARDED_FORMULA.test(cell) ? cell.slice(1) : cell;
  return text.replaceAll(GUARDED_WITHIN, '$1$2');
}

/**
 * A list as it stands in a cell: JSON, which spells tabs and line breaks, and a semicolon where a cell of a formula
 * would begin behind it.
 */
export const listText = (value: unknown): string =>
  JSON.stringify(value).replaceAll(/;(?=[=+\-@＝＋－＠])/g, String.raw`\u003b`);
