import { Worker } from 'node:worker_threads';
import type { Database as Connection } from 'better-sqlite3';

/** Milliseconds without a checkpoint, after which the thread ends. */
const IDLE_MS = 10_000;
/** The rest of a log is small while the thread has left, and statements have changed since, at most so many pages. */
const FEW_PAGES = 300;
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
  /**
   * The writer waits while a log of so many pages is copied. Where there is always more to copy, commits find the thread
   * copying and copy nothing, and the log never begins anew.
   */
  readonly waitsAt: number;
}

export const USUAL_WRITER: CheckpointOptions = {
  copiedAfter: 1_000,
  longPages: 4_000,
  mostPages: 8_000,
  waitsAt: 64_000,
};
/** Of a thread that writes beside it, and can wait until the log has begun anew. */
export const WRITER_BESIDE: CheckpointOptions = {
  copiedAfter: 3_000,
  longPages: 8_000,
  mostPages: 32_000,
  waitsAt: 8_000,
};

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
  /** Pages of it that the thread could not copy, as those that a reader does not see yet. */
  private left = 0;
  /** How often another writer had its turn, and how often before the thread last began to copy. */
  private readonly others = { turns: 0, copied: 0 };
  /** There was a long transaction: commits copy nothing until the thread has copied its log. */
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
   * For a writer before it commits so many changing statements: sets from which length on the commit copies the log. Not
   * at all after many statements, since the thread is to do it; only if it is very long while another one writes. Returns
   * whether the statements are many.
   */
  beforeCommit(writer: Connection, writes: number): boolean {
    const isLong = writes > LONG_WRITES;
    this.isLeftToThread ||= isLong;
    const { mostPages } = this.othersWrote() ? WRITER_BESIDE : this.options;
    const copiedAt = this.isLeftToThread ? 0 : mostPages;
    if (copiedAt !== this.copiedAt) writer.pragma(`wal_autocheckpoint = ${copiedAt}`);
    this.copiedAt = copiedAt;
    return isLong;
  }

  /** Counts the changing statements of a commit, and begins a checkpoint if there have been many. */
  committed(writes: number): void {
    this.writes += writes;
    if (this.isMuch() || this.isLeftToThread) this.running ??= this.copyUntilShort();
  }

  /** For a writer after another one has written to the file, which copies its log itself and lets it become longer. */
  leaveToOthers(): void {
    this.others.turns += 1;
  }

  private othersWrote(): boolean {
    return this.others.turns > this.others.copied;
  }

  /**
   * For a writer before it begins a transaction. SQLite begins a log anew only if all of it is copied when a transaction
   * begins. Where one follows the other that is never so, however often the thread copies, until a commit copies all that
   * has gathered. So the writer copies what came after the thread once in a while.
   */
  copyRest(writer: Connection): void {
    if (!this.isLong() || this.othersWrote() || this.rest() > FEW_PAGES) return;
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
    if (!this.isTooLong() && !this.isMuch()) return;
    await (this.running ??= this.copyUntilShort());
    // What the writer committed while the thread copied may be more than it copies itself.
    if (this.isTooLong() && this.rest() > FEW_PAGES) await (this.running ??= this.copyUntilShort());
  }

  /** For any writer, before it begins a transaction: resolves when the log, which is too long, is copied. */
  async mayBegin(): Promise<void> {
    if (this.isTooLong()) await this.running;
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

  private isTooLong(): boolean {
    return this.pages >= this.options.waitsAt;
  }

  /** About how many pages of the log are not copied. */
  private rest(): number {
    return this.left + this.writes;
  }

  private isMuch(): boolean {
    return this.writes >= this.options.copiedAfter;
  }

  private async copyUntilShort(): Promise<void> {
    clearTimeout(this.idle);
    do {
      this.writes = 0;
      const { turns } = this.others;
      await this.copy((this.thread ??= this.start()));
      this.others.copied = turns;
    } while (this.isMuch());
    this.running = undefined;
    this.isLeftToThread = false;
    this.idle = setTimeout(() => void this.end(), IDLE_MS).unref();
  }

  private copy(thread: Worker): Promise<void> {
    return new Promise((resolve) => {
      // What could not be copied, as another one was copying all the time, is as it was.
      const over = (copied: { readonly pages: number; readonly left: number } | 'nothing' | number): void => {
        thread.off('message', over).off('exit', over);
        if (typeof copied === 'object') ({ pages: this.pages, left: this.left } = copied);
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
