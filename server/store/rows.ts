import type { Row } from '../../data-plane-agent/base/database/database.js';

/** Read columns by name. A column of an unexpected type is an internal error, whose message names the column. */
export const textOf = (row: Row, column: string): string => {
  const value = row[column];
  if (typeof value !== 'string') throw new TypeError(`column ${column} does not contain text`);
  return value;
};

export const textOrNull = (row: Row, column: string): string | null =>
  row[column] === null ? null : textOf(row, column);

export const numberOf = (row: Row, column: string): number => {
  const value = row[column];
  if (typeof value !== 'number') throw new TypeError(`column ${column} does not contain a number`);
  return value;
};

export const numberOrNull = (row: Row, column: string): number | null =>
  row[column] === null ? null : numberOf(row, column);

export const flagOf = (row: Row, column: string): boolean => numberOf(row, column) === 1;

/** JSON that this program wrote to the column, as the type that was written. */
export const jsonOf = <T>(row: Row, column: string): T => JSON.parse(textOf(row, column)) as T;

export const jsonOrNull = <T>(row: Row, column: string): T | null =>
  row[column] === null ? null : jsonOf<T>(row, column);
