import { createRowsReader, refused } from '../rows-in-thread.js';
import { isCompoundFile, zipContents, type ZipFault } from '../zip-contents.js';

/** The value of a cell. Days are `YYYY-MM-DD`, formula errors are their text (`#DIV/0!`). */
export type WorkbookCell = string | number | boolean | null;

export interface WorkbookSheet {
  /** All rows from the first one, including empty ones; each starts at the first column. */
  readonly rows: readonly (readonly WorkbookCell[])[];
  /** Serial dates count from 1904, as in old Macintosh workbooks; relevant for numbers not formatted as days. */
  readonly date1904: boolean;
}

const MAX_UNPACKED_BYTES = 100 * 1024 * 1024;
const MAX_PARTS = 2_000;
const MAX_ROW = 10_000;
const MAX_COLUMN = 500;

/**
 * Reads one sheet of an .xlsx workbook, by default the first: values only, for formulas the last calculated ones. The
 * unpacked size is checked before unpacking. `reader` and failures: see `createRowsReader`.
 */
export async function readWorkbook(
  bytes: Uint8Array,
  sheetName: string | null,
  reader: string,
): Promise<WorkbookSheet> {
  checkArchive(bytes);
  const job = { bytes, sheetName, maxRow: MAX_ROW, maxColumn: MAX_COLUMN };
  const { rows, end } = await readInThread(reader, job);
  return { rows, ...end };
}

const readInThread = createRowsReader<readonly WorkbookCell[], Pick<WorkbookSheet, 'date1904'>>(
  new URL('./thread.js', import.meta.url),
);

function checkArchive(bytes: Uint8Array): void {
  if (isCompoundFile(bytes))
    throw refused('it is an old .xls file or password-protected; save it as .xlsx without a password');
  if (Buffer.from(bytes.subarray(0, 4)).toString('hex') !== '504b0304') throw refused('it is not an .xlsx workbook');
  const directory = zipContents(bytes, { parts: MAX_PARTS, unpackedBytes: MAX_UNPACKED_BYTES });
  if ('fault' in directory) throw refused(FAULTS[directory.fault]);
  if (directory.parts.some(({ name }) => /(^|\/)vbaProject\.bin$/i.test(name)))
    throw refused('workbooks with macros are not supported; save it as .xlsx');
  if (directory.parts.some(({ name }) => name === 'xl/workbook.bin'))
    throw refused('binary workbooks are not supported; save it as .xlsx');
}

const FAULTS: Readonly<Record<ZipFault, string>> = {
  damaged: 'it is damaged or not an .xlsx workbook',
  too_many_parts: `it has more than ${MAX_PARTS} parts`,
  unpacks_to_too_much: 'it unpacks to more than 100 MB',
};
