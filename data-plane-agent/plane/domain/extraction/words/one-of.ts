/** Joins alternatives of a regular expression, so that each can be written on its own line. */
export const oneOf = (...terms: readonly string[]): string => terms.join('|');

/** Allows regular expressions without doubled backslashes. */
export const { raw } = String;
