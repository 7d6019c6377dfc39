import { Worker } from 'node:worker_threads';
import { UnreadableDocument, type DocumentText, type PageText, type TextWarning } from './document-text.js';
import type { Job, Message } from './worker.js';

export interface ThreadLimits {
  /** For one document, in milliseconds. */
  readonly deadlineMs: number;
  /** After so long without a document the thread is ended, in milliseconds. */
  readonly idleMs: number;
  /** What reading one document may add to what the whole process holds, in bytes. */
  readonly maxGrowth: number;
  /** What the process holds of memory, in bytes. */
  readonly residentBytes: () => number;
}

const HEAP_MB = 768;
const WATCH_MS = 100;

/**
 * One thread that reads one document at a time: started when there is one, ended when there has been none for a while,
 * and killed when it hangs or grows.
 */
export class ReadingThread {
  private worker: Worker | undefined;
  private idle: NodeJS.Timeout | undefined;

  constructor(private readonly limits: ThreadLimits) {}

  /** The bytes are given away. Rejects with an `UnreadableDocument`, or the signal's reason. */
  async read(job: Job, signal: AbortSignal): Promise<DocumentText> {
    clearTimeout(this.idle);
    signal.throwIfAborted();
    const worker = (this.worker ??= this.start());
    worker.ref();
    try {
      return await this.follow(worker, job, signal);
    } finally {
      worker.unref();
      if (this.worker) this.idle = setTimeout(() => void this.end(), this.limits.idleMs).unref();
    }
  }

  /** Whether a thread is there. */
  get isUp(): boolean {
    return this.worker !== undefined;
  }

  async end(): Promise<void> {
    clearTimeout(this.idle);
    const worker = this.worker;
    this.worker = undefined;
    await worker?.terminate();
  }

  private start(): Worker {
    const worker = new Worker(new URL('./start.js', import.meta.url), {
      env: {},
      execArgv: [],
      stdin: false,
      stdout: true,
      stderr: true,
      resourceLimits: { maxOldGenerationSizeMb: HEAP_MB },
    });
    // What its libraries print is of the document, and for nobody.
    worker.stdout.resume();
    worker.stderr.resume();
    return worker;
  }

  private follow(worker: Worker, { kind, bytes }: Job, signal: AbortSignal): Promise<DocumentText> {
    return new Promise((resolve, reject) => {
      const pages: PageText[] = [];
      const warnings: TextWarning[] = [];
      const before = this.limits.residentBytes();
      const settle = (then: () => void) => {
        clearTimeout(deadline);
        clearInterval(watch);
        signal.removeEventListener('abort', abort);
        worker.off('message', hear).off('error', fall).off('exit', exit);
        then();
      };
      // A thread that was given up on is gone before the next document is begun.
      const kill = (reason: unknown) => settle(() => void this.end().then(() => reject(reason), reject));
      const abort = () => kill(signal.reason);
      const hear = (message: Message) => {
        if ('page' in message) pages.push(message.page);
        else if ('warning' in message) warnings.push(message.warning);
        else if ('done' in message) settle(() => resolve({ pages, warnings }));
        else settle(() => reject(new UnreadableDocument(message.failed.code, message.failed.message)));
      };
      const fall = (error: Error & { readonly code?: unknown }) =>
        kill(
          error.code === 'ERR_WORKER_OUT_OF_MEMORY'
            ? tooMuch()
            : new UnreadableDocument('damaged', 'the document made its reader fail', { cause: error }),
        );
      const exit = () => kill(new UnreadableDocument('damaged', 'the document made its reader fail'));
      const deadline = setTimeout(
        () => kill(new UnreadableDocument('too_slow', 'the document takes too long to read')),
        this.limits.deadlineMs,
      );
      const watch = setInterval(() => {
        if (this.limits.residentBytes() - before > this.limits.maxGrowth) kill(tooMuch());
      }, WATCH_MS);
      signal.addEventListener('abort', abort, { once: true });
      worker.on('message', hear).on('error', fall).on('exit', exit);
      const whole = bytes.byteOffset === 0 && bytes.byteLength === bytes.buffer.byteLength ? bytes : bytes.slice();
      worker.postMessage({ kind, bytes: whole }, [whole.buffer as ArrayBuffer]);
    });
  }
}

const tooMuch = (): UnreadableDocument =>
  new UnreadableDocument('too_large', 'the document takes too much memory to read');
