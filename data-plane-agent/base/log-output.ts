import { write, writeSync } from 'node:fs';
import { pino } from 'pino';
import { onFirstUse } from './on-first-use.js';

/** The maximum length of the lines that wait until earlier ones are written, in UTF-16 units. */
const MOST_WAITING = 8 * 1024 * 1024;
/** How long a pipe that is full is left alone, in milliseconds. */
const RETRY_MS = 100;
/** How long `flushSync` waits for such a pipe, in milliseconds. */
const FLUSH_MS = 1_000;

/** The two functions of `node:fs` that write to a descriptor. */
export interface Writing {
  readonly write: (
    fd: number,
    bytes: Buffer,
    done: (error: NodeJS.ErrnoException | null, written: number) => void,
  ) => void;
  readonly writeSync: (fd: number, bytes: Buffer) => number;
}

interface Batch {
  /** What is left of it. */
  bytes: Buffer;
  readonly lines: number;
}

/**
 * Where the lines of a log go: beside the process's other work, so that a slow reader delays no request, and bounded.
 * No output stops the process: a pipe that nobody reads any more (`| head`) gets nothing more, and lines for which a
 * disk has no space are lost; their number is in the log once there is space again. SonicBoom, which Pino would use,
 * repeats the last write of a process forever if it fails with anything but a full pipe.
 */
export class LogOutput {
  readonly #fd: number;
  readonly #files: Writing;
  #waiting: string[] = [];
  #length = 0;
  /** A batch is being written, or waits for a full pipe. */
  #isWriting = false;
  #isClosed = false;
  /** How many lines were not written since it was last said, and why the last of them. */
  #lost = 0;
  #reason = '';
  /** The last that was written is not the end of a line. */
  #isWithinLine = false;

  constructor(fd: number, files: Writing = { write, writeSync }) {
    this.#fd = fd;
    this.#files = files;
  }

  write(line: string): void {
    if (this.#isClosed) return;
    if (this.#length + line.length > MOST_WAITING) {
      this.#lose(1, 'the output is too slow');
      return;
    }
    this.#waiting.push(line);
    this.#length += line.length;
    if (!this.#isWriting) this.#writeNext();
  }

  /** Writes what waits before it returns: Pino's `log.flush`, for a process that is about to end. */
  flush(done: () => void): void {
    this.flushSync();
    done();
  }

  /**
   * Pino calls this after a fatal record. What is being written already is completed by the thread that does so.
   */
  flushSync(): void {
    const batch = this.#take();
    const until = performance.now() + FLUSH_MS;
    while (batch.bytes.length > 0) {
      try {
        this.#written(batch, this.#files.writeSync(this.#fd, batch.bytes));
      } catch (error) {
        const failure = error as NodeJS.ErrnoException;
        if (!isFull(failure) || performance.now() >= until) return this.#failed(batch, failure);
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, RETRY_MS / 10);
      }
    }
  }

  #writeNext(): void {
    if (this.#waiting.length === 0) return;
    this.#isWriting = true;
    this.#writeRest(this.#take());
  }

  #writeRest(batch: Batch): void {
    this.#files.write(this.#fd, batch.bytes, (error, written) => {
      if (error && isFull(error)) {
        setTimeout(() => this.#writeRest(batch), RETRY_MS);
        return;
      }
      if (error) this.#failed(batch, error);
      else if (this.#written(batch, written)) return this.#writeRest(batch);
      this.#isWriting = false;
      this.#writeNext();
    });
  }

  /** All that waits, after a line about those that were lost before. */
  #take(): Batch {
    const lines = this.#waiting;
    if (lines.length === 0) return { bytes: Buffer.alloc(0), lines: 0 };
    const lost = this.#lost;
    const text = `${this.#isWithinLine ? '\n' : ''}${lost > 0 ? lossOf(lost, this.#reason) : ''}${lines.join('')}`;
    this.#waiting = [];
    this.#length = 0;
    this.#lost = 0;
    return { bytes: Buffer.from(text), lines: lines.length + lost };
  }

  /** Whether something is left to be written. */
  #written(batch: Batch, count: number): boolean {
    this.#isWithinLine = batch.bytes[count - 1] !== LINE_END;
    batch.bytes = batch.bytes.subarray(count);
    return batch.bytes.length > 0;
  }

  #failed({ lines }: Batch, error: NodeJS.ErrnoException): void {
    if (error.code === 'EPIPE') {
      this.#isClosed = true;
      this.#waiting = [];
      this.#length = 0;
    } else this.#lose(lines, error.code ?? error.message);
  }

  #lose(lines: number, reason: string): void {
    this.#lost += lines;
    this.#reason = reason;
  }
}

const LINE_END = 10;

/** A pipe whose reader is slow, set to refuse instead of waiting. */
const isFull = ({ code }: NodeJS.ErrnoException): boolean => code === 'EAGAIN';

const lossOf = (lost: number, reason: string): string =>
  `{"level":40${pino.stdTimeFunctions.isoTime()},"lost":${lost},"reason":${JSON.stringify(reason)},"msg":"lines of the log were not written"}\n`;

/** Standard output, for all logs of the process. */
export const standardOutput = onFirstUse(() => new LogOutput(1));
