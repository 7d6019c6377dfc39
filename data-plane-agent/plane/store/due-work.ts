import type { Database, Transaction, Value } from '../../base/database/database.js';
import { slotOf } from './slots.js';

/**
 * Kinds of background work over contract data. `audit`: chain events; `expiry`: remove expired rows; `tasks`: mark
 * tasks overdue; `outbox`: send messages; `documents`, `file-scans`: read documents, scan files; `file-sweep`,
 * `file-orphans`: remove objects that are no longer needed; `imports`: finish imports that were interrupted.
 */
export const WORK_KINDS = [
  'audit',
  'documents',
  'expiry',
  'file-orphans',
  'file-scans',
  'file-sweep',
  'imports',
  'outbox',
  'tasks',
] as const;
export type WorkKind = (typeof WORK_KINDS)[number];

export interface DueWork {
  readonly tenantId: string;
  readonly kind: WorkKind;
}

/**
 * The work that a write causes, by kind, with the earliest instant of each (epoch milliseconds). Written within the
 * same transaction.
 */
export class DueMarks {
  private readonly byKind = new Map<WorkKind, number>();

  at(kind: WorkKind, instant: number): void {
    this.byKind.set(kind, Math.min(instant, this.byKind.get(kind) ?? instant));
  }

  /** Adds the marks of another write. */
  add({ byKind }: DueMarks): void {
    for (const [kind, instant] of byKind) this.at(kind, instant);
  }

  /**
   * One statement for all marks; `undefined` when there are none. Ordered by kind, so that concurrent writers do not
   * deadlock.
   */
  statement(tenantId: string, slot: number): { readonly sql: string; readonly values: readonly Value[] } | undefined {
    const marks = [...this.byKind].toSorted(([a], [b]) => (a < b ? -1 : 1));
    if (marks.length === 0) return undefined;
    return {
      sql: `${INSERT} ${marks.map(() => '(?, ?, ?, ?)').join(', ')} ${EARLIER}`,
      values: marks.flatMap(([kind, instant]) => [tenantId, kind, slot, Math.trunc(instant)]),
    };
  }

  async write(tx: Transaction, tenantId: string): Promise<void> {
    const marks = this.statement(tenantId, slotOf(tx));
    if (marks) await tx.defer(marks.sql, marks.values);
  }
}

const INSERT = 'INSERT INTO due_work (tenant_id, kind, slot, due_at) VALUES';
// PostgreSQL locks the row even when it does not change, so that the worker that settles it waits for this writer and
// sees what it wrote.
const EARLIER =
  'ON CONFLICT (tenant_id, kind, slot) DO UPDATE SET due_at = excluded.due_at WHERE due_work.due_at > excluded.due_at';

/** How many tenants have work of the kind that is due, counted up to a limit, and the instant since when the oldest waits. */
export function dueSince(
  database: Database,
  { kind, now, limit }: { readonly kind: WorkKind; readonly now: number; readonly limit: number },
): Promise<{ readonly count: number; readonly since: number | null }> {
  return database.read({ tenantId: null }, async (tx) => {
    await readUntil(tx, now);
    const byTime = tx.dialect === 'sqlite' ? ' INDEXED BY due_work_by_time' : '';
    const rows = await tx.all(
      `SELECT tenant_id, due_at FROM due_work${byTime} WHERE due_at <= ? AND kind = ? ORDER BY due_at LIMIT ?`,
      [now, kind, limit],
    );
    const since = rows[0]?.['due_at'];
    return {
      count: new Set(rows.map((row) => row['tenant_id'])).size,
      since: since === undefined ? null : Number(since),
    };
  });
}

/**
 * Due work of these kinds of any tenant, the longest waiting first; at most `limit`. A worker must lease it before
 * working on it.
 */
export function findDue(
  database: Database,
  { kinds, now, limit }: { readonly kinds: readonly WorkKind[]; readonly now: number; readonly limit: number },
): Promise<DueWork[]> {
  return database.read({ tenantId: null }, async (tx) => {
    await readUntil(tx, now);
    // Without this SQLite reads all rows in the order of the groups.
    const byTime = tx.dialect === 'sqlite' ? ' INDEXED BY due_work_by_time' : '';
    const rows = await tx.all(
      `SELECT tenant_id, kind, min(due_at) AS since FROM due_work${byTime} WHERE due_at <= ? AND kind IN (${kinds.map(() => '?').join(', ')}) GROUP BY tenant_id, kind ORDER BY since, tenant_id, kind LIMIT ?`,
      [now, ...kinds, limit],
    );
    return rows.map((row) => ({ tenantId: String(row['tenant_id']), kind: String(row['kind']) as WorkKind })); // limited to `kinds` by the query
  });
}

