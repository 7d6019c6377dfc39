import { LRUCache } from 'lru-cache';
import type { Database } from '../../base/database/database.js';
import type { Deadline } from '../../base/deadline.js';
import { unlessAborted } from '../../base/unless-aborted.js';
import { presentVersion } from './data-version.js';

/** A statement that takes longer, in milliseconds, is not waited for by those who ask after it began. */
const PATIENCE_MS = 500;

interface Asked {
  readonly since: number;
  readonly now: Promise<number>;
  next: Promise<number> | undefined;
}

/**
 * The data versions of what is committed. Those who ask for one tenant's while a statement reads it share the next one,
 * which begins when that has ended, and so after each of them has asked.
 */
export class PresentVersions {
  private readonly asked = new Map<string, Asked>();
  /** Those of the database's present generation are still valid. */
  private readonly read = new LRUCache<string, { readonly version: number; readonly generation: number }>({
    max: 10_000,
  });

  constructor(private readonly database: Database) {}

  /** `undefined` if the statement of another takes long, as on a connection that is lost. */
  async of(tenantId: string, { signal }: Deadline): Promise<number | undefined> {
    signal.throwIfAborted();
    const read = this.read.get(tenantId);
    if (read && read.generation === this.database.generation()) return read.version;
    const running = this.asked.get(tenantId);
    if (!running) return unlessAborted(signal, this.begin(tenantId));
    if (performance.now() - running.since > PATIENCE_MS) return undefined;
    const begin = () => this.begin(tenantId);
    running.next ??= running.now.then(begin, begin);
    return unlessAborted(signal, running.next);
  }

  private begin(tenantId: string): Promise<number> {
    const generation = this.database.generation(); // before the version is read
    const now = presentVersion(this.database, { tenantId });
    const asked: Asked = { since: performance.now(), now, next: undefined };
    this.asked.set(tenantId, asked);
    const over = (): void => {
      if (asked.next === undefined) this.asked.delete(tenantId);
    };
    now.then((version) => {
      if (generation !== undefined) this.read.set(tenantId, { version, generation });
      over();
    }, over);
    return now;
  }
}
