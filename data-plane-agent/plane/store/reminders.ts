import type { Transaction } from '../../base/database/database.js';
import { allOf, fragment, isOneOf, type Fragment } from '../../base/database/fragments.js';
import type { Call } from '../contract/call.js';
import type { ReminderDeliveryQuery } from '../contract/records/collections.js';
import { reminders, type ReminderRow } from '../tables/reminders.js';
import { withinScope } from './scope.js';
import type { Totals } from './totals.js';

/** Which reminders to list; `null` and `undefined` do not limit. */
export type DeliveryFilter = Omit<ReminderDeliveryQuery, 'page' | 'pageSize'>;

/** Reminders that were decided on, of lines in the caller's scope. */
export class ReminderStore {
  constructor(
    private readonly tx: Transaction,
    private readonly call: Call,
    private readonly totals: Totals,
  ) {}

  /** Those of lines that the caller has found, oldest first. */
  async ofLines(lineIds: readonly string[]): Promise<ReminderRow[]> {
    if (lineIds.length === 0) return [];
    const among = isOneOf(this.tx.dialect, 'payment_id', lineIds);
    const rows = await this.tx.all(
      `SELECT ${reminders.columnNames} FROM reminders WHERE tenant_id = ? AND ${among.sql} ORDER BY id`,
      [this.call.tenantId, ...among.values],
    );
    return rows.map((row) => reminders.decode(row));
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

  /** The contracts are joined only for callers with a scope. */
  private select({ status, paymentId, contractId, from, to }: DeliveryFilter): {
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
      ...(from ? [fragment('reminders.local_date >= ?', from)] : []),
      ...(to ? [fragment('reminders.local_date <= ?', to)] : []),
    ]);
    return {
      source: isScoped
        ? 'reminders JOIN contracts ON contracts.tenant_id = reminders.tenant_id AND contracts.id = reminders.contract_id'
        : 'reminders',
      where,
    };
  }
}
