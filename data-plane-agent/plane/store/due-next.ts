import { todayIn } from '../../base/day.js';
import type { Transaction, Value } from '../../base/database/database.js';
import type { Clock } from '../../base/clock.js';
import type { Call } from '../contract/call.js';
import { RESTORABLE_MS } from '../domain/contracts/trash.js';
import { LOOKED_AT_MS } from '../domain/files/scans.js';
import { QUARANTINE_MS, RESTORE_MARGIN_MS, STRAY_MS, UPLOAD_GOOD_MS } from '../domain/files/strays.js';
import { KEPT_OVER_MS } from '../domain/outbox/messages.js';
import { nextOverdueLook } from '../domain/tasks/tasks.js';
import { ENDING } from './expiry.js';
import { WORK_KINDS, type DueMarks, type WorkKind } from './due-work.js';

export interface NextQuestion {
  readonly tx: Transaction;
  readonly tenantId: string;
  readonly timeZone: string;
  readonly now: number;
}

/**
 * When a tenant next has work of a kind, determined from its tables (epoch milliseconds), or `null` when there is none.
 * Each check reads an index.
 */
export const nextDue = (kind: WorkKind, question: NextQuestion): Promise<number | null> => NEXT[kind](question);

/** Finds work that has no due mark. */
export class DueWorkStore {
  private readonly clock: Clock;
  private readonly due: DueMarks;

  constructor(
    private readonly tx: Transaction,
    private readonly call: Call,
    { clock, due }: { readonly clock: Clock; readonly due: DueMarks },
  ) {
    this.clock = clock;
    this.due = due;
  }

  async look(): Promise<void> {
    const { tenantId, timeZone } = this.call;
    for (const kind of WORK_KINDS) {
      const next = await nextDue(kind, { tx: this.tx, tenantId, timeZone, now: this.clock.now() });
      if (next !== null) this.due.at(kind, next);
    }
  }
}

const HOUR_MS = 3_600_000;
/** Expired rows are removed at most once per interval, so that a busy tenant is not visited after each expiry. */
const EXPIRY_EVERY_MS = 10 * 60_000;

