/** Alternatives of an expression, which stand one a line where it is written. */
export const oneOf = (...terms: readonly string[]): string => terms.join('|');

/** Expressions are written as they are, without doubled backslashes. */
export const { raw } = String;
