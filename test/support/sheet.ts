import { parse } from 'csv-parse/sync';
import type { BoundPlane } from '../../data-plane-agent/plane/contract/data-plane.js';
import type { ExportFilter, ExportProfile } from '../../data-plane-agent/plane/contract/records/export.js';
import type { Operations } from '../../data-plane-agent/plane/operations/index.js';
import { contractSheet, type Names } from '../../server/spreadsheets/contract-sheet.js';

export type SheetRow = Readonly<Record<string, string>>;

/** Names that show whose they are. */
export const NAMES: Names = {
  subjectName: (id) => `subject ${id}`,
  memberName: (id) => `name ${id}`,
  memberEmail: (id) => `${id}@members.test`,
};

/** Parses a CSV: one record per row, by header. */
export function rowsOf(text: string): SheetRow[] {
  if (!text.startsWith('\uFEFF')) throw new Error('the file has no byte order mark');
  return parse(text, { bom: true, columns: true, record_delimiter: '\r\n' });
}

/** The complete export as text. */
export async function exported(
  plane: BoundPlane<Operations>,
  {
    profile = 'summary',
    filter = {},
    names = NAMES,
  }: { profile?: ExportProfile; filter?: ExportFilter; names?: Names } = {},
): Promise<string> {
  let text = '';
  for await (const piece of contractSheet({ plane, profile, filter, names })) text += piece;
  return text;
}
