import type { Row } from '../../data-plane-agent/base/database/database.js';

/** Reading columns by name. A column of another type than expected is a fault of ours, told with the column's name. */
export const textOf = (row: Row, column: string): string => {
  const value = row[column];
  if (typeof value !== 'string') throw new TypeError(`column ${column} holds no text`);
  return value;
};

export const textOrNull = (row: Row, column: string): string | null =>
  row[column] === null ? null : textOf(row, column);

export const numberOf = (row: Row, column: string): number => {
  const value = row[column];
  if (typeof value !== 'number') throw new TypeError(`column ${column} holds no number`);
  return value;
};

export const numberOrNull = (row: Row, column: string): number | null =>
  row[column] === null ? null : numberOf(row, column);

export const flagOf = (row: Row, column: string): boolean => numberOf(row, column) === 1;

/** JSON that this program wrote into the column itself; its type is what was written. */
export const jsonOf = <T>(row: Row, column: string): T => JSON.parse(textOf(row, column)) as T;

export const jsonOrNull = <T>(row: Row, column: string): T | null =>
  row[column] === null ? null : jsonOf<T>(row, column);
