import { LRUCache } from 'lru-cache';
import type { Transaction } from '../../base/database/database.js';
import type { PagePosition } from './contract-order.js';
import { dataVersion } from './data-version.js';
import type { Fragment } from '../../base/database/fragments.js';

/** Totals, and lists with remembered places, that one process keeps: an entry is a few hundred bytes. */
const KEPT = 10_000;
/** Places that are remembered of one list. */
const PLACES = 100;

/** Where the pages of one list begin, by their offset. */
export interface Places {
  at(offset: number): PagePosition | undefined;
  keep(offset: number, place: PagePosition | undefined): void;
}

/**
 * Exact totals, counted once for each state of a tenant's data. Each write moves the tenant's data version in its own
 * transaction, and the version is read in the snapshot that is counted, so that a kept total holds on every replica and
 * in every transaction. One for a database, whoever reads it.
 */
export class Totals {
  private readonly totals = new LRUCache<string, { readonly version: number; readonly total: number }>({ max: KEPT });
  private readonly lists = new LRUCache<
    string,
    { readonly version: number; readonly places: LRUCache<number, PagePosition> }
  >({ max: KEPT / 10 });

  /**
   * The total of what `where` selects, from `count` when it is not known for the snapshot of `tx`. `subject` tells
   * apart what is counted (`contracts`, `payments`); the values of `where` must hold all that the result depends on,
   * the day and the scopes among them.
   */
  async total(
    tx: Transaction,
    { tenantId, subject, where }: { readonly tenantId: string; readonly subject: string; readonly where: Fragment },
    count: () => Promise<number>,
  ): Promise<number> {
    if (tx.writes > 0) return count(); // what this transaction changed has no version yet
    const key = JSON.stringify([tenantId, subject, where.sql, where.values]);
    const version = await dataVersion(tx, tenantId);
    const kept = this.totals.get(key);
    if (kept?.version === version) return kept.total;
    const total = await count();
    this.totals.set(key, { version, total });
    return total;
  }

  /** Where pages of a list begin in the state of the data that `tx` sees, as far as somebody has been there. */
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
