import type { Clock } from '../clock.js';
import type { Database } from './database.js';
import type { Log } from '../log.js';

/** The exclusive right to do one kind of work until it expires. */
export interface Lease {
  readonly name: string;
  /**
   * Incremented whenever the lease changes hands, so that work of a former holder can be distinguished from that of the
   * current one.
   */
  readonly fence: number;
}

/**
 * Leases stored in a database: one process at a time holds a name, and a holder that died is replaced once its lease
 * expires. Needs the table `leases (name, holder, fence, until)`.
 */
export class Leases {
  /** A unique name of this process. */
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

  /**
   * Acquires the lease, or renews it if this process holds it, for `ms` milliseconds. `undefined` while another process
   * holds it.
   */
  take(name: string, ms: number): Promise<Lease | undefined> {
    const now = this.clock.now();
    return this.database.write({ tenantId: null }, async (tx) => {
      // A single statement, so that two processes cannot both find it free.
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

  /** Releases the lease early, if this process still holds it. */
  async release({ name, fence }: Lease): Promise<void> {
    await this.database.write({ tenantId: null }, (tx) =>
      tx.run('UPDATE leases SET until = 0 WHERE name = ? AND holder = ? AND fence = ?', [name, this.holder, fence]),
    );
  }

  /**
   * Runs `work` while holding the lease, renewing it after half its time. Returns `undefined` without running it when
   * another process holds the lease.
   */
  async during<T>(name: string, ms: number, work: () => Promise<T>): Promise<T | undefined> {
    const lease = await this.take(name, ms);
    if (!lease) return undefined;
    let renewal: Promise<unknown> = Promise.resolve();
    const timer = setInterval(() => {
      // A failed renewal is retried at the next interval. If all fail, the lease expires and another process takes
      // over, as intended.
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
