import type { Transaction } from '../../base/database/database.js';
import type { Day } from '../../base/day.js';
import { isId } from '../../base/ids.js';
import type { Call } from '../contract/call.js';
import { lines, type LineRow } from '../tables/payment-lines.js';
import { receipts, type ReceiptRow } from '../tables/receipts.js';
import type { RollupDelta } from './rollup-delta.js';
import { ofContract, type ChangeRecorder } from './change-recorder.js';
import { fragment, isOneOf, type Fragment } from '../../base/database/fragments.js';
import { withinScope } from './scope.js';

/** The id of the contract of a live line; its values are the tenant and the line. */
export const CONTRACT_OF_LINE =
  'SELECT contract_id FROM payment_lines WHERE tenant_id = ? AND id = ? AND deleted_at IS NULL';

/** Payment lines and their receipts. Lines have the scope of their contract. */
export class LineStore {
  private readonly scope: Fragment;
  private readonly recorder: ChangeRecorder;
  private readonly rollupDelta: RollupDelta;

  constructor(
    private readonly tx: Transaction,
    private readonly call: Call,
    { recorder, rollupDelta }: { readonly recorder: ChangeRecorder; readonly rollupDelta: RollupDelta },
  ) {
    this.recorder = recorder;
    this.rollupDelta = rollupDelta;
    this.scope = withinScope(call, tx.dialect, 'contracts');
  }

  /** The contract id of a live line. The scope is checked when the caller finds that contract. */
  async contractOf(id: string): Promise<string | undefined> {
    if (!isId(id)) return undefined;
    const row = await this.tx.get(CONTRACT_OF_LINE, [this.call.tenantId, id]);
    return row && String(row['contract_id']);
  }

  /** Whether the line exists in scope, including deleted lines, whose receipts stay readable. */
  async isKept(id: string): Promise<boolean> {
    if (!isId(id)) return false;
    const row = await this.tx.get(
      `SELECT payment_lines.id FROM payment_lines JOIN contracts ON contracts.tenant_id = payment_lines.tenant_id AND contracts.id = payment_lines.contract_id
       WHERE ${this.scope.sql} AND payment_lines.id = ?`,
      [...this.scope.values, id],
    );
    return row !== undefined;
  }

  /** The live lines of a contract that the caller has already found, by due date. */
  ofContract(contractId: string): Promise<LineRow[]> {
    return this.ofOne(fragment('?', contractId));
  }

  /** The live lines of the contract of a live line, which the caller finds at the same time. */
  async besides(id: string): Promise<LineRow[]> {
    return isId(id) ? this.ofOne(fragment(`(${CONTRACT_OF_LINE})`, this.call.tenantId, id)) : [];
  }

  private async ofOne(contract: Fragment): Promise<LineRow[]> {
    const rows = await this.tx.all(
      `SELECT ${lines.columnNames} FROM payment_lines WHERE tenant_id = ? AND contract_id = ${contract.sql} AND deleted_at IS NULL ORDER BY due_date, position, id`,
      [this.call.tenantId, ...contract.values],
    );
    return rows.map((row) => lines.decode(row));
  }

  /** The live lines of contracts that the caller has already found. */
  async ofContracts(contractIds: readonly string[]): Promise<LineRow[]> {
    const among = isOneOf(this.tx.dialect, 'contract_id', contractIds);
    const rows = await this.tx.all(
      `SELECT ${lines.columnNames} FROM payment_lines WHERE tenant_id = ? AND ${among.sql} AND deleted_at IS NULL ORDER BY contract_id, due_date, position, id`,
      [this.call.tenantId, ...among.values],
    );
    return rows.map((row) => lines.decode(row));
  }

  /** The period of each line of a contract by line id, including deleted lines. */
  async periodsOf(contractId: string): Promise<[id: string, period: string][]> {
    const rows = await this.tx.all('SELECT id, period FROM payment_lines WHERE tenant_id = ? AND contract_id = ?', [
      this.call.tenantId,
      contractId,
    ]);
    return rows.map((row) => [String(row['id']), String(row['period'])]);
  }

  async insert(rows: readonly LineRow[]): Promise<void> {
    await lines.insert(this.tx, this.call.tenantId, rows);
    for (const row of rows) this.recordChange(null, row);
  }

