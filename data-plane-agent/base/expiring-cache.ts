import { LRUCache } from 'lru-cache';

export interface ExpiringCacheOptions<T extends object> {
  /** The size of all values: those that were not asked for the longest are dropped beyond it. */
  readonly maxSize: number;
  readonly sizeOf: (value: T, key: string) => number;
  /** How long a value is kept, in milliseconds. */
  readonly keptMs: number;
  /** From which the time is counted: when the value was set, or when it was last set or got. */
  readonly since: 'set' | 'use';
  /** For tests: what `performance` has. */
  readonly clock?: { now(): number };
}

/** Of its maximum size, what a cache still holds when the process has little to do. */
const AT_REST = 1 / 4;

/** The caches that hold more than that. */
const large = new Set<{ rest(): void }>();

/** For a process that has little to do: each cache drops what was not asked for the longest, down to a quarter. */
export function restCaches(): void {
  for (const cache of large) cache.rest();
}

/**
 * Keeps values up to a size and for a time. They are dropped soon after that time also when nobody asks, so that a
 * process that has little to do does not hold what a busy hour left.
 */
export class ExpiringCache<T extends object> {
  private readonly values: LRUCache<string, T>;
  private readonly keptMs: number;
  private readonly restSize: number;
  /** Runs only while there are values, so that nothing has to end it. */
  private purge: NodeJS.Timeout | undefined;

  constructor({ maxSize, sizeOf, keptMs, since, clock }: ExpiringCacheOptions<T>) {
    this.keptMs = keptMs;
    this.restSize = maxSize * AT_REST;
    this.values = new LRUCache<string, T>({
      maxSize,
      sizeCalculation: sizeOf,
      ttl: keptMs,
      updateAgeOnGet: since === 'use',
      ...(clock && { perf: clock, ttlResolution: 0 }),
    });
  }

  get(key: string): T | undefined {
    return this.values.get(key);
  }

  has(key: string): boolean {
    return this.values.has(key);
  }

  set(key: string, value: T): void {
    this.values.set(key, value);
    if (this.heldSize > this.restSize) large.add(this);
    this.purgeLater();
  }

  /** The size of the values that it holds, also of those that nobody would get any more. */
  get heldSize(): number {
    return this.values.calculatedSize;
  }

  /** Drops what was not asked for the longest until the rest is a quarter of the maximum size. */
  rest(): void {
    while (this.heldSize > this.restSize) this.values.pop();
    large.delete(this);
  }

  private purgeLater(): void {
    if (this.values.size === 0) return;
    this.purge ??= setTimeout(() => {
      this.purge = undefined;
      this.values.purgeStale();
      if (this.heldSize <= this.restSize) large.delete(this);
      this.purgeLater();
    }, this.keptMs).unref();
  }
}
