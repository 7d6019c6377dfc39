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
import { BYTE_ORDER_MARK, csvCells, csvRow, END_OF_ROW } from '../../data-plane-agent/plane/domain/sheet/csv-write.js';
import { guarded } from '../../data-plane-agent/plane/domain/sheet/guard.js';
import type { TenantDirectory } from '../tenants/directory.js';
import type { Plane } from '../data-planes/plane.js';

/** The names of what contract data has only ids of; `null` for an id that nobody has. */
export type Names = Readonly<Record<Naming, (id: string) => string | null>>;

export interface SheetOptions {
  readonly plane: Pick<Plane, 'planContractExport' | 'exportContracts' | 'recordExport'>;
  readonly profile: ExportProfile;
  readonly filter: ExportFilter;
  readonly names: Names;
  /** Hears how many contracts are written so far. */
  readonly onProgress?: (contracts: number) => void;
}

/** Text that is sent at once. */
const PIECE = 64 * 1024;

/**
 * Contracts as CSV, piece by piece: UTF-8 with a byte order mark, CRLF, quoted as RFC 4180 asks, a header in any case.
 * What is held at a time is one chunk of contracts, however many there are. The export is on record before its last
 * piece counts as sent, and also when it breaks off.
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
      await nextTurn(); // whoever else wants something is served between two chunks
    }
    yield piece;
    written.complete = true;
  } finally {
    await plane.recordExport({ profile, filter, ...written });
  }
}

/** The names that a tenant's directory has. */
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
  // Which ones they are has been settled with the plan.
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
 * One row for each payment line, with the contract's cells in front; of a contract without lines one row that ends with
 * empty ones.
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
  // A value that people gave is not lost with the member that it named.
  return guarded(name ?? (column.fieldId === null ? '' : cell));
}
