import pg from 'pg';
import { objectOf } from '../compiled-objects.js';
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

/** Makes a row of the texts of a statement's columns. */
export type MakeRow = (texts: readonly (string | null)[]) => Row;

export function rowMakerOf(fields: readonly Pick<pg.FieldDef, 'name' | 'dataTypeID'>[]): MakeRow {
  const named = objectOf<Value>(fields.map(({ name }) => name));
  // Columns contain only text and numbers.
  const parsers = fields.map(({ dataTypeID }) => getTypeParser(dataTypeID) as (text: string) => Value);
  return (texts) => named(parsers.map((parse, i) => parsed(texts[i] ?? null, parse)));
}

const parsed = (text: string | null, parse: (text: string) => Value): Value => (text === null ? null : parse(text));