  async update(before: LineRow, after: LineRow): Promise<void> {
    await lines.updateHeld(this.tx, this.call.tenantId, { id: before.id, before, after });
    this.recordChange(before, after);
  }

  /** Adds one row for each change of a received amount; `total` is the line's received amount after it. */
  async insertReceipts(rows: readonly ReceiptRow[]): Promise<void> {
    await receipts.insert(this.tx, this.call.tenantId, rows);
    this.rollupDelta.receipts(rows);
  }

  /** The amount received on a line on one day, less refunds on that day, in minor units; approximate above 2^53. */
  async receivedOn(lineId: string, day: Day): Promise<number> {
    const row = await this.tx.get(
      'SELECT sum(delta_minor * 1.0) AS received FROM receipts WHERE tenant_id = ? AND line_id = ? AND received_date = ?',
      [this.call.tenantId, lineId, day],
    );
    return Number(row?.['received'] ?? 0);
  }

  /** Whether any receipt was ever recorded on a line, including refunded ones. */
  async hasReceipts(lineId: string): Promise<boolean> {
    return (
      (await this.tx.get('SELECT id FROM receipts WHERE tenant_id = ? AND line_id = ? LIMIT 1', [
        this.call.tenantId,
        lineId,
      ])) !== undefined
    );
  }

  /** A page of the receipts of a line that the caller has already found, newest first, with their total number. */
  async receiptsOf(
    lineId: string,
    { page, pageSize }: { page: number; pageSize: number },
  ): Promise<{ rows: ReceiptRow[]; total: number }> {
    const found = await this.tx.all(
      `SELECT ${receipts.columnNames} FROM receipts WHERE tenant_id = ? AND line_id = ? ORDER BY id DESC LIMIT ? OFFSET ?`,
      [this.call.tenantId, lineId, pageSize, (page - 1) * pageSize],
    );
    const counted = await this.tx.get('SELECT count(*) AS total FROM receipts WHERE tenant_id = ? AND line_id = ?', [
      this.call.tenantId,
      lineId,
    ]);
    return { rows: found.map((row) => receipts.decode(row)), total: Number(counted?.['total']) };
  }

  /** When a line of these contracts was last deleted, in epoch milliseconds; 0 when none was. */
  async lastRemoval(contractIds: readonly string[]): Promise<number> {
    const among = isOneOf(this.tx.dialect, 'contract_id', contractIds);
    const row = await this.tx.get(
      `SELECT max(deleted_at) AS last FROM payment_lines WHERE tenant_id = ? AND ${among.sql}`,
      [this.call.tenantId, ...among.values],
    );
    return Number(row?.['last'] ?? 0);
  }

  /** Soft-deletes `present`, the live lines of contracts that are deleted. */
  async removeWithContracts(present: readonly LineRow[], now: number): Promise<void> {
    if (present.length === 0) return;
    const among = isOneOf(
      this.tx.dialect,
      'id',
      present.map(({ id }) => id),
    );
    await this.tx.run(`UPDATE payment_lines SET deleted_at = ?, updated_at = ? WHERE tenant_id = ? AND ${among.sql}`, [
      now,
      now,
      this.call.tenantId,
      ...among.values,
    ]);
    for (const line of present) this.recordChange(line, { ...line, deletedAt: now, updatedAt: now });
  }

  /** Restores the lines that were deleted with the contract at `deletedAt`; lines deleted before stay deleted. */
  async restoreWithContract(
    contractId: string,
    { deletedAt, now }: { readonly deletedAt: number; readonly now: number },
  ): Promise<void> {
    const deleted = await this.tx.all(
      `SELECT ${lines.columnNames} FROM payment_lines WHERE tenant_id = ? AND contract_id = ? AND deleted_at = ?`,
      [this.call.tenantId, contractId, deletedAt],
    );
    await this.tx.run(
      'UPDATE payment_lines SET deleted_at = NULL, updated_at = ? WHERE tenant_id = ? AND contract_id = ? AND deleted_at = ?',
      [now, this.call.tenantId, contractId, deletedAt],
    );
    for (const line of deleted.map((row) => lines.decode(row)))
      this.recordChange(line, { ...line, deletedAt: null, updatedAt: now });
  }

  private recordChange(before: LineRow | null, after: LineRow): void {
    this.recorder.record({ table: lines, id: after.id, root: ofContract(after.contractId), before, after });
    this.rollupDelta.line(before, after);
  }
}
