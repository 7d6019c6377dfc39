import type { Row, Transaction, Value } from '../../base/database/database.js';
import { fail } from '../../base/failures.js';
import { isId } from '../../base/ids.js';
import type { Call } from '../contract/call.js';
import { invoices, type InvoiceChange, type InvoiceRow } from '../tables/invoices.js';
import type { RollupDelta } from './rollup-delta.js';
import { ofContract, type ChangeRecorder } from './change-recorder.js';
import { isOneOf } from '../../base/database/fragments.js';

/** Invoice records. They have the scope of their contract, which callers must have found before. */
export class InvoiceStore {
  private readonly recorder: ChangeRecorder;
  private readonly rollupDelta: RollupDelta;

  constructor(
    private readonly tx: Transaction,
    private readonly call: Call,
    { recorder, rollupDelta }: { readonly recorder: ChangeRecorder; readonly rollupDelta: RollupDelta },
  ) {
    this.recorder = recorder;
    this.rollupDelta = rollupDelta;
  }

  /** The live records of a contract in the order of their creation. */
  async ofContract(contractId: string): Promise<InvoiceRow[]> {
    return this.rows('contract_id = ? AND deleted_at IS NULL ORDER BY created_at, id', contractId);
  }

  /** The live records linked to a line of a contract; with `null`, those linked to no line. */
  async linkedTo(contractId: string, lineId: string | null): Promise<InvoiceRow[]> {
    if (lineId === null)
      return this.rows(
        'contract_id = ? AND line_id IS NULL AND deleted_at IS NULL ORDER BY created_at, id',
        contractId,
      );
    return this.rows(
      'contract_id = ? AND line_id = ? AND deleted_at IS NULL ORDER BY created_at, id',
      contractId,
      lineId,
    );
  }

  /** A live record of a contract. */
  async find(contractId: string, id: string): Promise<InvoiceRow | undefined> {
    if (!isId(id)) return undefined;
    return (await this.rows('contract_id = ? AND id = ? AND deleted_at IS NULL', contractId, id))[0];
  }

  async count(contractId: string): Promise<number> {
    const row = await this.tx.get(
      'SELECT count(*) AS n FROM invoices WHERE tenant_id = ? AND contract_id = ? AND deleted_at IS NULL',
      [this.call.tenantId, contractId],
    );
    return Number(row?.['n']);
  }

  /** The receipt's line, if the receipt was recorded on this contract. */
  async lineOfReceipt(contractId: string, receiptId: string): Promise<string | undefined> {
    if (!isId(receiptId)) return undefined;
    const row = await this.tx.get('SELECT line_id FROM receipts WHERE tenant_id = ? AND id = ? AND contract_id = ?', [
      this.call.tenantId,
      receiptId,
      contractId,
    ]);
    return row && String(row['line_id']);
  }

  /**
   * The id of the live record with a number within a subject company. Void records no longer hold their number. Keys
   * are case-folded.
   */
  async holderOf(subjectId: string, invoiceKey: string): Promise<string | undefined> {
    const row = await this.tx.get(
      "SELECT id FROM invoices WHERE tenant_id = ? AND subject_id = ? AND invoice_key = ? AND deleted_at IS NULL AND status <> 'void'",
      [this.call.tenantId, subjectId, invoiceKey],
    );
    return row && String(row['id']);
  }

  /** Writes new and changed records. A number taken by a concurrent write is refused by the database. */
  async write(changes: readonly InvoiceChange[]): Promise<void> {
    // Records of one request may exchange their numbers: each gives up its number before any takes a new one.
    const renamed = changes.filter(({ before, after }) => before !== null && before.invoiceKey !== after.invoiceKey);
    if (changes.length > 1)
      for (const { after } of renamed)
        await this.tx.run('UPDATE invoices SET invoice_key = ? WHERE tenant_id = ? AND id = ?', [
          `\u0001${after.id}`,
          this.call.tenantId,
          after.id,
        ]);
    for (const { before, after } of changes)
      if (before) await invoices.updateHeld(this.tx, this.call.tenantId, { id: before.id, before, after });
    await invoices.insert(
      this.tx,
      this.call.tenantId,
      changes.filter(({ before }) => before === null).map(({ after }) => after),
    );
    for (const { before, after } of changes) this.recordChange(before, after);
  }

