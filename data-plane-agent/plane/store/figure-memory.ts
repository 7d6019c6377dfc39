import { LRUCache } from 'lru-cache';
import type { Transaction } from '../../base/database/database.js';
import { together } from '../../base/together.js';
import type { Increments } from '../domain/analytics/increments.js';
import { changesSince, versionsOf, type Versions } from './rollup-changes.js';

/** How many bytes of figures a process keeps, about. */
const KEPT = 16 * 1024 * 1024;
/** Answers of one caller are made of about five. */
const MOST = 2_000;
/**
 * Figures are read anew after this time, in milliseconds, in case the tables were changed by other means than operations,
 * as by an operator.
 */
const KEPT_MS = 60_000;

/** Figures of one kind, for one scope. */
export interface Asked<F extends object> {
  /** Everything that the figures depend on besides the rollups. */
  readonly key: string;
  read(): Promise<F>;
  /** The figures after some increments; `figures` itself does not change. */
  add(figures: F, increments: readonly Increments[]): F;
  /** The number of bytes that figures take, about. */
  bytes(figures: F): number;
}

interface Kept {
  readonly versions: Versions;
  readonly figures: object;
  readonly bytes: number;
}

/**
 * Figures that were read from the rollups, with the versions of the snapshot that they were read in. In a later snapshot
 * the increments of the writes in between are added to them, so that what it costs to read figures after a write depends
 * on the write. Versions, increments and figures are of the same snapshot, so this is exact on every replica. There is one
 * instance per database.
 */
export class FigureMemory {
  private readonly kept = new LRUCache<string, Kept>({
    max: MOST,
    maxSize: KEPT,
    ttl: KEPT_MS,
    sizeCalculation: ({ bytes, versions }, key) => bytes + 2 * key.length + 40 * versions.size,
  });

  /** The figures in the snapshot of `tx`, which must not write. */
  async figures<F extends object>(tx: Transaction, tenantId: string, { key, read, add, bytes }: Asked<F>): Promise<F> {
    const name = `${tenantId} ${key}`;
    const kept = this.kept.get(name);
    const since = kept && (await changesSince(tx, tenantId, kept.versions));
    if (kept && since) {
      const before = kept.figures as F; // the key names the kind
      if (since.increments.length === 0) return before;
      const figures = add(before, since.increments);
      this.kept.set(name, { ...since, figures, bytes: bytes(figures) }, { noUpdateTTL: true });
      return figures;
    }
    const [versions, figures] = await together(versionsOf(tx, tenantId), read());
    this.kept.set(name, { versions, figures, bytes: bytes(figures) });
    return figures;
  }
}
