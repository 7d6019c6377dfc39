import { Worker } from 'node:worker_threads';
import type { Clock } from '../../base/clock.js';
import type { Database } from '../../base/database/database.js';
import { jsonBytes } from '../../base/json-pieces.js';
import { parseJsonYielding } from '../../base/json-yielding.js';
import type { Log } from '../../base/log.js';
import { asLongWork } from '../../base/long-work.js';
import { transferable } from '../../base/transferable.js';
import type { DataPlane } from '../../plane/contract/data-plane.js';
import { TransportError, type Transport, type WireReply } from '../../plane/contract/wire.js';
import { OPERATIONS, type Operations } from '../../plane/operations/index.js';
import { createRemoteDataPlane } from '../../plane/remote.js';
import type { FromThread, ThreadSettings, ToThread } from './worker.js';

export interface LongWorkParts {
  readonly settings: ThreadSettings;
  /** The database of the process; its writes are paused while the thread writes to the same SQLite file. */
  readonly database: Pick<Database, 'pauseWrites'>;
  readonly clock: Clock;
  readonly log: Log;
  /** The thread ends after this time without work, in milliseconds. */
  readonly idleMs?: number;
  /** The heap of the thread, in MB: beyond it the thread ends, but not the process. */
  readonly heapMb?: number;
  /** The module that the thread runs. */
  readonly entry?: URL;
}

/** Operations on long inputs, in a thread that is started for the first of them and ends when idle. */
export interface LongWork {
  readonly plane: DataPlane<Operations>;
  /** Whether the thread is running. */
  readonly isUp: boolean;
  /** Call after all work has ended. */
  close(): Promise<void>;
}

const IDLE_MS = 60_000;
/** Four times what the largest import takes. */
const HEAP_MB = 1_024;
const ENTRY = new URL('./start.js', import.meta.url);

export function createLongWork({ idleMs = IDLE_MS, clock, ...parts }: LongWorkParts): LongWork {
  let thread: Thread | undefined;
  let idle: NodeJS.Timeout | undefined;

  const end = async (): Promise<void> => {
    clearTimeout(idle);
    const ending = thread;
    thread = undefined;
    await ending?.end();
  };
  const transport: Transport = async (request, { signal }) => {
    const body = transferable(await jsonBytes(request));
    clearTimeout(idle);
    if (thread?.hasEnded !== false) thread = new Thread(parts);
    const asked = thread;
    try {
      return await asLongWork(() => asked.ask({ body, now: clock.now() }, signal));
    } finally {
      clearTimeout(idle); // set by another request whose reply came together with this one
      if (asked === thread && asked.isIdle) idle = setTimeout(() => void end(), idleMs).unref();
    }
  };

  return {
    plane: createRemoteDataPlane({ operations: OPERATIONS, transport }),
    get isUp() {
      return thread?.hasEnded === false;
    },
    close: end,
  };
}

interface Waiting {
  readonly resolve: (reply: Promise<WireReply>) => void;
  readonly reject: (reason: TransportError) => void;
}

/** One run of the thread. */
class Thread {
  hasEnded = false;
  private readonly worker: Worker;
  private readonly waiting = new Map<number, Waiting>();
  private readonly ended: Promise<void>;
  private isReady = false;
  private requests = 0;
  private fault: Error | undefined;
  private continueWrites: (() => void) | undefined;

  constructor(private readonly parts: Omit<LongWorkParts, 'clock' | 'idleMs'>) {
    const { settings, entry = ENTRY, heapMb = HEAP_MB } = parts;
    this.worker = new Worker(entry, {
      workerData: settings,
      execArgv: [],
      resourceLimits: { maxOldGenerationSizeMb: heapMb },
    });
    this.worker.on('message', (message: FromThread) => this.received(message));
    this.worker.on('error', (error) => {
      this.fault = error instanceof Error ? error : new Error(String(error));
    });
    this.ended = new Promise((resolve) => {
      this.worker.once('exit', () => {
        this.lost();
        resolve();
      });
    });
  }

  get isIdle(): boolean {
    return this.waiting.size === 0;
  }

  /** Rejects with a `TransportError` if the thread ends before its reply. */
  async ask({ body, now }: Pick<RequestMessage, 'body' | 'now'>, signal: AbortSignal): Promise<WireReply> {
    const id = ++this.requests;
    const abort = (): void => this.post({ aborted: id });
    signal.addEventListener('abort', abort, { once: true });
    this.worker.ref();
    try {
      return await new Promise<WireReply>((resolve, reject) => {
        this.waiting.set(id, { resolve, reject });
        this.post({ request: id, body, now });
      });
    } finally {
      signal.removeEventListener('abort', abort);
      if (this.isIdle) this.worker.unref(); // an idle thread does not keep the process running
    }
  }

  async end(): Promise<void> {
    this.post({ end: true });
    this.worker.ref();
    await this.ended;
  }

  private received(message: FromThread): void {
    if ('reply' in message) {
      this.waiting.get(message.reply)?.resolve(replyIn(message.body));
      this.waiting.delete(message.reply);
    } else if ('turn' in message) void this.turn(message.turn);
    else if ('ready' in message) this.isReady = true;
    else this.parts.log.error({ err: message.fault }, 'an operation failed in the thread for long work');
  }

  private async turn(state: 'wanted' | 'over'): Promise<void> {
    if (state === 'over') {
      this.continueWrites?.();
      this.continueWrites = undefined;
      return;
    }
    const continueWrites = await this.parts.database.pauseWrites();
    if (this.hasEnded) return continueWrites();
    this.continueWrites = continueWrites;
    this.post({ turn: true });
  }

  /** SQLite rolls back what the thread had not committed. */
  private lost(): void {
    this.hasEnded = true;
    this.continueWrites?.();
    if (this.fault) this.parts.log.error({ err: this.fault }, 'the thread for long work has failed');
    const error = new TransportError('the thread for long work has ended', {
      nothingRan: !this.isReady,
      cause: this.fault,
    });
    for (const { reject } of this.waiting.values()) reject(error);
    this.waiting.clear();
  }

  private post(message: ToThread): void {
    this.worker.postMessage(message, 'body' in message ? [message.body.buffer as ArrayBuffer] : []); // `transferable` made it
  }
}

type RequestMessage = Extract<ToThread, { readonly request: number }>;

async function replyIn({ buffer, byteOffset, byteLength }: Uint8Array): Promise<WireReply> {
  const text = Buffer.from(buffer, byteOffset, byteLength).toString('utf8');
  const parsed = await parseJsonYielding(text, LIMITS);
  if ('beyond' in parsed) throw new Error('a reply of the thread for long work is larger than any operation gives');
  return parsed.value as WireReply; // written by the thread
}

/** Far above every output. */
const LIMITS = { levels: 64, values: 50_000_000, keys: 10_000_000 } as const;