  /** When a record of these contracts was last deleted, in epoch milliseconds; 0 when none was. */
  async lastRemoval(contractIds: readonly string[]): Promise<number> {
    const among = isOneOf(this.tx.dialect, 'contract_id', contractIds);
    const row = await this.tx.get(`SELECT max(deleted_at) AS last FROM invoices WHERE tenant_id = ? AND ${among.sql}`, [
      this.call.tenantId,
      ...among.values,
    ]);
    return Number(row?.['last'] ?? 0);
  }

  /** Soft-deletes the records of contracts that are deleted. */
  async removeWithContracts(contractIds: readonly string[], now: number): Promise<void> {
    const among = isOneOf(this.tx.dialect, 'contract_id', contractIds);
    const live = await this.rows(
      `${among.sql} AND deleted_at IS NULL ORDER BY contract_id, created_at, id`,
      ...among.values,
    );
    if (live.length === 0) return;
    await this.tx.run(
      `UPDATE invoices SET deleted_at = ?, updated_at = ? WHERE tenant_id = ? AND ${among.sql} AND deleted_at IS NULL`,
      [now, now, this.call.tenantId, ...among.values],
    );
    for (const row of live) this.recordChange(row, { ...row, deletedAt: now, updatedAt: now });
  }

  /**
   * Restores the records that were deleted with their contract, under its current subject company. Throws
   * DUPLICATE_CODE when a number has been taken since.
   */
  async restoreWithContract(contractId: string, deletedAt: number): Promise<void> {
    const deleted = await this.rows(
      'contract_id = ? AND deleted_at = ? ORDER BY created_at, id',
      contractId,
      deletedAt,
    );
    if (deleted.length === 0) return;
    await this.refuseTaken(contractId, 'mine.deleted_at = ? AND held.subject_id = mine.subject_id', deletedAt);
    await this.tx.run(
      'UPDATE invoices SET deleted_at = NULL WHERE tenant_id = ? AND contract_id = ? AND deleted_at = ?',
      [this.call.tenantId, contractId, deletedAt],
    );
    for (const row of deleted) this.recordChange(row, { ...row, deletedAt: null });
  }

  /**
   * Moves the records of a contract to another subject company, except those about to be written. Throws DUPLICATE_CODE
   * when a number is taken there.
   */
  async moveToSubject(
    contractId: string,
    subjectId: string,
    { except }: { readonly except: readonly string[] },
  ): Promise<void> {
    const others = new Set(except);
    const moving = (await this.ofContract(contractId)).filter(({ id }) => !others.has(id));
    if (moving.length === 0) return;
    const among = (column: string) =>
      isOneOf(
        this.tx.dialect,
        column,
        moving.map(({ id }) => id),
      );
    await this.refuseTaken(
      contractId,
      `${among('mine.id').sql} AND held.subject_id = ?`,
      ...among('mine.id').values,
      subjectId,
    );
    await this.tx.run(`UPDATE invoices SET subject_id = ? WHERE tenant_id = ? AND ${among('id').sql}`, [
      subjectId,
      this.call.tenantId,
      ...among('id').values,
    ]);
    for (const row of moving) this.recordChange(row, { ...row, subjectId });
  }

  private async refuseTaken(contractId: string, condition: string, ...values: readonly Value[]): Promise<void> {
    const taken = await this.tx.get(
      `SELECT mine.invoice_no FROM invoices mine JOIN invoices held ON held.tenant_id = mine.tenant_id AND held.invoice_key = mine.invoice_key AND held.contract_id <> mine.contract_id
       WHERE mine.tenant_id = ? AND mine.contract_id = ? AND mine.status <> 'void' AND ${condition} AND held.deleted_at IS NULL AND held.status <> 'void' ORDER BY mine.id LIMIT 1`,
      [this.call.tenantId, contractId, ...values],
    );
    if (taken) throw fail('DUPLICATE_CODE', { field: 'invoiceNo', value: String(taken['invoice_no']) });
  }

  private async rows(condition: string, ...values: Value[]): Promise<InvoiceRow[]> {
    const found: Row[] = await this.tx.all(
      `SELECT ${invoices.columnNames} FROM invoices WHERE tenant_id = ? AND ${condition}`,
      [this.call.tenantId, ...values],
    );
    return found.map((row) => invoices.decode(row));
  }

  private recordChange(before: InvoiceRow | null, after: InvoiceRow): void {
    this.recorder.record({ table: invoices, id: after.id, root: ofContract(after.contractId), before, after });
    this.rollupDelta.invoice(before, after);
  }
}
