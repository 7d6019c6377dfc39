import { Worker } from 'node:worker_threads';
import { fail, type Failure } from './failures.js';
import { createFairQueue } from './fair-queue.js';
import { asLongWork } from './long-work.js';

const DEADLINE_MS = 20_000;
const MEMORY_MB = 512;

/** What a thread that reads a file posts: its rows, waiting for an answer to each message, and then how it ended. */
export type FromRowsThread<Row, End> =
  | { readonly rows: readonly Row[] }
  | { readonly done: End }
  /** The reason why the file is refused. */
  | { readonly refused: string };

export interface Rows<Row, End> {
  readonly rows: readonly Row[];
  readonly end: End;
}

export type ReadRows<Row, End> = (reader: string, data: unknown) => Promise<Rows<Row, End>>;

/** Queued files per reader: each is held in memory and may take up to the deadline. */
const WAITING = 10;

/**
 * Returns what reads the rows of a file in a thread that runs `entry` with `data`, so that the process answers others
 * meanwhile. Files are read one at a time, because each may use all of the memory, and `reader`s (tenants) take turns.
 * Fails with IMPORT_FILE_INVALID, also after 20 seconds or when the thread needs more than 512 MB, or RATE_LIMITED when
 * the reader has too many files in the queue.
 */
export function createRowsReader<Row, End>(entry: URL): ReadRows<Row, End> {
  const queue = createFairQueue({ waitingOfEach: WAITING });
  return (reader, data) => queue(reader, () => asLongWork(() => read<Row, End>(entry, data)));
}

function read<Row, End>(entry: URL, data: unknown): Promise<Rows<Row, End>> {
  return new Promise((resolve, reject) => {
    const rows: Row[] = [];
    const thread = new Worker(entry, {
      workerData: data,
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
    thread.on('message', (message: FromRowsThread<Row, End>) => {
      if ('rows' in message) {
        rows.push(...message.rows);
        // Others have their turn between two messages.
        thread.postMessage('more');
      } else if ('done' in message) end(() => resolve({ rows, end: message.done }));
      else end(() => reject(refused(message.refused)));
    });
    thread.on('error', (error: Error & { code?: unknown }) =>
      end(() =>
        reject(error.code === 'ERR_WORKER_OUT_OF_MEMORY' ? refused('it takes too much memory to read') : error),
      ),
    );
    thread.on('exit', (code) => end(() => reject(new Error(`the thread that reads a file ended with ${code}`))));
  });
}

export const refused = (reason: string): Failure<'IMPORT_FILE_INVALID'> => fail('IMPORT_FILE_INVALID', { reason });
