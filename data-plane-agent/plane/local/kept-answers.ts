import type { Database } from '../../base/database/database.js';
import { ExpiringCache } from '../../base/expiring-cache.js';
import { frozen } from '../../base/frozen.js';
import { isLatin, weight } from '../../base/json-pieces.js';
import { unlessAborted } from '../../base/unless-aborted.js';
import type { Call } from '../contract/call.js';
import { PresentVersions } from '../store/present-versions.js';
import type { Invocation } from './unit-of-work.js';

/** How many bytes of answers a process keeps, about. */
const KEPT = 64 * 1024 * 1024;
/** In characters of JSON: a longer answer would displace many others. */
const LONGEST = 512 * 1024;
/**
 * An answer is made again after this time, in milliseconds, in case the tables were changed by other means than
 * operations, as by an operator.
 */
const KEPT_MS = 60_000;
/**
 * Of a character: as text, once more in what the server makes of it, and its share of the objects. Text takes twice as
 * much with a single character beyond Latin-1.
 */
const BYTES = { latin: 4, other: 8 } as const;

/** An answer, and the data version of the snapshot that it was read in. */
interface Versioned<T extends object = object> {
  readonly version: number;
  readonly output: T;
}

/**
 * Answers of reads that depend on nothing but the tenant's data, the input and the caller's view: each is kept under its
 * data version, and returned only while a later read sees that version. So it is valid on every replica. There is one
 * instance per database.
 */
export class KeptAnswers {
  private readonly answers = new ExpiringCache<Versioned & { readonly size: number }>({
    maxSize: KEPT,
    sizeOf: ({ size }, key) => size + 2 * key.length,
    keptMs: KEPT_MS,
    since: 'set',
  });
  /** The reads that run, of which none has failed. */
  private readonly running = new Map<string, Promise<Versioned | undefined>>();
  private readonly versions: PresentVersions;

  constructor(database: Database) {
    this.versions = new PresentVersions(database);
  }

  /**
   * The kept answer, or that of a read that already runs, if it is of the present version; otherwise runs `read`. With
   * `isOpen` false it runs in any case.
   */
  async answer<T extends object>(
    { name, call, deadline }: Invocation,
    { input, isOpen, read }: { readonly input: unknown; readonly isOpen: boolean; read(): Promise<Versioned<T>> },
  ): Promise<T> {
    const key = keyOf(name, call, input);
    const known = isOpen && (this.answers.has(key) || this.running.has(key));
    const version = known ? await this.versions.of(call.tenantId, deadline) : undefined;
    if (version !== undefined) {
      const kept = this.answers.get(key);
      if (kept?.version === version) return kept.output as T; // of the same operation
      // One that began earlier may have an earlier version; those that waited for it then share the next.
      for (let running; (running = this.running.get(key));) {
        const found = await unlessAborted(deadline.signal, running);
        if (found === undefined) break;
        if (found.version >= version) return found.output as T; // of the same operation
      }
    }
    return this.run(key, read);
  }

  private async run<T extends object>(key: string, read: () => Promise<Versioned<T>>): Promise<T> {
    const reading = read();
    // Its error is that of the first reader, who gets it below; those who share the read then read themselves.
    const running = reading.catch(() => undefined);
    this.running.set(key, running);
    try {
      const { version, output } = await reading;
      this.keep(key, version, output);
      return output;
    } finally {
      if (this.running.get(key) === running) this.running.delete(key);
    }
  }

  /** The answer cannot be changed from now on: later callers get the same object. */
  private keep(key: string, version: number, output: object): void {
    const characters = weight(output, LONGEST);
    if (characters > LONGEST) return;
    const size = characters * (isLatin(output) ? BYTES.latin : BYTES.other);
    this.answers.set(key, { version, output: frozen(output), size });
  }
}

/** Everything that an answer may depend on besides the tables. What only identifies a request is left out. */
function keyOf(name: string, call: Call, input: unknown): string {
  const { requestId: _request, timeoutMs: _timeout, idempotency: _key, ifVersion: _version, actor, ...view } = call;
  return JSON.stringify([name, actor.kind, actor.roleCode, view, input]);
}
