import { todayIn } from '../../base/day.js';
import type { Transaction, Value } from '../../base/database/database.js';
import type { Clock } from '../../base/clock.js';
import type { Call } from '../contract/call.js';
import { RESTORABLE_MS } from '../domain/contracts/trash.js';
import { LOOKED_AT_MS } from '../domain/files/scans.js';
import { QUARANTINE_MS, RESTORE_MARGIN_MS, STRAY_MS, UPLOAD_GOOD_MS } from '../domain/files/strays.js';
import { KEPT_OVER_MS } from '../domain/outbox/messages.js';
import { nextOverdueLook } from '../domain/tasks/tasks.js';
import { WORK_KINDS, type DueMarks, type WorkKind } from './due-work.js';

export interface NextQuestion {
  readonly tx: Transaction;
  readonly tenantId: string;
  readonly timeZone: string;
  readonly now: number;
}

/**
 * When a tenant has work of a kind again, by what is in its tables; `null` when there is none in sight. Each is a look
 * into an index.
 */
export const nextDue = (kind: WorkKind, question: NextQuestion): Promise<number | null> => NEXT[kind](question);

/** Finds what is to be done without having been told. */
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
/**
 * What ends goes in pieces of so much time: a tenant that writes all day is looked at now and then, not after each end.
 */
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
    const ends = [
      await first(tx, 'SELECT min(expires_at) AS at FROM idempotency_records WHERE tenant_id = ?', tenantId),
      await first(tx, 'SELECT min(expires_at) AS at FROM import_batches WHERE tenant_id = ?', tenantId),
      await first(tx, 'SELECT min(expires_at) AS at FROM dynamic_field_forms WHERE tenant_id = ?', tenantId),
      await first(tx, "SELECT min(expires_at) AS at FROM outbox WHERE tenant_id = ? AND state = 'queued'", tenantId),
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
      // Files of contracts that were deleted before that stay as long as another contract needs them.
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

/** When what was put to the URL of the newest upload can be told from what is on its way, confirmed or not. */
async function newestUrlStray(tx: Transaction, tenantId: string): Promise<number | null> {
  const newest = [
    await first(tx, 'SELECT max(created_at) AS at FROM files WHERE tenant_id = ?', tenantId),
    await first(tx, 'SELECT max(created_at) AS at FROM file_uploads WHERE tenant_id = ?', tenantId),
  ].filter((at) => at !== null);
  return newest.length === 0 ? null : Math.max(...newest) + UPLOAD_GOOD_MS + STRAY_MS;
}

const after = (at: number | null, ms: number): number | null => (at === null ? null : at + ms);

/** What is over has been done. */
const ahead = (at: number | null, now: number): number | null => (at !== null && at > now ? at : null);

function earliest(times: readonly (number | null)[]): number | null {
  const found = times.filter((at) => at !== null);
  return found.length === 0 ? null : Math.min(...found);
}
