import { LRUCache } from 'lru-cache';
import type { Database, Row, Scope, Transaction } from '../../base/database/database.js';
import type { DueMarks } from './due-work.js';
import { slotOf } from './slots.js';
import { waiting } from './waiting-figures.js';

/** What the writes of a transaction have to note with its data version. */
export interface VersionNotes {
  readonly due: DueMarks;
  /** What they add to the rollups, as `textOf` wrote it; `null` if that is not known. */
  readonly changes: string | null;
  /** Whether that is left to be added to the rollups later. */
  readonly leaves: boolean;
  /** Whether they also delete what is noted of old versions. On PostgreSQL that is part of its statement. */
  readonly deletesOld: boolean;
}

/** Says which writes delete what is noted of old versions: the first of a tenant in a process, and then one in 64. */
export class DeletionTurns {
  private readonly writes = new LRUCache<string, number>({ max: TENANTS });

  next(tenantId: string): boolean {
    const before = this.writes.get(tenantId) ?? 0;
    this.writes.set(tenantId, (before + 1) % WRITES_FOR_EACH);
    return before === 0;
  }
}

const WRITES_FOR_EACH = 64;
/** The tenants whose writes a process counts. */
const TENANTS = 10_000;

/**
 * Increments the tenant's data version within the transaction of writes, so that what is cached under it stays exact
 * on every replica, writes what they add to the rollups under the new version, leaves that to be added to the rollups
 * later, and writes the due marks: on PostgreSQL all in one statement. A slot's row is locked until the commit, so its
 * versions are in the order of commits.
 */
export async function moveDataVersion(
  tx: Transaction,
  tenantId: string,
  { due, changes, leaves, deletesOld }: VersionNotes,
): Promise<void> {
  const slot = slotOf(tx);
  const marks = due.statement(tenantId, slot);
  const waits = leaves && changes !== null ? waiting(tenantId, changes) : undefined;
  if (tx.dialect === 'postgres') {
    const also = waits ? `, waits AS (${waits.sql})` : '';
    await tx.defer(marks ? `${MOVED}${also}, noted AS (${NOTED}) ${marks.sql}` : `${MOVED}${also} ${NOTED}`, [
      tenantId,
      slot,
      ...(waits?.values ?? []),
      changes,
      ...(marks?.values ?? []),
    ]);
    return;
  }
  await tx.defer(MOVE, [tenantId, slot]);
  await tx.defer(NOTED_NOW, [changes, tenantId, slot]);
  if (deletesOld) await tx.defer(DELETE_OLD, [tenantId, slot, tenantId, slot, KEPT_ON_SQLITE]);
  if (marks) await tx.defer(marks.sql, marks.values);
  if (waits) await tx.defer(waits.sql, waits.values);
}

/** For how many versions of a slot increments are kept. */
const KEPT_ON_SQLITE = 512;
/** On PostgreSQL, and at which of them older ones are deleted. */
const KEPT_ON_POSTGRES = { versions: 32, every: 16 } as const;

// A version that was there before, as after versions were deleted: which of two histories a reader knows is unclear.
const UNKNOWN = 'ON CONFLICT (tenant_id, slot, version) DO UPDATE SET changes = NULL';
const MOVE =
  'INSERT INTO data_versions (tenant_id, slot, version) VALUES (?, ?, 1) ON CONFLICT (tenant_id, slot) DO UPDATE SET version = data_versions.version + 1';
// What SQLite returns it first collects in a table of its own, which takes 0.1 ms: to read the row again takes a twentieth.
const NOTED_NOW = `INSERT INTO rollup_changes (tenant_id, slot, version, changes) SELECT tenant_id, slot, version, ? FROM data_versions WHERE tenant_id = ? AND slot = ? ${UNKNOWN}`;
const DELETE_OLD =
  'DELETE FROM rollup_changes WHERE tenant_id = ? AND slot = ? AND version <= (SELECT version FROM data_versions WHERE tenant_id = ? AND slot = ?) - ?';
const MOVED =
  `WITH moved AS (${MOVE} RETURNING tenant_id, slot, version), ` +
  `dropped AS (DELETE FROM rollup_changes USING moved WHERE rollup_changes.tenant_id = moved.tenant_id AND rollup_changes.slot = moved.slot AND moved.version % ${KEPT_ON_POSTGRES.every} = 0 AND rollup_changes.version <= moved.version - ${KEPT_ON_POSTGRES.versions})`;
const NOTED = `INSERT INTO rollup_changes (tenant_id, slot, version, changes) SELECT tenant_id, slot, version, CAST(? AS text) FROM moved ${UNKNOWN}`;

const VERSION = 'SELECT sum(version) AS version FROM data_versions WHERE tenant_id = ?';

export async function dataVersion(tx: Transaction, tenantId: string): Promise<number> {
  return known.get(tx) ?? versionIn(await tx.get(VERSION, [tenantId]));
}

/** The version of a snapshot, of one tenant: it is read once, also for those who ask while it is read. */
export function beginVersion(tx: Transaction, tenantId: string): Promise<number> {
  const version = dataVersion(tx, tenantId);
  known.set(tx, version);
  return version;
}

const known = new WeakMap<Transaction, Promise<number>>();

/** The version of what is committed, without a transaction. */
export const presentVersion = async (
  database: Database,
  scope: Scope & { readonly tenantId: string },
): Promise<number> => versionIn(await database.glance(scope, VERSION));

const versionIn = (row: Row | undefined): number => Number(row?.['version'] ?? 0);
