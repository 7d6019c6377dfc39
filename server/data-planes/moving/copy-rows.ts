import { MOVED_NAMES } from '../../../data-plane-agent/plane/tables/moved.js';
import type { TableProgress } from '../../store/data-moves.js';
import type { Journal } from './journal.js';
import type { Sides } from './sides.js';

/** A step of a move, for people. */
export type OnProgress = (text: string) => void;

export interface Copying {
  readonly sides: Sides;
  readonly journal: Journal;
  readonly onProgress: OnProgress;
}

const NOT_BEGUN: TableProgress = { rows: 0, after: null, isCopied: false };

export const tableProgress = ({ move }: Pick<Journal, 'move'>, table: string): TableProgress =>
  move.progress.tables[table] ?? NOT_BEGUN;

/** Most tables are empty or small: only what took some time is written at once. */
export async function saveTable(
  { journal }: Pick<Copying, 'journal'>,
  table: string,
  { changed, ...to }: TableProgress & { readonly changed: number },
): Promise<void> {
  const tables = { ...journal.move.progress.tables, [table]: to };
  if (changed < WORTH_SAVING) journal.note({ tables });
  else await journal.progress({ tables });
}

/** Rows. */
const WORTH_SAVING = 50;

/** Copies the rows of all tables, those that others refer to first, page by page. */
export async function copyRows(copying: Copying): Promise<void> {
  for (const table of MOVED_NAMES) if (!tableProgress(copying.journal, table).isCopied) await copyTable(copying, table);
}

async function copyTable(copying: Copying, table: string): Promise<void> {
  const {
    sides: { source, target },
    journal,
    onProgress,
  } = copying;
  const moveId = journal.move.id;
  for (let now = tableProgress(journal, table); !now.isCopied;) {
    const page = await source.readRowsToMove({ moveId, table, after: now.after });
    if (page.count > 0) await target.receiveRows({ moveId, table, rows: page.rows });
    for (const { column, from } of page.cut) await copyText(copying, { table, key: page.after ?? '[]', column, from });
    now = { rows: now.rows + page.count, after: page.after, isCopied: page.after === null };
    await saveTable(copying, table, { ...now, changed: page.cut.length > 0 ? WORTH_SAVING : page.count });
    onProgress(`${table}: ${now.rows} rows`);
  }
}

/** Copies the rest of a text that was cut in its page. */
async function copyText(
  { sides: { source, target }, journal }: Copying,
  {
    from: begin,
    ...place
  }: { readonly table: string; readonly key: string; readonly column: string; readonly from: number },
): Promise<void> {
  const moveId = journal.move.id;
  for (let from: number | null = begin; from !== null;) {
    const piece: { text: string; next: number | null } = await source.readLongText({ moveId, ...place, from });
    await target.receiveLongText({ moveId, ...place, from, text: piece.text });
    from = piece.next;
  }
}
