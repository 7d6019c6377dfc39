import type { WarningCode } from '../../../base/warnings.js';
import { readAmount, type ReadAmount } from './amounts.js';
import type { Readings } from './candidates.js';
import { countedName } from './counted-names.js';
import type { Span } from './document.js';
import { columnFor, type Table } from './tables.js';
import { readCount, textOf, type Labelled } from './values.js';

const TOTAL = /^(?:合 *计|总 *计|小 *计|共 *计|合同总[价额]|价税合计|total|grand total|sum|amount in total|人民币)/;

/** Reads a table of goods: name, model, quantity, unit price, and the total row. */
export function readGoods(document: Labelled, table: Table, readings: Readings): void {
  const at = {
    equipmentName: columnFor(table, 'equipmentName', 'name'),
    equipmentModel: columnFor(table, 'equipmentModel'),
    quantity: columnFor(table, 'quantity'),
    unitPrice: columnFor(table, 'unitPrice'),
    periodicRent: columnFor(table, 'periodicRent'),
    deposit: columnFor(table, 'deposit'),
    amount: columnFor(table, 'totalAmount'),
  };
  if (at.equipmentName < 0 || Object.values(at).filter((column) => column >= 0).length < 2) return;
  const items = table.rows.filter(
    (row) => row.length === table.columns.length && !isTotal(document, row) && hasText(document, row[at.equipmentName]),
  );
  // With several items, each is a candidate, since the contract has only one such field.
  const confidence = items.length === 1 ? 0.95 : 0.55;
  const doubts: readonly WarningCode[] = items.length === 1 ? [] : ['SEVERAL_ITEMS'];
  for (const row of items.slice(0, 20)) {
    for (const key of ['equipmentName', 'equipmentModel'] as const) {
      const cell = at[key] < 0 ? undefined : row[at[key]];
      const text = cell && textOf(document, cell, 500);
      if (!text || (key === 'equipmentName' && /^[\d.]+$/.test(text.value))) continue;
      const counted = key === 'equipmentName' ? countedName(document, text) : undefined;
      readings.add(key, { ...(counted?.name ?? text), confidence, doubts });
      if (counted) readings.add('quantity', { ...counted.count, confidence: confidence * 0.9, doubts });
    }
    const count = at.quantity < 0 ? undefined : countIn(document, row[at.quantity]);
    if (count) readings.add('quantity', { value: count.value, start: count.start, end: count.end, confidence, doubts });
    for (const key of ['unitPrice', 'periodicRent', 'deposit'] as const) {
      const price = amountIn(document, { table, row, column: at[key] });
      if (price) readings.addAmount(key, price, { confidence, doubts });
    }
    const only =
      items.length === 1 && table.rows.length === 1 ? amountIn(document, { table, row, column: at.amount }) : undefined;
    if (only) readings.addAmount('totalAmount', only, { confidence: 0.85 });
  }
  for (const row of table.rows.filter((one) => isTotal(document, one))) {
    const total = totalIn(document, { table, row, column: at.amount });
    if (total) readings.addAmount('totalAmount', total, { confidence: 0.92 });
  }
}

const isTotal = ({ plain }: Labelled, [first]: readonly Span[]): boolean =>
  first !== undefined &&
  TOTAL.test(
    plain
      .slice(first.start, first.end)
      .replaceAll(/[*\s]+/g, ' ')
      .trim(),
  );
const hasText = (document: Labelled, cell: Span | undefined): boolean =>
  cell !== undefined && textOf(document, cell, 500) !== undefined;

function countIn(document: Labelled, cell: Span | undefined) {
  const count = cell && readCount(document, cell.start);
  return count && cell && count.end <= cell.end ? count : undefined;
}

export function amountIn(
  document: Labelled,
  { table, row, column }: { readonly table: Table; readonly row: readonly Span[]; readonly column: number },
): ReadAmount | undefined {
  const cell = column < 0 ? undefined : row[column];
  const amount =
    cell && cell.end > cell.start ? readAmount(document, cell.start, table.columns[column]?.hint) : undefined;
  return amount && cell && amount.end <= cell.end ? amount : undefined;
}

/** In a total row cells are often merged, so its last amount is used. */
function totalIn(
  document: Labelled,
  { table, row, column }: { readonly table: Table; readonly row: readonly Span[]; readonly column: number },
): ReadAmount | undefined {
  if (row.length === table.columns.length && column >= 0) return amountIn(document, { table, row, column });
  const hint = column < 0 ? {} : (table.columns[column]?.hint ?? {});
  for (const cell of row.slice(1).toReversed()) {
    if (cell.end === cell.start) continue;
    const amount = readAmount(document, cell.start, hint);
    if (amount && amount.end <= cell.end) return amount;
  }
  return undefined;
}
