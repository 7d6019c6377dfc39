import { LRUCache } from 'lru-cache';
import type { Transaction } from '../../base/database/database.js';
import { dataVersion } from './data-version.js';
import type { Fragment } from './scope.js';

/** Totals that one process keeps: an entry is a few hundred bytes. */
const KEPT = 10_000;

/**
 * Exact totals, counted once for each state of a tenant's data. Each write moves the tenant's data version in its own transaction, and
 * the version is read in the snapshot that is counted, so that a kept total holds on every replica and in every transaction.
 * One for a database, whoever reads it.
 */
export class Totals {
  private readonly kept = new LRUCache<string, { readonly version: number; readonly total: number }>({ max: KEPT });

  /**
   * The total of what `where` selects, from `count` when it is not known for the snapshot of `tx`. `subject` tells apart what is counted
   * (`contracts`, `payments`); the values of `where` must hold all that the result depends on, the day and the scopes among them.
   */
  async total(tx: Transaction, tenantId: string, { subject, where }: { readonly subject: string; readonly where: Fragment }, count: () => Promise<number>): Promise<number> {
    if (tx.writes > 0) return count(); // what this transaction changed has no version yet
    const key = JSON.stringify([tenantId, subject, where.sql, where.values]);
    const version = await dataVersion(tx, tenantId);
    const kept = this.kept.get(key);
    if (kept?.version === version) return kept.total;
    const total = await count();
    this.kept.set(key, { version, total });
    return total;
  }
}
