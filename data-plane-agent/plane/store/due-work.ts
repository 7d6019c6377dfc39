import type { Database, Transaction, Value } from '../../base/database/database.js';
import { slotOf } from './slots.js';

/**
 * What comes round by itself over contract data. `audit`: events are chained; `expiry`: what has an end goes; `tasks`:
 * tasks fall overdue;
 * `outbox`: messages are due; `documents`, `file-scans`: readings and scans wait; `file-sweep`, `file-orphans`: bytes
 * go that nobody will ask for.
 */
export const WORK_KINDS = [
  'audit',
  'documents',
  'expiry',
  'file-orphans',
  'file-scans',
  'file-sweep',
  'outbox',
  'tasks',
] as const;
export type WorkKind = (typeof WORK_KINDS)[number];

export interface DueWork {
  readonly tenantId: string;
  readonly kind: WorkKind;
}

/** What a write leaves to be done, by kind: of several instants the earliest counts. Written within its transaction. */
export class DueMarks {
  private readonly byKind = new Map<WorkKind, number>();

  at(kind: WorkKind, instant: number): void {
    this.byKind.set(kind, Math.min(instant, this.byKind.get(kind) ?? instant));
  }

  /**
   * One statement for all of them; `undefined` when there is nothing to write. In the order of the kinds, so that no
   * two writers wait for each other crosswise.
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
    if (marks) await tx.run(marks.sql, marks.values);
  }
}

const INSERT = 'INSERT INTO due_work (tenant_id, kind, slot, due_at) VALUES';
// PostgreSQL locks the row also where it stays as it is, so that whoever settles it waits for this writer, and sees
// what was written.
const EARLIER =
  'ON CONFLICT (tenant_id, kind, slot) DO UPDATE SET due_at = excluded.due_at WHERE due_work.due_at > excluded.due_at';

/**
 * Work of these kinds that is due, of any tenant, the longest waiting first; at most `limit`. It belongs to nobody
 * until it is leased.
 */
export function findDue(
  database: Database,
  { kinds, now, limit }: { readonly kinds: readonly WorkKind[]; readonly now: number; readonly limit: number },
): Promise<DueWork[]> {
  return database.read({ tenantId: null }, async (tx) => {
    await readUntil(tx, now);
    // SQLite would rather read everything in the order of its groups.
    const byTime = tx.dialect === 'sqlite' ? ' INDEXED BY due_work_by_time' : '';
    const rows = await tx.all(
      `SELECT tenant_id, kind, min(due_at) AS since FROM due_work${byTime} WHERE due_at <= ? AND kind IN (${kinds.map(() => '?').join(', ')}) GROUP BY tenant_id, kind ORDER BY since, tenant_id, kind LIMIT ?`,
      [now, ...kinds, limit],
    );
    return rows.map((row) => ({ tenantId: String(row['tenant_id']), kind: String(row['kind']) as WorkKind })); // it was asked for by these
  });
}

/** Tenants that have work of a kind which is not due yet, in the order of their ids, those after one. */
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

/** Row-level security shows whoever names no tenant the rows up to the instant that they name. */
async function readUntil(tx: Transaction, instant: number): Promise<void> {
  if (tx.dialect === 'postgres') await tx.get("SELECT set_config('duebook.due_until', ?, true)", [String(instant)]);
}

/**
 * Whether this caller has the work until then. What a writer is just adding to it is passed by, and found in the next
 * round.
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

/** Moves a lease on, or lets it go until then; not what a writer has put to another time meanwhile. */
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

/** Puts work that is due later to now. */
export async function bringForward(tx: Transaction, { tenantId, kind }: DueWork, now: number): Promise<void> {
  await tx.run('UPDATE due_work SET due_at = ? WHERE tenant_id = ? AND kind = ? AND due_at > ?', [
    now,
    tenantId,
    kind,
    now,
  ]);
}

/**
 * Ends a lease. What comes next is read from the tables, by `next`, while the rows of the lease are held: a writer that
 * has not committed yet has its own row, or waits for this one. What a writer has put to another time since stays as it
 * is.
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
