import { PassThrough, type Readable } from 'node:stream';
import { noteStreamed } from '../../base/collect-garbage.js';

/** How far a branch may lag behind the reading. */
const BEHIND_BYTES = 262_144;

/** A consumer with its own pace. The reading waits for it up to `timeoutMs` in total, and then continues without it. */
export interface Branch {
  readonly content: Readable;
  /** Whether its content ended early because it was too slow. */
  readonly isLeftBehind: boolean;
  /** How long the reading has waited for it. */
  readonly waitedMs: number;
}

/**
 * Reads content once for several consumers, in constant memory. It ends with the content, or when no consumer is left.
 */
export class OneReading {
  private readonly open = new Set<OpenBranch>();

  /** `onChunk` is called synchronously with every chunk. */
  constructor(
    private readonly content: AsyncIterable<Buffer>,
    private readonly onChunk?: (chunk: Buffer) => void,
  ) {}

  /** Must be called before `run`. A consumer that closes its content is removed. */
  branch({ timeoutMs = Number.POSITIVE_INFINITY }: { readonly timeoutMs?: number } = {}): Branch {
    const branch = new OpenBranch(timeoutMs);
    this.open.add(branch);
    branch.content.once('close', () => this.open.delete(branch));
    return branch;
  }

  /** Rejects when the content does, and passes the error on to all branches. */
  async run(): Promise<void> {
    try {
      for await (const chunk of this.content) {
        noteStreamed(chunk.length);
        this.onChunk?.(chunk);
        for (const branch of this.open) if (!(await branch.give(chunk))) this.open.delete(branch);
        if (this.open.size === 0 && !this.onChunk) break;
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
    this.content.on('error', () => undefined); // errors are reported by `run`
  }

  /** Writes a chunk. Returns whether the branch still reads. */
  async give(chunk: Buffer): Promise<boolean> {
    if (this.content.destroyed) return false;
    if (this.content.write(chunk)) return true;
    const waitingSince = performance.now();
    await this.room(this.timeoutMs - this.waitedMs);
    this.waitedMs += performance.now() - waitingSince;
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
