import type { Clock } from '../clock.js';
import type { Database } from './database.js';
import type { Log } from '../log.js';

/** The right to do one kind of work alone, until it runs out. */
export interface Lease {
  readonly name: string;
  /**
   * Moves by one whenever the lease changes hands, so that work of a former holder can be told from the present one's.
   */
  readonly fence: number;
}

/**
 * Leases in a database: of several processes, one holds a name at a time, and a holder that died is replaced once its
 * time is over. Needs the table `leases (name, holder, fence, until)`.
 */
export class Leases {
  /** This process, by a name that no other has. */
  private readonly holder: string;
  private readonly log: Log;

  constructor(
    private readonly database: Database,
    private readonly clock: Clock,
    { holder, log }: { readonly holder: string; readonly log: Log },
  ) {
    this.holder = holder;
    this.log = log;
  }

  /** Takes the lease, or prolongs one's own, for `ms` milliseconds. `undefined` while somebody else holds it. */
  take(name: string, ms: number): Promise<Lease | undefined> {
    const now = this.clock.now();
    return this.database.write({ tenantId: null }, async (tx) => {
      // One statement, so that two that come at once cannot both find it free.
      const row = await tx.get(
        `INSERT INTO leases (name, holder, fence, until) VALUES (?, ?, 1, ?)
         ON CONFLICT (name) DO UPDATE SET
           fence = CASE WHEN leases.holder = excluded.holder THEN leases.fence ELSE leases.fence + 1 END,
           holder = excluded.holder, until = excluded.until
         WHERE leases.holder = excluded.holder OR leases.until <= ?
         RETURNING fence`,
        [name, this.holder, now + ms, now],
      );
      return row && { name, fence: Number(row['fence']) };
    });
  }

  /** Gives the lease back before its time, if it is still ours. */
  async release({ name, fence }: Lease): Promise<void> {
    await this.database.write({ tenantId: null }, (tx) =>
      tx.run('UPDATE leases SET until = 0 WHERE name = ? AND holder = ? AND fence = ?', [name, this.holder, fence]),
    );
  }

  /**
   * Runs `work` while holding the lease, prolonging it at half time; answers `undefined` without running it when
   * somebody else holds it.
   */
  async during<T>(name: string, ms: number, work: () => Promise<T>): Promise<T | undefined> {
    const lease = await this.take(name, ms);
    if (!lease) return undefined;
    let renewal: Promise<unknown> = Promise.resolve();
    const timer = setInterval(() => {
      // A renewal that fails is tried again at the next beat; if none comes through, another process takes over, which
      // is right.
      renewal = this.take(name, ms).catch((error: unknown) =>
        this.log.warn({ err: error, lease: name }, 'lease not renewed'),
      );
    }, ms / 2);
    try {
      return await work();
    } finally {
      clearInterval(timer);
      await renewal;
      await this.release(lease);
    }
  }
}
