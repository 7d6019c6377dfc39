import { createRowsReader } from '../rows-in-thread.js';
import { readCsvRows, TooManyCsvRows, type CsvLimits, type CsvRows } from './read-rows.js';
import type { CsvEnd, CsvJob, CsvRow } from './thread.js';

/** Characters: shorter texts take less time than a thread takes to start. */
const LONG = 64 * 1024;

const readInThread = createRowsReader<CsvRow, CsvEnd>(new URL('./start.js', import.meta.url));

/**
 * As `readCsvRows`, but reads long texts in a thread, so that the process answers others meanwhile. `reader` and
 * failures: see `createRowsReader`, which fails instead of throwing `UnreadableCsv`.
 */
export async function readCsvRowsBeside(text: string, limits: CsvLimits, reader: string): Promise<CsvRows> {
  if (text.length <= LONG) return readCsvRows(text, limits);
  const job: CsvJob = { text, limits };
  const { rows, end } = await readInThread(reader, job);
  if (!end) throw new TooManyCsvRows();
  return { rows, ...end };
}
