import { LRUCache } from 'lru-cache';
import { weight } from '../../base/json-pieces.js';
import type { Call } from '../contract/call.js';

/** How many bytes of answers a process keeps, about. */
const KEPT = 64 * 1024 * 1024;
/** In characters of JSON: a longer answer would displace many others. */
const LONGEST = 512 * 1024;
/**
 * An answer is made again after this time, in milliseconds, in case the tables were changed by other means than
 * operations, as by an operator.
 */
const KEPT_MS = 60_000;
/** Of a character: as text, once more in what the server makes of it, and its share of the objects. */
const BYTES = 4;

interface Kept {
  readonly version: number;
  readonly output: object;
  readonly size: number;
}

/**
 * Answers of reads that depend on nothing but the tenant's data, the input and the caller's view: each is kept under the
 * data version of the snapshot that it was read in, and returned only while a later read sees that version. So it is
 * valid on every replica. There is one instance per database.
 */
export class KeptAnswers {
  private readonly answers = new LRUCache<string, Kept>({
    maxSize: KEPT,
    ttl: KEPT_MS,
    sizeCalculation: ({ size }, key) => size + 2 * key.length,
  });

  find(key: string): Kept | undefined {
    return this.answers.get(key);
  }

  /** The answer cannot be changed from now on: later callers get the same object. */
  keep(key: string, version: number, output: object): void {
    const characters = weight(output, LONGEST);
    if (characters <= LONGEST) this.answers.set(key, { version, output: frozen(output), size: BYTES * characters });
  }
}

/** Everything that an answer may depend on besides the tables. What only identifies a request is left out. */
export function keyOf(name: string, call: Call, input: unknown): string {
  const { requestId: _request, timeoutMs: _timeout, idempotency: _key, ifVersion: _version, actor, ...view } = call;
  return JSON.stringify([name, actor.kind, actor.roleCode, view, input]);
}

function frozen<T extends object>(value: T): T {
  if (Object.isFrozen(value)) return value;
  for (const part of Object.values(value)) if (typeof part === 'object' && part !== null) frozen(part as object);
  return Object.freeze(value);
}