const NEXT: Readonly<Record<WorkKind, (question: NextQuestion) => Promise<number | null>>> = {
  audit: async ({ tx, tenantId, now }) =>
    (await tx.get('SELECT 1 AS found FROM audit_log WHERE tenant_id = ? AND position IS NULL LIMIT 1', [tenantId]))
      ? now
      : null,
  documents: ({ tx, tenantId }) =>
    first(
      tx,
      'SELECT min(reading_due_at) AS at FROM extraction_runs WHERE tenant_id = ? AND reading_due_at IS NOT NULL',
      tenantId,
    ),
  expiry: async ({ tx, tenantId, now }) => {
    const rows: (number | null)[] = [];
    for (const { table } of ENDING)
      rows.push(await first(tx, `SELECT min(expires_at) AS at FROM ${table} WHERE tenant_id = ?`, tenantId));
    const ends = [
      ...rows,
      await first(
        tx,
        "SELECT min(expires_at) AS at FROM outbox WHERE tenant_id = ? AND state = 'queued' AND topic <> 'reminder'",
        tenantId,
      ),
      after(
        await first(tx, "SELECT min(created_at) AS at FROM outbox WHERE tenant_id = ? AND state <> 'queued'", tenantId),
        KEPT_OVER_MS,
      ),
    ];
    const end = earliest(ends);
    return end === null ? null : Math.max(end, now + EXPIRY_EVERY_MS);
  },
  'file-orphans': async ({ tx, tenantId, now }) => ahead(await newestUrlStray(tx, tenantId), now),
  'file-scans': async ({ tx, tenantId }) =>
    earliest([
      await first(
        tx,
        'SELECT min(scan_due_at) AS at FROM files WHERE tenant_id = ? AND scan_due_at IS NOT NULL',
        tenantId,
      ),
      after(
        await first(
          tx,
          "SELECT min(coalesce(scanned_at, updated_at)) AS at FROM files WHERE tenant_id = ? AND scan_due_at IS NULL AND size_bytes > 0 AND scan_status IN ('skipped', 'clean', 'error')",
          tenantId,
        ),
        LOOKED_AT_MS,
      ),
    ]),
  'file-sweep': async ({ tx, tenantId, now }) =>
    earliest([
      after(await first(tx, 'SELECT min(created_at) AS at FROM file_uploads WHERE tenant_id = ?', tenantId), STRAY_MS),
      ahead(await newestUrlStray(tx, tenantId), now),
      after(
        await first(
          tx,
          "SELECT min(scanned_at) AS at FROM files WHERE tenant_id = ? AND scan_status = 'infected' AND object_key <> '' AND object_key LIKE 'quarantine/%'",
          tenantId,
        ),
        QUARANTINE_MS,
      ),
      after(
        await first(
          tx,
          "SELECT max(updated_at) AS at FROM files WHERE tenant_id = ? AND scan_status = 'infected' AND object_key <> '' AND object_key NOT LIKE 'quarantine/%'",
          tenantId,
        ),
        HOUR_MS,
      ),
      // The files of contracts deleted earlier were checked already; they stay while another contract needs them.
      after(
        await first(
          tx,
          'SELECT min(deleted_at) AS at FROM contracts WHERE tenant_id = ? AND deleted_at IS NOT NULL AND deleted_at >= ?',
          tenantId,
          now - RESTORABLE_MS - RESTORE_MARGIN_MS,
        ),
        RESTORABLE_MS + RESTORE_MARGIN_MS + 1,
      ),
    ]),
  imports: ({ tx, tenantId }) =>
    first(tx, 'SELECT min(leased_until) AS at FROM running_imports WHERE tenant_id = ?', tenantId),
  outbox: ({ tx, tenantId }) =>
    first(
      tx,
      "SELECT min(CASE WHEN leased_until > due_at THEN leased_until ELSE due_at END) AS at FROM outbox WHERE tenant_id = ? AND state = 'queued'",
      tenantId,
    ),
  tasks: async ({ tx, tenantId, timeZone, now }) => {
    const row = await tx.get(
      "SELECT min(due_date) AS day FROM fulfillment_tasks WHERE tenant_id = ? AND deleted_at IS NULL AND due_date IS NOT NULL AND status IN ('pending', 'in_progress')",
      [tenantId],
    );
    const day = row?.['day'];
    return typeof day === 'string' ? nextOverdueLook(day, { today: todayIn(timeZone, now), timeZone, now }) : null;
  },
};

async function first(tx: Transaction, sql: string, ...values: Value[]): Promise<number | null> {
  const at = (await tx.get(sql, values))?.['at'];
  return at === null || at === undefined ? null : Number(at);
}

/**
 * When an object that was put to the newest upload URL can be distinguished from an upload still in progress, whether
 * confirmed or not.
 */
async function newestUrlStray(tx: Transaction, tenantId: string): Promise<number | null> {
  const newest = [
    await first(tx, 'SELECT max(created_at) AS at FROM files WHERE tenant_id = ?', tenantId),
    await first(tx, 'SELECT max(created_at) AS at FROM file_uploads WHERE tenant_id = ?', tenantId),
  ].filter((at) => at !== null);
  return newest.length === 0 ? null : Math.max(...newest) + UPLOAD_GOOD_MS + STRAY_MS;
}

const after = (at: number | null, ms: number): number | null => (at === null ? null : at + ms);

/** Times in the past have been handled already. */
const ahead = (at: number | null, now: number): number | null => (at !== null && at > now ? at : null);

function earliest(times: readonly (number | null)[]): number | null {
  const found = times.filter((at) => at !== null);
  return found.length === 0 ? null : Math.min(...found);
}
