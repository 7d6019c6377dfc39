import { setImmediate as nextTurn } from 'node:timers/promises';
import {
  EXPORT_CHUNK,
  type ExportChunk,
  type ExportColumn,
  type ExportFilter,
  type ExportPlan,
  type ExportProfile,
  type Naming,
} from '../../data-plane-agent/plane/contract/records/export.js';
import { BYTE_ORDER_MARK } from '../../data-plane-agent/base/csv/marks.js';
import { csvCells, csvRow, END_OF_ROW } from '../../data-plane-agent/plane/domain/sheet/csv-write.js';
import { guarded } from '../../data-plane-agent/plane/domain/sheet/guard.js';
import type { TenantDirectory } from '../tenants/directory.js';
import type { Plane } from '../data-planes/plane.js';

/** Names for ids in contract data; `null` for an unknown id. */
export type Names = Readonly<Record<Naming, (id: string) => string | null>>;

export interface SheetOptions {
  readonly plane: Pick<Plane, 'planContractExport' | 'exportContracts' | 'recordExport'>;
  readonly profile: ExportProfile;
  readonly filter: ExportFilter;
  readonly names: Names;
  /** Called with the number of contracts written so far. */
  readonly onProgress?: (contracts: number) => void;
}

/** The size of a piece of text. */
const PIECE = 64 * 1024;

/**
 * Writes contracts as CSV in pieces: UTF-8 with a byte order mark, CRLF, RFC 4180 quoting, and always a header. Only
 * one chunk of contracts is held in memory. The export is recorded before its last piece is consumed, and also if it is
 * aborted.
 */
export async function* contractSheet({
  plane,
  profile,
  filter,
  names,
  onProgress = () => undefined,
}: SheetOptions): AsyncGenerator<string, void, void> {
  const { columns, ids } = await plane.planContractExport({ profile, filter });
  const written = { contracts: 0, rows: 0, complete: false };
  try {
    let piece = BYTE_ORDER_MARK + csvRow(columns.map(({ name }) => name));
    for await (const { contracts } of chunks({ plane, profile, filter }, { columns, ids })) {
      for (const contract of contracts) {
        for (const row of rowsOf(contract, columns, names)) {
          piece += row;
          written.rows += 1;
          if (piece.length < PIECE) continue;
          yield piece;
          piece = '';
        }
        written.contracts += 1;
      }
      onProgress(written.contracts);
      await nextTurn(); // yields to other requests between two chunks
    }
    yield piece;
    written.complete = true;
  } finally {
    await plane.recordExport({ profile, filter, ...written });
  }
}

/** The names in a tenant's directory. */
export function namesOf(directory: TenantDirectory): Names {
  const emails = new Map(directory.members().map(({ id, email }) => [id, email]));
  return {
    subjectName: (id) => directory.subjectName(id),
    memberName: (id) => directory.memberName(id),
    memberEmail: (id) => emails.get(id) ?? null,
  };
}

async function* chunks(
  { plane, profile, filter }: Pick<SheetOptions, 'plane' | 'profile' | 'filter'>,
  { columns, ids }: ExportPlan,
): AsyncGenerator<ExportChunk, void, void> {
  // The plan has already resolved the ids.
  const { ids: _asked, ...rest } = filter;
  const asked = { profile, filter: rest, fieldIds: columns.flatMap(({ fieldId }) => fieldId ?? []) };
  if (ids) {
    for (let at = 0; at < ids.length;) {
      const chunk = await plane.exportContracts({ ...asked, ids: ids.slice(at, at + EXPORT_CHUNK), after: null });
      yield chunk;
      at += Math.max(1, chunk.taken);
    }
    return;
  }
  let after: ExportChunk['next'] = null;
  do {
    const chunk: ExportChunk = await plane.exportContracts({ ...asked, ids: null, after });
    yield chunk;
    after = chunk.next;
  } while (after);
}

/**
 * One row for each payment line, with the contract's cells repeated; for a contract without lines, one row with empty
 * line cells.
 */
function* rowsOf(
  { cells, lines }: ExportChunk['contracts'][number],
  columns: readonly ExportColumn[],
  names: Names,
): Generator<string, void, void> {
  const contract = csvCells(cells.map((cell, i) => named(cell, columns[i], names)));
  for (const line of lines) yield `${contract},${csvCells(line)}${END_OF_ROW}`;
  if (lines.length === 0) yield `${contract}${','.repeat(columns.length - cells.length)}${END_OF_ROW}`;
}

function named(cell: string, column: ExportColumn | undefined, names: Names): string {
  if (!column?.names || cell === '') return cell;
  const name = names[column.names](cell);
  // A value of a custom field is kept even if the member no longer exists.
  return guarded(name ?? (column.fieldId === null ? '' : cell));
}
