import type { Clock } from '../../data-plane-agent/base/clock.js';
import { addDays, instantOf, todayIn, type Day } from '../../data-plane-agent/base/day.js';
import type { Database } from '../../data-plane-agent/base/database/database.js';
import { isFailure } from '../../data-plane-agent/base/failures.js';
import { newId } from '../../data-plane-agent/base/ids.js';
import type { Log } from '../../data-plane-agent/base/log.js';
import { bind } from '../../data-plane-agent/plane/contract/data-plane.js';
import { OPERATIONS } from '../../data-plane-agent/plane/operations/index.js';
import { settingsOf } from '../access/settings.js';
import { AWAY_CODES } from '../data-planes/away.js';
import type { DataPlanes } from '../data-planes/for-tenant.js';
import { systemCall } from '../data-planes/system-call.js';
import { ReminderSweepStore, type ReminderSweepRecord } from '../store/reminder-sweeps.js';
import { TenantStore, type TenantRecord } from '../store/tenants.js';
import type { Sweep } from './sweep.js';

/** The scheduled sweeps for reminders. */
export interface ReminderSweeps {
  isDue(): Promise<boolean>;
  /**
   * Sweeps for every organisation whose reminder hour has come on a day on which it was not swept yet, a few at a time.
   * Ends between two pages when the signal is aborted; the next run continues.
   */
  run(signal: AbortSignal): Promise<void>;
  /** A data plane that was away is back: if the organisation's sweep of today failed for that, it is due now. */
  resume(tenantId: string): Promise<void>;
}

export const SWEEP_RESULTS = ['completed', 'interrupted', 'unavailable', 'failed'] as const;
export type SweepResult = (typeof SWEEP_RESULTS)[number];

export interface SweepsParts {
  readonly database: Database;
  readonly clock: Clock;
  readonly log: Log;
  readonly dataPlanes: DataPlanes;
  readonly sweep: Sweep;
  readonly onSwept: (result: SweepResult) => void;
}

/** Organisations swept in parallel, so that a slow data plane delays only a few others. */
const AT_ONCE = 8;
/** Organisations fetched per query. */
const BATCH = 200;
/** How long a page may take before the organisation is put off. */
const TIMEOUT_MS = 20_000;
/** When an organisation is tried again whose data plane is away, or whose sweep failed. */
const RETRY_MS = 5 * 60_000;

export function createReminderSweeps({
  database,
  clock,
  log,
  dataPlanes,
  sweep,
  onSwept,
}: SweepsParts): ReminderSweeps {
  const scope = { tenantId: null };
  const due = (limit: number): Promise<string[]> =>
    database.read(scope, (tx) => new ReminderSweepStore(tx).due({ at: clock.now(), limit }));

  async function look(tenantId: string, signal: AbortSignal): Promise<void> {
    const found = await database.read(scope, async (tx) => ({
      tenant: await new TenantStore(tx).byId(tenantId),
      record: await new ReminderSweepStore(tx).byTenant(tenantId),
    }));
    const { tenant, record } = found;
    if (tenant?.status !== 'active' || !record) return;
    const now = clock.now();
    const { today, from } = sweepTime({ tenant, lastDate: record.lastDate, now });
    if (from > now) return database.write(scope, (tx) => new ReminderSweepStore(tx).postpone(record, from));
    await work({ tenant, record, today, now, signal });
  }

  async function work({
    tenant,
    record,
    today,
    now,
    signal,
  }: {
    readonly tenant: TenantRecord;
    readonly record: ReminderSweepRecord;
    readonly today: Day;
    readonly now: number;
    readonly signal: AbortSignal;
  }): Promise<void> {
    const { id: tenantId, settings } = tenant;
    const actor = { kind: 'system', id: null, name: 'reminders', ip: null, requestId: newId() } as const;
    const call = { ...systemCall({ tenantId, settings, actor, at: now }), timeoutMs: TIMEOUT_MS };
    const plane = bind(dataPlanes.forTenant(tenantId), call, { operations: OPERATIONS });
    try {
      const { runId, isComplete } = await sweep({ tenantId, plane, signal });
      if (!isComplete) return onSwept('interrupted'); // still due: continued by the next process
      const { from: next } = sweepTime({ tenant, lastDate: today, now });
      await database.write(scope, (tx) =>
        new ReminderSweepStore(tx).finish(record, { lastDate: today, runId, at: clock.now(), next }),
      );
      onSwept('completed');
    } catch (error) {
      const wasAway = AWAY.some((code) => isFailure(error, code));
      onSwept(wasAway ? 'unavailable' : 'failed');
      if (!wasAway) logged(tenantId)(error);
      const at = clock.now();
      await database.write(scope, (tx) =>
        new ReminderSweepStore(tx).fail(record, { error: reasonOf(error), at, next: at + RETRY_MS }),
      );
    }
  }

  const logged = (tenantId: string) => (error: unknown) =>
    log.error({ err: error, job: 'reminders', tenantId }, 'scheduled work failed for an organisation');

  return {
    isDue: async () => (await due(1)).length > 0,
    resume: (tenantId) => database.write(scope, (tx) => new ReminderSweepStore(tx).resume(tenantId, AWAY)),
    run: async (signal) => {
      const seen = new Set<string>();
      while (!signal.aborted) {
        const found = (await due(BATCH)).filter((tenantId) => !seen.has(tenantId));
        if (found.length === 0) return;
        for (const tenantId of found) seen.add(tenantId);
        const waiting = found.values();
        const worker = async (): Promise<void> => {
          for (let next = waiting.next(); next.done !== true && !signal.aborted; next = waiting.next())
            await look(next.value, signal).catch(logged(next.value));
        };
        await Promise.all(Array.from({ length: AT_ONCE }, worker));
      }
    },
  };
}

/**
 * The organisation's present day, and from when its next sweep is due: the reminder hour of today, or of the day after
 * the last sweep. An hour that the clocks skip is the next one that exists; of one that comes twice, it is the first.
 */
export function sweepTime({
  tenant: { settings },
  lastDate,
  now,
}: {
  readonly tenant: Pick<TenantRecord, 'settings'>;
  readonly lastDate: Day | null;
  readonly now: number;
}): { readonly today: Day; readonly from: number } {
  const { timezone, reminderHour } = settingsOf(settings);
  const today = todayIn(timezone, now);
  // After a move to a zone in the west, the last sweep may be of a day that has yet to come there.
  const day = lastDate !== null && lastDate >= today ? addDays(lastDate, 1) : today;
  return { today, from: instantOf(day, reminderHour, timezone) };
}

const AWAY = [...AWAY_CODES, 'DATA_PLANE_OUTCOME_UNKNOWN'] as const;

/** A code: the text of an error may have contract data. */
const reasonOf = (error: unknown): string => (isFailure(error) ? error.code : 'INTERNAL');
