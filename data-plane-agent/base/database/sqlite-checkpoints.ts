import { Worker } from 'node:worker_threads';

/** Milliseconds without a checkpoint, after which the thread ends. */
const IDLE_MS = 10_000;

/**
 * Copies the write-ahead log of a file to the file, in a thread: a commit that does it waits for the disk several times
 * as long as others, and the whole process waits with it. If the thread fails, a commit does it, as SQLite does by
 * itself once the log is long.
 */
export class SqliteCheckpoints {
  private writes = 0;
  private thread: Worker | undefined;
  private running: Promise<void> | undefined;
  private idle: NodeJS.Timeout | undefined;

  constructor(
    private readonly filename: string,
    /**
     * After so many changing statements the log is copied; each changes one page or a few. The more there are, the fewer
     * pages are copied more than once, and the longer a commit waits that has to copy the rest.
     */
    private readonly after: number,
  ) {}

  /** Counts the changing statements of a commit, and begins a checkpoint if there have been many. */
  committed(writes: number): void {
    this.writes += writes;
    if (this.writes >= this.after) this.running ??= this.copyUntilShort();
  }

  /** Resolves when the log of what was committed before is copied, or cannot be now. */
  async ended(): Promise<void> {
    await this.running;
  }

  async close(): Promise<void> {
    this.thread?.ref();
    await this.running;
    clearTimeout(this.idle);
    await this.end();
  }

  private async copyUntilShort(): Promise<void> {
    clearTimeout(this.idle);
    while (this.writes >= this.after) {
      this.writes = 0;
      await this.copy((this.thread ??= this.start()));
    }
    this.running = undefined;
    this.idle = setTimeout(() => void this.end(), IDLE_MS).unref();
  }

  private copy(thread: Worker): Promise<void> {
    return new Promise((resolve) => {
      const over = (): void => {
        thread.off('message', over).off('exit', over);
        resolve();
      };
      thread.once('message', over).once('exit', over);
      thread.postMessage('copy');
    });
  }

  private start(): Worker {
    const thread = new Worker(new URL('./checkpoint-thread.js', import.meta.url), {
      workerData: this.filename,
      execArgv: [],
      env: {},
    });
    thread.unref();
    const forget = (): void => {
      if (this.thread === thread) this.thread = undefined;
    };
    thread.once('error', forget);
    thread.once('exit', forget);
    return thread;
  }

  private async end(): Promise<void> {
    const { thread } = this;
    if (!thread) return;
    this.thread = undefined;
    await new Promise<void>((resolve) => {
      thread.once('exit', () => resolve());
      thread.postMessage('end');
    });
  }
}
