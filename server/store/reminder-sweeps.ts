import { addDays, instantOf, todayIn, type Day } from '../../data-plane-agent/base/day.js';
import { isOneOfTexts } from '../../data-plane-agent/base/database/fragments.js';
import type { Row, Transaction } from '../../data-plane-agent/base/database/database.js';
import { settingsOf } from '../access/settings.js';
import type { Settings } from '../access/settings.schemas.js';
import { numberOf, textOf, textOrNull } from './rows.js';

/** When an organisation's automatic reminders are due. */
export interface ReminderSweepRecord {
  readonly tenantId: string;
  /** When the schedule looks at it again, in epoch milliseconds; it decides then whether a sweep is due. */
  readonly nextAt: number;
  /** The day of the last finished sweep, in the time zone that the organisation had then. */
  readonly lastDate: Day | null;
}

/** The schedule of the sweeps for reminders: each organisation has one row. */
export class ReminderSweepStore {
  constructor(private readonly tx: Transaction) {}

  /**
   * The first sweep of a new organisation is at its next reminder hour: it has no contracts yet, and what is entered
   * later on its first day is not reminded of at once.
   */
  async begin({
    tenantId,
    settings,
    at,
  }: {
    tenantId: string;
    settings: Partial<Settings>;
    at: number;
  }): Promise<void> {
    const { timezone, reminderHour } = settingsOf(settings);
    const today = todayIn(timezone, at);
    const hour = instantOf(today, reminderHour, timezone);
    const isOver = hour <= at;
    await this.tx.run('INSERT INTO reminder_sweeps (tenant_id, next_at, last_date) VALUES (?, ?, ?)', [
      tenantId,
      isOver ? instantOf(addDays(today, 1), reminderHour, timezone) : hour,
      isOver ? today : null,
    ]);
  }

  /** After a change of the hour or the time zone: the schedule looks at once. */
  async reconsider(tenantId: string): Promise<void> {
    await this.tx.run('UPDATE reminder_sweeps SET next_at = 0 WHERE tenant_id = ?', [tenantId]);
  }

  /** The schedule looks at once, if the last sweep failed with one of these codes. */
  async resume(tenantId: string, codes: readonly string[]): Promise<void> {
    const failed = isOneOfTexts(this.tx.dialect, 'last_error', codes);
    await this.tx.run(`UPDATE reminder_sweeps SET next_at = 0 WHERE tenant_id = ? AND ${failed.sql}`, [
      tenantId,
      ...failed.values,
    ]);
  }

  async byTenant(tenantId: string): Promise<ReminderSweepRecord | undefined> {
    const row = await this.tx.get(`SELECT ${COLUMNS} FROM reminder_sweeps WHERE tenant_id = ?`, [tenantId]);
    return row && sweepOf(row);
  }

  /** Active organisations to look at, the longest waiting first. */
  async due({ at, limit }: { at: number; limit: number }): Promise<string[]> {
    const rows = await this.tx.all(
      "SELECT s.tenant_id FROM reminder_sweeps s JOIN tenants t ON t.id = s.tenant_id WHERE s.next_at <= ? AND t.status = 'active' ORDER BY s.next_at, s.tenant_id LIMIT ?",
      [at, limit],
    );
    return rows.map((row) => textOf(row, 'tenant_id'));
  }

  /** Unless it was rescheduled concurrently. */
  async postpone({ tenantId, nextAt }: ReminderSweepRecord, until: number): Promise<void> {
    await this.tx.run('UPDATE reminder_sweeps SET next_at = ? WHERE tenant_id = ? AND next_at = ?', [
      until,
      tenantId,
      nextAt,
    ]);
  }

  /** A reschedule that happened during the sweep is kept. */
  async finish(
    { tenantId, nextAt }: ReminderSweepRecord,
    { lastDate, runId, at, next }: { lastDate: Day; runId: string; at: number; next: number },
  ): Promise<void> {
    await this.tx.run(
      'UPDATE reminder_sweeps SET next_at = CASE WHEN next_at = ? THEN ? ELSE next_at END, last_date = ?, last_run_id = ?, last_finished_at = ?, last_error = NULL, last_error_at = NULL WHERE tenant_id = ?',
      [nextAt, next, lastDate, runId, at, tenantId],
    );
  }

  async fail(
    { tenantId, nextAt }: ReminderSweepRecord,
    { error, at, next }: { error: string; at: number; next: number },
  ): Promise<void> {
    await this.tx.run(
      'UPDATE reminder_sweeps SET next_at = CASE WHEN next_at = ? THEN ? ELSE next_at END, last_error = ?, last_error_at = ? WHERE tenant_id = ?',
      [nextAt, next, error, at, tenantId],
    );
  }
}

const COLUMNS = 'tenant_id, next_at, last_date';

const sweepOf = (row: Row): ReminderSweepRecord => ({
  tenantId: textOf(row, 'tenant_id'),
  nextAt: numberOf(row, 'next_at'),
  lastDate: textOrNull(row, 'last_date'),
});
