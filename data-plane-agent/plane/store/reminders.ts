import type { Row, Transaction } from '../../base/database/database.js';
import { allOf, fragment, isOneOf, type Fragment } from '../../base/database/fragments.js';
import { isId } from '../../base/ids.js';
import type { Call } from '../contract/call.js';
import type { ReminderDeliveryQuery } from '../contract/records/collections.js';
import type { ReminderStatus } from '../contract/vocabulary.js';
import { reminders, type ReminderRow } from '../tables/reminders.js';
import { ofContract, type ChangeRecorder } from './change-recorder.js';
import { withinScope } from './scope.js';
import type { Totals } from './totals.js';

/** Which reminders to list; `null` and `undefined` do not limit. */
export type DeliveryFilter = Omit<ReminderDeliveryQuery, 'page' | 'pageSize'>;

/** SQLite, which has no statistics, would rather read all reminders in the order of their ids than sort a few. */
const inOrder = (rows: readonly Row[]): ReminderRow[] =>
  rows.map((row) => reminders.decode(row)).sort((a, b) => (a.id < b.id ? -1 : 1));

/** Reminders that were decided on, of lines in the caller's scope. */
export class ReminderStore {
  private readonly recorder: ChangeRecorder;
  private readonly totals: Totals;

  constructor(
    private readonly tx: Transaction,
    private readonly call: Call,
    { recorder, totals }: { readonly recorder: ChangeRecorder; readonly totals: Totals },
  ) {
    this.recorder = recorder;
    this.totals = totals;
  }

  /** Those of lines that the caller has found, oldest first. */
  async ofLines(lineIds: readonly string[]): Promise<ReminderRow[]> {
    if (lineIds.length === 0) return [];
    const among = isOneOf(this.tx.dialect, 'payment_id', lineIds);
    const rows = await this.tx.all(
      `SELECT ${reminders.columnNames} FROM reminders WHERE tenant_id = ? AND ${among.sql}`,
      [this.call.tenantId, ...among.values],
    );
    return inOrder(rows);
  }

  /** As `decide`, for many at once. Returns the ids of those that were added. */
  async decideAll(rows: readonly ReminderRow[]): Promise<ReadonlySet<string>> {
    if (rows.length === 0) return new Set();
    const { tx, call } = this;
    const added = await reminders.insertNew(tx, call.tenantId, rows);
    const ids = rows.map(({ id }) => id);
    const present = new Set(added === rows.length ? ids : (await this.stepsOf(ids)).map(([id]) => id));
    for (const row of rows) if (present.has(row.id)) this.recordChange(null, row);
    return present;
  }

  /**
   * Adds a decision, unless the same one was made concurrently: a line has one for each step, occurrence and due date.
   * Returns whether it was added.
   */
  async decide(row: ReminderRow): Promise<boolean> {
    if ((await reminders.insertNew(this.tx, this.call.tenantId, [row])) === 0) return false;
    this.recordChange(null, row);
    return true;
  }

  /** One of a line in the caller's scope. */
  async find(id: string): Promise<ReminderRow | undefined> {
    if (!isId(id)) return undefined;
    return (await this.some(fragment('reminders.id = ?', id), { limit: 1 }))[0];
  }

  /** Those of a run, in the order in which they were decided on. */
  async ofRun(runId: string, { limit }: { readonly limit: number }): Promise<ReminderRow[]> {
    return isId(runId) ? this.some(fragment('reminders.run_id = ?', runId), { limit }) : [];
  }

  /** The number of those of a run, by status; without those that have none. */
  async countsOfRun(runId: string): Promise<ReadonlyMap<string, number>> {
    if (!isId(runId)) return new Map();
    const { source, where } = this.select({}, fragment('reminders.run_id = ?', runId));
    const rows = await this.tx.all(
      `SELECT reminders.status AS status, count(*) AS number FROM ${source} WHERE ${where.sql} GROUP BY reminders.status`,
      where.values,
    );
    return new Map(rows.map((row) => [String(row['status']), Number(row['number'])]));
  }

  /** Whether a run has decided on a reminder since the instant. */
  async hasRun(runId: string, { since }: { readonly since: number }): Promise<boolean> {
    const row = await this.tx.get(
      'SELECT 1 AS found FROM reminders WHERE tenant_id = ? AND run_id = ? AND created_at >= ? LIMIT 1',
      [this.call.tenantId, runId, since],
    );
    return row !== undefined;
  }

