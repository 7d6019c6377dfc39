import pg from 'pg';
import type { Row, Value } from './database.js';

const INT8 = 20;
const NUMERIC = 1700;

/**
 * The driver returns int8 and numeric values as text. Ours are limited to safe integers, so they are parsed to numbers;
 * a larger one is an error.
 */
export const getTypeParser = (oid: number, format = 'text'): ((text: string) => unknown) =>
  oid === INT8 || oid === NUMERIC ? safeNumber : pg.types.getTypeParser(oid, format as 'text');

function safeNumber(text: string): number {
  const number = Number(text);
  if (!Number.isSafeInteger(number)) throw new RangeError(`${text} is not a safe integer`);
  return number;
}

/** The names of a statement's columns, and what makes values of their text. */
export type Columns = readonly { readonly name: string; parse(text: string): Value }[];

export const columnsOf = (fields: readonly Pick<pg.FieldDef, 'name' | 'dataTypeID'>[]): Columns =>
  fields.map(({ name, dataTypeID }) => ({ name, parse: getTypeParser(dataTypeID) as (text: string) => Value })); // columns contain only text and numbers

export function rowOf(columns: Columns, texts: readonly (string | null)[]): Row {
  const row: Row = {};
  for (let i = 0; i < columns.length; i++) {
    const column = columns[i];
    const text = texts[i];
    if (column) row[column.name] = text === null || text === undefined ? null : column.parse(text);
  }
  return row;
}