/** The ids after `after`, in order, of tenants whose work of a kind is not due yet. */
export function tenantsAhead(
  database: Database,
  {
    kind,
    now,
    after,
    limit,
  }: { readonly kind: WorkKind; readonly now: number; readonly after: string; readonly limit: number },
): Promise<string[]> {
  return database.read({ tenantId: null }, async (tx) => {
    await readUntil(tx, Number.MAX_SAFE_INTEGER);
    const rows = await tx.all(
      'SELECT DISTINCT tenant_id FROM due_work WHERE kind = ? AND due_at > ? AND tenant_id > ? ORDER BY tenant_id LIMIT ?',
      [kind, now, after, limit],
    );
    return rows.map((row) => String(row['tenant_id']));
  });
}

/** Row-level security shows a transaction without a tenant the rows due until this instant. */
async function readUntil(tx: Transaction, instant: number): Promise<void> {
  if (tx.dialect === 'postgres') await tx.get("SELECT set_config('duebook.due_until', ?, true)", [String(instant)]);
}

/**
 * Leases work until `until`; returns whether the caller now has it. Rows that another transaction is writing are
 * skipped and found in the next round.
 */
export async function leaseDue(
  tx: Transaction,
  { tenantId, kind }: DueWork,
  { now, until }: { readonly now: number; readonly until: number },
): Promise<boolean> {
  const free =
    tx.dialect === 'postgres'
      ? ' AND slot IN (SELECT slot FROM due_work WHERE tenant_id = ? AND kind = ? AND due_at <= ? FOR UPDATE SKIP LOCKED)'
      : ' AND due_at <= ?';
  const values = tx.dialect === 'postgres' ? [tenantId, kind, now] : [now];
  return (
    (await tx.run(`UPDATE due_work SET due_at = ? WHERE tenant_id = ? AND kind = ?${free}`, [
      until,
      tenantId,
      kind,
      ...values,
    ])) > 0
  );
}

/** Changes the end of a lease, unless a writer has changed the due time meanwhile. */
export async function moveDue(
  tx: Transaction,
  { tenantId, kind }: DueWork,
  { from, to }: { readonly from: number; readonly to: number },
): Promise<boolean> {
  return (
    (await tx.run('UPDATE due_work SET due_at = ? WHERE tenant_id = ? AND kind = ? AND due_at = ?', [
      to,
      tenantId,
      kind,
      from,
    ])) > 0
  );
}

/** Makes work that is due later due now. */
export async function bringForward(tx: Transaction, { tenantId, kind }: DueWork, now: number): Promise<void> {
  await tx.run('UPDATE due_work SET due_at = ? WHERE tenant_id = ? AND kind = ? AND due_at > ?', [
    now,
    tenantId,
    kind,
    now,
  ]);
}

/**
 * Ends a lease. `next` reads the next due time from the tables while the rows of the lease are locked: a concurrent
 * writer either has its own row or waits for this one. Rows whose due time a writer has changed since are left
 * unchanged.
 */
export async function settleDue(
  tx: Transaction,
  { due: { tenantId, kind }, leasedUntil }: { readonly due: DueWork; readonly leasedUntil: number },
  next: () => Promise<number | null>,
): Promise<void> {
  const lock = tx.dialect === 'postgres' ? ' FOR UPDATE' : '';
  const rows = await tx.all(
    `SELECT slot FROM due_work WHERE tenant_id = ? AND kind = ? AND due_at = ? ORDER BY slot${lock}`,
    [tenantId, kind, leasedUntil],
  );
  const [first, ...others] = rows.map(({ slot }) => slot ?? null);
  if (first === undefined) return;
  const at = await next();
  if (at !== null)
    await tx.run('UPDATE due_work SET due_at = ? WHERE tenant_id = ? AND kind = ? AND slot = ?', [
      Math.trunc(at),
      tenantId,
      kind,
      first,
    ]);
  for (const slot of at === null ? [first, ...others] : others)
    await tx.run('DELETE FROM due_work WHERE tenant_id = ? AND kind = ? AND slot = ?', [tenantId, kind, slot]);
}