  /** Those that a message of the outbox carries, by default the queued ones, in the order in which they were decided on. */
  async ofMessage(messageId: string, statuses: readonly ReminderStatus[] = ['queued']): Promise<ReminderRow[]> {
    if (!isId(messageId)) return [];
    const among = statuses.map(() => '?').join(', ');
    const rows = await this.tx.all(
      `SELECT ${reminders.columnNames} FROM reminders WHERE tenant_id = ? AND message_id = ? AND status IN (${among})`,
      [this.call.tenantId, messageId, ...statuses],
    );
    return inOrder(rows);
  }

  /** The step of each of these, by id. */
  async stepsOf(ids: readonly string[]): Promise<[id: string, step: string][]> {
    if (ids.length === 0) return [];
    const among = isOneOf(this.tx.dialect, 'id', ids);
    const rows = await this.tx.all(`SELECT id, step FROM reminders WHERE tenant_id = ? AND ${among.sql}`, [
      this.call.tenantId,
      ...among.values,
    ]);
    return rows.map((row) => [String(row['id']), String(row['step'])]);
  }

  async update(before: ReminderRow, after: ReminderRow): Promise<void> {
    await reminders.update(this.tx, this.call.tenantId, { id: before.id, before, after });
    this.recordChange(before, after);
  }

  /** Replaces a skipped decision, unless that happened concurrently. Returns whether it was replaced. */
  async decideAgain(before: ReminderRow, after: ReminderRow): Promise<boolean> {
    const held = await this.tx.run(
      "UPDATE reminders SET updated_at = ? WHERE tenant_id = ? AND id = ? AND status = 'skipped' AND updated_at = ?",
      [after.updatedAt, this.call.tenantId, before.id, before.updatedAt],
    );
    if (held === 0) return false;
    await this.update(before, after);
    return true;
  }

  /** The latest first. */
  async page(
    filter: DeliveryFilter,
    { page, pageSize }: { readonly page: number; readonly pageSize: number },
  ): Promise<{ rows: ReminderRow[]; total: number }> {
    const { tx, call, totals } = this;
    const { source, where } = this.select(filter);
    const total = await totals.total(
      tx,
      { tenantId: call.tenantId, subject: `reminders ${source}`, where },
      async () => {
        const row = await tx.get(`SELECT count(*) AS total FROM ${source} WHERE ${where.sql}`, where.values);
        return Number(row?.['total']);
      },
    );
    const rows = await tx.all(
      `SELECT ${reminders.columnNames} FROM ${source} WHERE ${where.sql} ORDER BY reminders.id DESC LIMIT ? OFFSET ?`,
      [...where.values, pageSize, (page - 1) * pageSize],
    );
    return { rows: rows.map((row) => reminders.decode(row)), total };
  }

  private recordChange(before: ReminderRow | null, after: ReminderRow): void {
    this.recorder.record({ table: reminders, id: after.id, root: ofContract(after.contractId), before, after });
  }

  /** By id. */
  private async some(which: Fragment, { limit }: { readonly limit: number }): Promise<ReminderRow[]> {
    const { source, where } = this.select({}, which);
    const rows = await this.tx.all(
      `SELECT ${reminders.columnNames} FROM ${source} WHERE ${where.sql} ORDER BY reminders.id LIMIT ?`,
      [...where.values, limit],
    );
    return rows.map((row) => reminders.decode(row));
  }

  /** The contracts are joined only for callers with a scope. */
  private select(
    { status, paymentId, contractId, runId, from, to }: DeliveryFilter,
    ...further: readonly Fragment[]
  ): {
    source: string;
    where: Fragment;
  } {
    const { call, tx } = this;
    const isScoped = call.subjectScope !== null || call.ownerScope !== null;
    const where = allOf([
      fragment('reminders.tenant_id = ?', call.tenantId),
      ...(isScoped ? [withinScope(call, tx.dialect, 'contracts')] : []),
      ...(status ? [fragment('reminders.status = ?', status)] : []),
      ...(paymentId ? [fragment('reminders.payment_id = ?', paymentId)] : []),
      ...(contractId ? [fragment('reminders.contract_id = ?', contractId)] : []),
      ...(runId ? [fragment('reminders.run_id = ?', runId)] : []),
      ...(from ? [fragment('reminders.local_date >= ?', from)] : []),
      ...(to ? [fragment('reminders.local_date <= ?', to)] : []),
      ...further,
    ]);
    return {
      source: isScoped
        ? 'reminders JOIN contracts ON contracts.tenant_id = reminders.tenant_id AND contracts.id = reminders.contract_id'
        : 'reminders',
      where,
    };
  }
}
