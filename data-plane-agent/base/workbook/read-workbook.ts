import { Worker } from 'node:worker_threads';
import { fail, type Failure } from '../failures.js';
import { createFairQueue } from '../fair-queue.js';
import { isCompoundFile, zipContents, type ZipFault } from '../zip-contents.js';

/** What a cell of a workbook holds. Days come as `YYYY-MM-DD`, errors of formulas as their text (`#DIV/0!`). */
export type WorkbookCell = string | number | boolean | null;

export interface WorkbookSheet {
  /** Row by row from the first on, empty ones too; each from the first column on. */
  readonly rows: readonly (readonly WorkbookCell[])[];
  /** Days are counted from 1904, as old Macintosh workbooks have it: for numbers that are not formatted as days. */
  readonly date1904: boolean;
}

const MAX_UNPACKED_BYTES = 100 * 1024 * 1024;
const MAX_PARTS = 2_000;
const MAX_ROW = 10_000;
const MAX_COLUMN = 500;
const DEADLINE_MS = 20_000;
const MEMORY_MB = 512;

/**
 * Reads one sheet of an .xlsx workbook, the first unless one is named: values only, of formulas the ones that were
 * calculated last. What it would unpack to is added up before anything is unpacked. Workbooks are read one at a time,
 * those of different `readers` (tenants) by turns. Fails with IMPORT_FILE_INVALID, and with RATE_LIMITED when too many
 * of the reader wait.
 */
export async function readWorkbook(
  bytes: Uint8Array,
  sheetName: string | null,
  reader: string,
): Promise<WorkbookSheet> {
  checkArchive(bytes);
  return take(reader, () => readInThread(bytes, sheetName));
}

/** Of one reader: each waits in memory, and may be read for as long as the deadline is. */
const WAITING = 10;
/** Each may take all the memory that one is given. */
const take = createFairQueue({ waitingOfEach: WAITING });

function checkArchive(bytes: Uint8Array): void {
  if (isCompoundFile(bytes))
    throw refused('it is an old .xls or is protected by a password; save it as .xlsx without one');
  if (Buffer.from(bytes.subarray(0, 4)).toString('hex') !== '504b0304') throw refused('it is no .xlsx workbook');
  const directory = zipContents(bytes, { parts: MAX_PARTS, unpackedBytes: MAX_UNPACKED_BYTES });
  if ('fault' in directory) throw refused(FAULTS[directory.fault]);
  if (directory.parts.some(({ name }) => /(^|\/)vbaProject\.bin$/i.test(name)))
    throw refused('workbooks with macros are not read; save it as .xlsx');
  if (directory.parts.some(({ name }) => name === 'xl/workbook.bin'))
    throw refused('binary workbooks are not read; save it as .xlsx');
}

const FAULTS: Readonly<Record<ZipFault, string>> = {
  damaged: 'it is damaged, or no .xlsx workbook',
  too_many_parts: `it has more than ${MAX_PARTS} parts`,
  unpacks_to_too_much: 'it unpacks to more than 100 MB',
};

type Message =
  | { readonly rows: readonly (readonly WorkbookCell[])[] }
  | { readonly done: true; readonly date1904: boolean }
  | { readonly refused: string };

function readInThread(bytes: Uint8Array, sheetName: string | null): Promise<WorkbookSheet> {
  return new Promise((resolve, reject) => {
    const rows: (readonly WorkbookCell[])[] = [];
    const thread = new Worker(new URL('./thread.js', import.meta.url), {
      workerData: { bytes, sheetName, maxRow: MAX_ROW, maxColumn: MAX_COLUMN },
      resourceLimits: { maxOldGenerationSizeMb: MEMORY_MB },
      execArgv: [],
      env: {},
      stdin: false,
    });
    const deadline = setTimeout(() => end(() => reject(refused('it takes too long to read'))), DEADLINE_MS);
    const end = (settle: () => void): void => {
      clearTimeout(deadline);
      void thread.terminate();
      settle();
    };
    thread.on('message', (message: Message) => {
      if ('rows' in message) rows.push(...message.rows);
      else if ('done' in message) end(() => resolve({ rows, date1904: message.date1904 }));
      else end(() => reject(refused(message.refused)));
    });
    thread.on('error', (error: Error & { code?: unknown }) =>
      end(() =>
        reject(error.code === 'ERR_WORKER_OUT_OF_MEMORY' ? refused('it takes too much memory to read') : error),
      ),
    );
    thread.on('exit', (code) => end(() => reject(new Error(`the thread that reads workbooks ended with ${code}`))));
  });
}

const refused = (reason: string): Failure<'IMPORT_FILE_INVALID'> => fail('IMPORT_FILE_INVALID', { reason });
