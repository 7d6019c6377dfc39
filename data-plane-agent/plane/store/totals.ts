import { LRUCache } from 'lru-cache';
import type { Transaction } from '../../base/database/database.js';
import type { PagePosition } from './contract-order.js';
import { dataVersion } from './data-version.js';
import type { Fragment } from '../../base/database/fragments.js';

/** How many totals a process caches; a tenth as many lists of positions. An entry takes a few hundred bytes. */
const KEPT = 10_000;
/** Cached positions per list. */
const PLACES = 100;

/** The positions at which pages of a list begin, by offset. */
export interface Places {
  at(offset: number): PagePosition | undefined;
  keep(offset: number, place: PagePosition | undefined): void;
}

/**
 * Exact totals, counted once per data version of a tenant. Each write increments the version in its own transaction,
 * and the version is read in the same snapshot as the count, so a cached total is valid on every replica and in every
 * transaction. There is one instance per database, shared by all readers.
 */
export class Totals {
  private readonly totals = new LRUCache<string, { readonly version: number; readonly total: number }>({ max: KEPT });
  private readonly sizes = new LRUCache<string, number>({ max: KEPT });
  private readonly lists = new LRUCache<
    string,
    { readonly version: number; readonly places: LRUCache<number, PagePosition> }
  >({ max: KEPT / 10 });

  /**
   * The total of the rows that `where` selects; calls `count` when it is not cached for the snapshot of `tx`. `subject`
   * names what is counted (`contracts`, `payments`). The values of `where` must include everything that the result
   * depends on, such as the day and the scopes.
   */
  async total(
    tx: Transaction,
    { tenantId, subject, where }: { readonly tenantId: string; readonly subject: string; readonly where: Fragment },
    count: () => Promise<number>,
  ): Promise<number> {
    if (tx.writes > 0) return count(); // uncommitted changes of this transaction have no version yet
    const key = JSON.stringify([tenantId, subject, where.sql, where.values]);
    const version = await dataVersion(tx, tenantId);
    const kept = this.totals.get(key);
    if (kept?.version === version) return kept.total;
    const total = await count();
    this.totals.set(key, { version, total });
    return total;
  }

  /** A list of contracts had this total: so many there are at least. */
  hasAtLeast(tenantId: string, total: number): void {
    if (total > this.size(tenantId)) this.sizes.set(tenantId, total);
  }

  /** The largest total of a list of contracts so far. */
  size(tenantId: string): number {
    return this.sizes.get(tenantId) ?? 0;
  }

  /** The cached positions of a list in the data version that `tx` sees. */
  async places(
    tx: Transaction,
    tenantId: string,
    { where, order }: { readonly where: Fragment; readonly order: string },
  ): Promise<Places> {
    const key = JSON.stringify([tenantId, where.sql, where.values, order]);
    const version = await dataVersion(tx, tenantId);
    let list = this.lists.get(key);
    if (list?.version !== version) this.lists.set(key, (list = { version, places: new LRUCache({ max: PLACES }) }));
    const { places } = list;
    return { at: (offset) => places.get(offset), keep: (offset, place) => void (place && places.set(offset, place)) };
  }
}
