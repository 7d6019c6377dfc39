import { isDeepStrictEqual } from 'node:util';
import type { Column } from '../../../data-plane-agent/base/database/columns.js';
import type { Value } from '../../../data-plane-agent/base/database/database.js';
import { iso } from '../../../data-plane-agent/base/instants.js';
import { decimalsOf, isCurrency, moneyText } from '../../../data-plane-agent/base/money.js';
import type { ExportedKind } from '../../../data-plane-agent/plane/tables/exported.js';

/** A record as a line of an export has it. */
export type ArchiveRecord = Readonly<Record<string, unknown>>;

/** A field of a record that cannot be imported; the caller knows the file and the line. */
export class FieldFault extends Error {
  override readonly name = 'FieldFault';
}

/**
 * The record of a row: fields have the names of the API, instants are ISO 8601 in UTC, amounts exact decimal texts in
 * the currency of `currencyCode`, lists and objects JSON. `values` are in the order of the table's columns.
 */
export function recordOf({ fields }: ExportedKind, values: readonly Value[]): ArchiveRecord {
  const currency = String(values[currencyAt(fields)] ?? '');
  return Object.fromEntries(
    fields.map(({ name, column, at }) => {
      const value = values[at] ?? null;
      if (value === null) return [name, null];
      if (column.meaning === 'instant') return [name, iso(Number(value))];
      if (column.meaning === 'money') return [name, amountText(Number(value), currency)];
      const decoded = column.decode(value);
      // Nothing may be lost because a column is declared otherwise than it is stored.
      if (typeof decoded !== 'object' && column.encode(decoded) !== value)
        throw new Error(`the column ${column.name} has a value of another kind`);
      return [name, decoded];
    }),
  );
}

/** The row of a record; the columns that exports leave out are `null`. Throws FieldFault. */
export function rowOf({ table, fields }: ExportedKind, record: ArchiveRecord): Value[] {
  const names = new Set(fields.map(({ name }) => name));
  const unknown = Object.keys(record).find((name) => !names.has(name));
  if (unknown !== undefined) throw new FieldFault(`${unknown} is not a field of this kind`);
  const row: Value[] = table.columns.map(() => null);
  for (const { name, column, at } of fields) {
    if (!Object.hasOwn(record, name)) throw new FieldFault(`${name} is missing`);
    row[at] = valueOf(column, { name, value: record[name], currency: record['currencyCode'] });
  }
  return row;
}

interface Given {
  readonly name: string;
  readonly value: unknown;
  readonly currency: unknown;
}

function valueOf(column: Column<unknown>, { name, value, currency }: Given): Value {
  if (value !== null && column.meaning === 'instant') return msOf(name, value);
  if (value !== null && column.meaning === 'money') return minorOf(name, value, currency);
  const encoded = tried(name, () => column.encode(value));
  // What a column would not read as it was written is of another type.
  if (
    !isDeepStrictEqual(
      tried(name, () => column.decode(encoded)),
      value,
    )
  )
    throw new FieldFault(`${name} is not a value of this field`);
  return encoded;
}

function tried<T>(name: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw new FieldFault(`${name} is not a value of this field`, { cause: error });
  }
}

function msOf(name: string, value: unknown): number {
  const ms = typeof value === 'string' ? Date.parse(value) : Number.NaN;
  if (Number.isNaN(ms) || iso(ms) !== value)
    throw new FieldFault(`${name} is not an instant like 2026-11-23T08:30:00.000Z`);
  return ms;
}

const amountText = (minor: number, currency: string): string =>
  moneyText(minor, currency).slice(0, -currency.length - 1);

function minorOf(name: string, value: unknown, currency: unknown): number {
  if (typeof currency !== 'string' || !isCurrency(currency)) throw new FieldFault('currencyCode is not a currency');
  const minor = typeof value === 'string' ? Number(value.replace('.', '')) : Number.NaN;
  if (!Number.isSafeInteger(minor) || amountText(minor, currency) !== value)
    throw new FieldFault(`${name} is not an amount with ${decimalsOf(currency)} decimals in ${currency}`);
  return minor;
}

const currencyAt = (fields: ExportedKind['fields']): number =>
  fields.find(({ name }) => name === 'currencyCode')?.at ?? -1;
