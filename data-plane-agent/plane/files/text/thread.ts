import { Worker } from 'node:worker_threads';
import { UnreadableDocument, type DocumentText, type PageText, type TextWarning } from './document-text.js';
import type { Job, Message } from './worker.js';

export interface ThreadLimits {
  /** The timeout of one document, in milliseconds. */
  readonly deadlineMs: number;
  /** The thread is stopped after this time without a document, in milliseconds. */
  readonly idleMs: number;
  /** The maximum memory growth of the process while one document is read, in bytes. */
  readonly maxGrowth: number;
  /** The memory of the process, in bytes. */
  readonly residentBytes: () => number;
}

const HEAP_MB = 768;
const WATCH_MS = 100;

/**
 * A thread that reads one document at a time. It is started on demand, stopped when idle, and terminated when it hangs
 * or uses too much memory.
 */
export class ReadingThread {
  private worker: Worker | undefined;
  private idle: NodeJS.Timeout | undefined;

  constructor(private readonly limits: ThreadLimits) {}

  /** Transfers the bytes to the thread. Rejects with an `UnreadableDocument` or the signal's reason. */
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

  /** Whether the thread is running. */
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
    // Output of the libraries may contain document text, and is discarded.
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
        worker.off('message', onMessage).off('error', onError).off('exit', onExit);
        then();
      };
      // The thread must have terminated before the next document starts.
      const kill = (reason: unknown) => settle(() => void this.end().then(() => reject(reason), reject));
      const abort = () => kill(signal.reason);
      const onMessage = (message: Message) => {
        if ('page' in message) pages.push(message.page);
        else if ('warning' in message) warnings.push(message.warning);
        else if ('done' in message) settle(() => resolve({ pages, warnings }));
        else settle(() => reject(new UnreadableDocument(message.failed.code, message.failed.message)));
      };
      const onError = (error: Error & { readonly code?: unknown }) =>
        kill(
          error.code === 'ERR_WORKER_OUT_OF_MEMORY'
            ? outOfMemory()
            : new UnreadableDocument('damaged', 'the document caused its reader to fail', { cause: error }),
        );
      const onExit = () => kill(new UnreadableDocument('damaged', 'the document caused its reader to fail'));
      const deadline = setTimeout(
        () => kill(new UnreadableDocument('too_slow', 'the document takes too long to read')),
        this.limits.deadlineMs,
      );
      const watch = setInterval(() => {
        if (this.limits.residentBytes() - before > this.limits.maxGrowth) kill(outOfMemory());
      }, WATCH_MS);
      signal.addEventListener('abort', abort, { once: true });
      worker.on('message', onMessage).on('error', onError).on('exit', onExit);
      const whole = bytes.byteOffset === 0 && bytes.byteLength === bytes.buffer.byteLength ? bytes : bytes.slice();
      worker.postMessage({ kind, bytes: whole }, [whole.buffer as ArrayBuffer]);
    });
  }
}

const outOfMemory = (): UnreadableDocument =>
  new UnreadableDocument('too_large', 'the document takes too much memory to read');
