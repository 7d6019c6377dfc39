/**
 * A spreadsheet takes a cell that begins with one of these for a formula and would run it: so a text that begins with one gets an apostrophe in
 * front. Source: OWASP ASVS 1.2.10, and the full-width twins that East Asian spreadsheets read alike. NUL is in no text that we keep.
 */
const FORMULA = /^'*[=+\-@\t\r\n\0＝＋－＠]/;
const GUARDED_FORMULA = /^'+[=+\-@\t\r\n\0＝＋－＠]/;

/** A text as it may stand in a cell. One that already looks guarded gets another apostrophe, so that `unguarded` gives back exactly what there was. */
export const guarded = (text: string): string => (FORMULA.test(text) ? `'${text}` : text);

/** The text that a cell stands for: one apostrophe is taken off when a trigger, or more apostrophes and a trigger, follow. */
export const unguarded = (cell: string): string => (GUARDED_FORMULA.test(cell) ? cell.slice(1) : cell);
