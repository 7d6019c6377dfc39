import { Worker } from 'node:worker_threads';
import { fail, type Failure } from '../failures.js';
import { createFairQueue } from '../fair-queue.js';
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
const DEADLINE_MS = 20_000;
const MEMORY_MB = 512;

/**
 * Reads one sheet of an .xlsx workbook, by default the first: values only, for formulas the last calculated ones. The
 * unpacked size is checked before unpacking. Workbooks are read one at a time, and `readers` (tenants) take turns.
 * Fails with IMPORT_FILE_INVALID, or RATE_LIMITED when the reader has too many workbooks in the queue.
 */
export async function readWorkbook(
  bytes: Uint8Array,
  sheetName: string | null,
  reader: string,
): Promise<WorkbookSheet> {
  checkArchive(bytes);
  return queue(reader, () => readInThread(bytes, sheetName));
}

/** Queued workbooks per reader: each is held in memory and may take up to the deadline. */
const WAITING = 10;
/** One at a time, because each may use all of `MEMORY_MB`. */
const queue = createFairQueue({ waitingOfEach: WAITING });

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
