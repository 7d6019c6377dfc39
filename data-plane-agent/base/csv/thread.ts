import { parentPort, workerData } from 'node:worker_threads';
import { postRows } from '../post-rows.js';
import type { FromRowsThread } from '../rows-in-thread.js';
import { readCsvRows, TooManyCsvRows, UnreadableCsv, type CsvLimits, type CsvRows } from './read-rows.js';

/* The worker thread in which `read-beside.ts` reads a text. */

export interface CsvJob {
  readonly text: string;
  readonly limits: CsvLimits;
}

export type CsvRow = CsvRows['rows'][number];
/** `null` if the text has more rows than its limit. */
export type CsvEnd = Pick<CsvRows, 'format'> | null;

const post = (message: FromRowsThread<CsvRow, CsvEnd>): void => parentPort?.postMessage(message);

try {
  const { text, limits } = workerData as CsvJob;
  const { rows, format } = await readCsvRows(text, limits);
  await postRows(rows);
  post({ done: { format } });
} catch (error) {
  if (error instanceof TooManyCsvRows) post({ done: null });
  else if (error instanceof UnreadableCsv) post({ refused: error.message });
  else throw error;
}
