import { LRUCache } from 'lru-cache';
import type { Transaction } from '../../base/database/database.js';
import { fragment, type Fragment } from '../../base/database/fragments.js';
import { newId } from '../../base/ids.js';
import { rollupsIn, type Increments } from '../domain/analytics/increments.js';
import { Entries } from '../domain/analytics/rollups.js';
import { writeEntries } from './rollups.js';

/** Transactions of a process leave so much before one adds it, or characters: to add them takes a few milliseconds. */
const MOST_LEFT = 64;
const MOST_CHARACTERS = 32 * 1024;
/** The tenants whose writes a process counts. */
const TENANTS = 10_000;

/** While another transaction adds, so many times as much may be left: it would have to wait for the other's commit. */
const MORE_MEANWHILE = 4;

/** Says which transactions add what waits: the first of a tenant in a process, and then each that comes after enough. */
export class WaitingCount {
  private readonly left = new LRUCache<string, { readonly times: number; readonly characters: number }>({
    max: TENANTS,
  });
  /** By tenant, the transaction that adds. */
  private readonly adding = new Map<string, object>();

  /**
   * How many of those that wait a transaction adds, with its own, that would leave so many characters; for most 0.
   * `whole` is what the transaction commits, where others run at the same time: it adds until `ended`.
   */
  due(tenantId: string, characters: number, whole?: object): number {
    const before = this.left.get(tenantId);
    const times = (before?.times ?? 0) + 1;
    const all = (before?.characters ?? 0) + characters;
    const most = this.adding.has(tenantId) ? MORE_MEANWHILE : 1;
    if (before && times < most * MOST_LEFT && all < most * MOST_CHARACTERS) {
      this.left.set(tenantId, { times, characters: all });
      return 0;
    }
    this.left.set(tenantId, { times: 0, characters: 0 });
    if (whole) this.adding.set(tenantId, whole);
    // Twice as many, so that what ended processes have left is added too.
    return before ? 2 * times : MOST_LEFT;
  }

  /** To be called with what a write of the tenant has committed, or tried to. */
  ended(tenantId: string, wholes: ReadonlySet<object>): void {
    const one = this.adding.get(tenantId);
    if (one && wholes.has(one)) this.adding.delete(tenantId);
  }
}

/** Leaves what writes add to the rollups, as `textOf` wrote it, to be added later. */
export const waiting = (tenantId: string, changes: string): Fragment =>
  fragment('INSERT INTO waiting_figures (tenant_id, id, changes) VALUES (?, ?, ?)', tenantId, newId(), changes);

/**
 * What is still to be added to the rollups as `tx` sees them. A transaction that writes, whose statements do not see one
 * snapshot, must read it before the rollups: what it has read is then not added to them meanwhile.
 */
export async function waitingIn(
  tx: Transaction,
  tenantId: string,
  { writes }: { readonly writes: boolean },
): Promise<Increments[]> {
  // SQLite has one writer: nobody else adds meanwhile.
  const lock = writes && tx.dialect === 'postgres' ? ' FOR SHARE' : '';
  const rows = await tx.all(`SELECT changes FROM waiting_figures WHERE tenant_id = ?${lock}`, [tenantId]);
  return rows.flatMap(({ changes }) => increments(changes));
}

interface Adding {
  /** How many are added at most. */
  readonly most?: number;
  /** Whether what another transaction holds just now is waited for, and not passed over. */
  readonly waits?: boolean;
  /** What the writes of this transaction add themselves: entries, to which all is added, and the increments of others. */
  readonly own?: { readonly entries: Entries; readonly more: readonly Increments[] };
}

/**
 * Adds to the rollups what so many transactions have left, the oldest first, and what this one adds itself. Returns how
 * many there were.
 */
export async function addWaiting(
  tx: Transaction,
  tenantId: string,
  { most = MOST_LEFT, waits = false, own: { entries, more } = { entries: new Entries(), more: [] } }: Adding = {},
): Promise<number> {
  for (const one of more) entries.add(one);
  if (most === 0) {
    await writeEntries(tx, { tenantId }, entries);
    return 0;
  }
  const rows = await tx.all(TAKE[tx.dialect][waits ? 'all' : 'free'], [tenantId, most]);
  for (const { changes } of rows) for (const one of increments(changes)) entries.add(one);
  await writeEntries(tx, { tenantId, slot: SLOT }, entries);
  return rows.length;
}

/** Writers that add seldom wait for each other. */
const SLOT = 0;

const takenWith = (lock: string): string =>
  `WITH taken AS MATERIALIZED (SELECT tenant_id, id FROM waiting_figures WHERE tenant_id = ? ORDER BY id LIMIT ? ${lock}) ` +
  'DELETE FROM waiting_figures USING taken WHERE waiting_figures.tenant_id = taken.tenant_id AND waiting_figures.id = taken.id RETURNING waiting_figures.changes';
const OLDEST =
  'DELETE FROM waiting_figures WHERE rowid IN (SELECT rowid FROM waiting_figures WHERE tenant_id = ? ORDER BY id LIMIT ?) RETURNING changes';
const TAKE = {
  sqlite: { all: OLDEST, free: OLDEST },
  postgres: { all: takenWith('FOR UPDATE'), free: takenWith('FOR UPDATE SKIP LOCKED') },
} as const;

function increments(changes: unknown): Increments[] {
  const found = rollupsIn(String(changes));
  if (!found) throw new Error('figures wait in a form that this release does not know');
  return found;
}
