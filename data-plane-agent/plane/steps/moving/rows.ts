import { invalid } from '../../../base/failures.js';
import type { Key, RowValue, RowValues } from '../../store/moved-rows.js';
import { MOVED, type MovedTable } from '../../tables/moved.js';

/** Throws INVALID_INPUT for a table that is not moved. */
export function tableOf(name: string): MovedTable {
  const table = MOVED.find((one) => one.name === name);
  if (!table) throw invalid({ path: 'table', problem: 'is not a table that is moved' });
  return table;
}

/** Throws INVALID_INPUT for a column that the table does not have. */
export function columnOf({ columns }: MovedTable, name: string): string {
  if (!columns.includes(name)) throw invalid({ path: 'column', problem: 'is not a column of the table' });
  return name;
}

/** Throws INVALID_INPUT unless the text is a JSON list with a value for each column of the key. */
export function keyOf({ key }: MovedTable, text: string): Key {
  const values = parsed(text, 'key');
  if (!isValues(values, key.length)) throw invalid({ path: 'key', problem: 'is not a key of the table' });
  return values;
}

/** Throws INVALID_INPUT unless the text is a JSON list of rows of the table. */
export function rowsOf({ columns }: MovedTable, text: string): readonly RowValues[] {
  const rows = parsed(text, 'rows');
  if (!Array.isArray(rows) || !rows.every((row): row is RowValues => isValues(row, columns.length)))
    throw invalid({ path: 'rows', problem: 'is not a list of rows of the table' });
  return rows;
}

function parsed(text: string, path: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch (error) {
    if (error instanceof SyntaxError) throw invalid({ path, problem: 'is not JSON' });
    throw error;
  }
}

const isValues = (values: unknown, count: number): values is readonly RowValue[] =>
  Array.isArray(values) &&
  values.length === count &&
  values.every((value) => value === null || typeof value === 'string' || Number.isFinite(value));
