import { Worker } from 'node:worker_threads';
import type { Database as Connection } from 'better-sqlite3';

/** Milliseconds without a checkpoint, after which the thread ends. */
const IDLE_MS = 10_000;
/** While at most so many statements have changed something since the thread copied the log, the rest of it is small. */
const FEW_WRITES = 300;
/** A transaction with more changing statements leaves a log that takes long to copy. */
const LONG_WRITES = 2_000;

export interface CheckpointOptions {
  /**
   * After so many changing statements the log is copied; each changes one page or a few. The more there are, the fewer
   * pages are copied more than once, and the longer a commit waits that has to copy the rest.
   */
  readonly copiedAfter: number;
  /** A log of so many pages is to begin anew. */
  readonly longPages: number;
  /** A commit copies a log of so many pages itself, as when the thread cannot keep up. */
  readonly mostPages: number;
}

export const USUAL_WRITER: CheckpointOptions = { copiedAfter: 1_000, longPages: 4_000, mostPages: 8_000 };
/** Of a thread that writes beside it, and can wait until the log has begun anew. */
export const WRITER_BESIDE: CheckpointOptions = { copiedAfter: 3_000, longPages: 8_000, mostPages: 32_000 };

export const copiedByCommits = ({ mostPages }: CheckpointOptions): string => `wal_autocheckpoint = ${mostPages}`;

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
  /** Pages of the log when it was copied last, until it was made to begin anew. */
  private pages = 0;
  /** Another writer has written to the file since the thread began to copy the log: how much the rest of it is nobody knows. */
  private othersWrote = false;
  private isLeftToThread = false;
  /** A log of so many pages is copied by the next commit; 0: never. */
  private copiedAt: number;

  constructor(
    private readonly filename: string,
    private readonly options: CheckpointOptions,
  ) {
    this.copiedAt = options.mostPages;
  }

  /**
   * For a writer before it commits so many changing statements, of which it must not copy a log that somebody else is
   * about to copy. Returns whether they are many.
   */
  beforeCommit(writer: Connection, writes: number): boolean {
    const isLong = writes > LONG_WRITES;
    this.isLeftToThread ||= isLong;
    const { mostPages } = this.othersWrote ? WRITER_BESIDE : this.options;
    const copiedAt = this.isLeftToThread ? 0 : mostPages;
    if (copiedAt !== this.copiedAt) writer.pragma(`wal_autocheckpoint = ${copiedAt}`);
    this.copiedAt = copiedAt;
    return isLong;
  }

  /** Counts the changing statements of a commit, and begins a checkpoint if there have been many. */
  committed(writes: number): void {
    this.writes += writes;
    if (this.isMuch()) this.running ??= this.copyUntilShort();
  }

  /** For a writer after another one has written to the file, which copies its log itself and lets it become longer. */
  leaveToOthers(): void {
    this.othersWrote = true;
  }

  /**
   * For a writer before it begins a transaction. SQLite begins a log anew only if all of it is copied when a transaction
   * begins. Where one follows the other that is never so, however often the thread copies, until a commit copies all that
   * has gathered. So the writer copies what came after the thread once in a while.
   */
  copyRest(writer: Connection): void {
    if (!this.isLong() || this.othersWrote || this.writes > FEW_WRITES) return;
    try {
      // 1: somebody else copies just now. The next transaction can let the log begin anew.
      if (writer.pragma('wal_checkpoint(PASSIVE)', { simple: true }) === 1) return;
    } catch {
      // What cannot be copied, as on a full disk, stays in the log, where it is safe. SQLite too ignores the error of the
      // copying after a commit.
    }
    this.pages = 0;
  }

  /**
   * For a writer that can wait, before it begins a transaction: resolves when the log may grow. It is copied while the
   * writer goes on, but not without end.
   */
  async mayGrow(): Promise<void> {
    if (!this.isLong() && !this.isMuch()) return;
    await (this.running ??= this.copyUntilShort());
    // What the writer committed while the thread copied may be more than it copies itself.
    if (this.isLong() && this.writes > FEW_WRITES) await (this.running ??= this.copyUntilShort());
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

  private isLong(): boolean {
    return this.pages >= this.options.longPages;
  }

  private isMuch(): boolean {
    return this.writes >= this.options.copiedAfter;
  }

  private async copyUntilShort(): Promise<void> {
    clearTimeout(this.idle);
    do {
      this.writes = 0;
      this.othersWrote = false;
      await this.copy((this.thread ??= this.start()));
    } while (this.isMuch());
    this.running = undefined;
    this.isLeftToThread = false;
    this.idle = setTimeout(() => void this.end(), IDLE_MS).unref();
  }

  private copy(thread: Worker): Promise<void> {
    return new Promise((resolve) => {
      const over = (copied: { readonly pages: number } | number): void => {
        thread.off('message', over).off('exit', over);
        if (typeof copied === 'object') this.pages = copied.pages;
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
