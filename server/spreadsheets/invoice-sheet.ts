import { setImmediate as nextTurn } from 'node:timers/promises';
import {
  REGISTER_CHUNK,
  type RegisterChunk,
  type RegisterFilter,
  type RegisterRow,
} from '../../data-plane-agent/plane/contract/records/invoice-register.js';
import type { Cell, CellKind } from '../../data-plane-agent/plane/domain/sheet/columns.js';
import { BYTE_ORDER_MARK } from '../../data-plane-agent/base/csv/marks.js';
import { cellText, csvRow } from '../../data-plane-agent/plane/domain/sheet/csv-write.js';
import type { Plane } from '../data-planes/plane.js';
import type { Names } from './contract-sheet.js';

interface Column {
  readonly name: string;
  readonly kind: CellKind;
  readonly write: (row: RegisterRow, names: Names) => Cell;
}

/** The columns of the file in order. */
const COLUMNS: readonly Column[] = [
  { name: 'invoiceNo', kind: 'text', write: ({ invoiceNo }) => invoiceNo },
  { name: 'invoiceDate', kind: 'day', write: ({ invoiceDate }) => invoiceDate },
  { name: 'status', kind: 'text', write: ({ status }) => status },
  { name: 'invoiceAmount', kind: 'number', write: ({ invoiceAmount }) => invoiceAmount },
  { name: 'countedAmount', kind: 'number', write: ({ countedAmount }) => countedAmount },
  { name: 'currencyCode', kind: 'text', write: ({ currencyCode }) => currencyCode },
  { name: 'taxRate', kind: 'number', write: ({ taxRate }) => taxRate },
  { name: 'taxAmount', kind: 'number', write: ({ taxAmount }) => taxAmount },
  { name: 'netAmount', kind: 'number', write: ({ netAmount }) => netAmount },
  { name: 'reversesInvoiceNo', kind: 'text', write: ({ reverses }) => reverses?.invoiceNo ?? null },
  { name: 'reversesInvoiceDate', kind: 'day', write: ({ reverses }) => reverses?.invoiceDate ?? null },
  { name: 'reversedByInvoiceNo', kind: 'text', write: ({ reversedBy }) => reversedBy?.invoiceNo ?? null },
  { name: 'reversedByInvoiceDate', kind: 'day', write: ({ reversedBy }) => reversedBy?.invoiceDate ?? null },
  { name: 'contractNo', kind: 'text', write: ({ contractNo }) => contractNo },
  { name: 'period', kind: 'text', write: ({ period }) => period },
  { name: 'projectName', kind: 'text', write: ({ projectName }) => projectName },
  { name: 'partyA', kind: 'text', write: ({ partyA }) => partyA },
  { name: 'partyB', kind: 'text', write: ({ partyB }) => partyB },
  { name: 'subjectName', kind: 'text', write: ({ subjectId }, names) => names.subjectName(subjectId) },
  { name: 'ownerName', kind: 'text', write: ({ ownerId }, names) => names.memberName(ownerId) },
  { name: 'attachment', kind: 'text', write: ({ attachment }) => attachment },
  { name: 'note', kind: 'text', write: ({ note }) => note },
  { name: 'id', kind: 'text', write: ({ id }) => id },
  { name: 'contractId', kind: 'text', write: ({ contractId }) => contractId },
  { name: 'receivablePlanId', kind: 'text', write: ({ receivablePlanId }) => receivablePlanId },
];

interface SheetOptions {
  readonly plane: Pick<Plane, 'planInvoiceExport' | 'exportInvoices' | 'recordInvoiceExport'>;
  readonly filter: RegisterFilter;
  readonly names: Names;
}

/**
 * Writes invoice records as CSV in pieces, in the format of the contracts' export. Only one chunk is held in memory.
 * The export is recorded before its last piece is consumed, and also if it is aborted.
 */
export async function* invoiceSheet({ plane, filter, names }: SheetOptions): AsyncGenerator<string, void, void> {
  const { ids } = await plane.planInvoiceExport({ filter });
  const written = { invoices: 0, complete: false };
  try {
    let piece = BYTE_ORDER_MARK + csvRow(COLUMNS.map(({ name }) => name));
    for await (const rows of chunks({ plane, filter }, ids)) {
      for (const row of rows) piece += csvRow(COLUMNS.map(({ kind, write }) => cellText(write(row, names), kind)));
      written.invoices += rows.length;
      yield piece;
      piece = '';
      await nextTurn(); // yields to other requests between two chunks
    }
    if (piece !== '') yield piece;
    written.complete = true;
  } finally {
    await plane.recordInvoiceExport({ filter, ...written });
  }
}

async function* chunks(
  { plane, filter }: Pick<SheetOptions, 'plane' | 'filter'>,
  ids: readonly string[] | null,
): AsyncGenerator<RegisterChunk['invoices'], void, void> {
  if (ids) {
    for (let at = 0; at < ids.length; at += REGISTER_CHUNK)
      yield (await plane.exportInvoices({ filter, ids: ids.slice(at, at + REGISTER_CHUNK), after: null })).invoices;
    return;
  }
  let after: string | null = null;
  do {
    const chunk: RegisterChunk = await plane.exportInvoices({ filter, ids: null, after });
    yield chunk.invoices;
    after = chunk.next;
  } while (after !== null);
}
