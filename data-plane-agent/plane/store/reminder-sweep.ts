import { addDays, type Day } from '../../base/day.js';
import type { Transaction } from '../../base/database/database.js';
import { allOf, fragment } from '../../base/database/fragments.js';
import type { Call } from '../contract/call.js';
import { FINAL_DAYS } from '../domain/collections/ladder.js';
import { byDueDate, isAfter, OPEN } from './line-states.js';
import { linesInScope } from './payment-list.js';

/** An open line whose steps may have come, with what decides on it. */
export interface SweptRow {
  readonly id: string;
  readonly contractId: string;
  readonly dueDate: Day;
  /** Epoch milliseconds. */
  readonly createdAt: number;
  readonly typeCode: string | null;
  readonly templateId: string;
  readonly stageCode: string;
}

/** A place between two lines in the order of a sweep. */
export type SweepPlace = Pick<SweptRow, 'id' | 'dueDate'>;

/** Finds the lines that a sweep must look at, by due date. */
export class ReminderSweep {
  constructor(
    private readonly tx: Transaction,
    private readonly call: Call,
  ) {}

  /** Lines in the caller's scope. Those whose last reminder was decided on are left out: nothing more is due for them. */
  async lines({ after, limit }: { readonly after: SweepPlace | null; readonly limit: number }): Promise<SweptRow[]> {
    const { tx, call } = this;
    const inScope = linesInScope(tx.dialect, call, { joined: true, walk: true });
    const where = allOf([
      inScope.where,
      fragment(
        'payment_lines.deleted_at IS NULL AND payment_lines.due_date <= ?',
        addDays(call.today, call.reminderLeadDays),
      ),
      fragment(
        "(payment_lines.due_date > ? OR NOT EXISTS (SELECT 1 FROM reminders WHERE reminders.tenant_id = payment_lines.tenant_id AND reminders.payment_id = payment_lines.id AND reminders.due_date = payment_lines.due_date AND reminders.step = 'final' AND reminders.status <> 'skipped'))",
        addDays(call.today, -FINAL_DAYS),
      ),
      ...(after === null ? [] : [isAfter(after)]),
    ]);
    const { sql, values } = byDueDate({
      dialect: tx.dialect,
      states: OPEN,
      columns:
        'payment_lines.contract_id, payment_lines.created_at, contracts.type_code, contracts.lifecycle_template_id, contracts.stage_code',
      source: inScope.source,
      where,
      limit,
    });
    const rows = await tx.all(sql, values);
    return rows.map((row) => ({
      id: String(row['id']),
      contractId: String(row['contract_id']),
      dueDate: String(row['due_date']),
      createdAt: Number(row['created_at']),
      typeCode: row['type_code'] === null ? null : String(row['type_code']),
      templateId: String(row['lifecycle_template_id']),
      stageCode: String(row['stage_code']),
    }));
  }
}
