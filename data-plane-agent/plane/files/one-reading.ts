import { PassThrough, type Readable } from 'node:stream';

/** So far a reader may be behind. */
const BEHIND_BYTES = 262_144;

/** Takes what is read at its own pace: the reading waits for it, `timeoutMs` in all, and then goes on without it. */
export interface Branch {
  readonly content: Readable;
  /** Whether its content ended before its time. */
  readonly isLeftBehind: boolean;
  /** For how long the reading has waited for it. */
  readonly waitedMs: number;
}

/**
 * One reading of content for several readers, in flat memory. It ends when the content does, or when nobody reads any
 * more.
 */
export class OneReading {
  private readonly open = new Set<OpenBranch>();

  /** `see` is told of every piece, and keeps nobody waiting. */
  constructor(
    private readonly content: AsyncIterable<Buffer>,
    private readonly see?: (piece: Buffer) => void,
  ) {}

  /** To be asked for before the reading begins. Who ends its content is not waited for any more. */
  branch({ timeoutMs = Number.POSITIVE_INFINITY }: { readonly timeoutMs?: number } = {}): Branch {
    const branch = new OpenBranch(timeoutMs);
    this.open.add(branch);
    branch.content.once('close', () => this.open.delete(branch));
    return branch;
  }

  /** Rejects as the content does, of which every reader is told too. */
  async run(): Promise<void> {
    try {
      for await (const piece of this.content) {
        this.see?.(piece);
        for (const branch of this.open) if (!(await branch.give(piece))) this.open.delete(branch);
        if (this.open.size === 0 && !this.see) break;
      }
    } catch (error) {
      for (const branch of this.open) branch.content.destroy(error instanceof Error ? error : new Error(String(error)));
      throw error;
    }
    for (const branch of this.open) branch.content.end();
  }
}

class OpenBranch implements Branch {
  readonly content = new PassThrough({ highWaterMark: BEHIND_BYTES });
  isLeftBehind = false;
  waitedMs = 0;

  constructor(private readonly timeoutMs: number) {
    this.content.on('error', () => undefined); // whoever reads it is told by the reading
  }

  /** Whether it is still read. */
  async give(piece: Buffer): Promise<boolean> {
    if (this.content.destroyed) return false;
    if (this.content.write(piece)) return true;
    const since = performance.now();
    await this.room(this.timeoutMs - this.waitedMs);
    this.waitedMs += performance.now() - since;
    if (this.content.destroyed) return false;
    if (this.waitedMs < this.timeoutMs) return true;
    this.isLeftBehind = true;
    this.content.end();
    return false;
  }

  private room(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = Number.isFinite(ms) ? setTimeout(() => go(), ms) : undefined;
      const go = (): void => {
        clearTimeout(timer);
        this.content.off('drain', go).off('close', go);
        resolve();
      };
      this.content.once('drain', go).once('close', go);
    });
  }
}
