import type { Transaction } from '../../base/database/database.js';
import { isOneOf } from '../../base/database/fragments.js';
import type { Call } from '../contract/call.js';
import { holds, type HoldRow } from '../tables/holds.js';
import { ofContract, type ChangeRecorder } from './change-recorder.js';

/** Holds of lines whose contracts the caller has found. */
export class HoldStore {
  constructor(
    private readonly tx: Transaction,
    private readonly call: Pick<Call, 'tenantId'>,
    private readonly recorder: ChangeRecorder,
  ) {}

  async ofLine(lineId: string): Promise<HoldRow | undefined> {
    return (await this.ofLines([lineId]))[0];
  }

  /** In no particular order. */
  async ofLines(lineIds: readonly string[]): Promise<HoldRow[]> {
    if (lineIds.length === 0) return [];
    const among = isOneOf(this.tx.dialect, 'id', lineIds);
    const rows = await this.tx.all(`SELECT ${holds.columnNames} FROM line_holds WHERE tenant_id = ? AND ${among.sql}`, [
      this.call.tenantId,
      ...among.values,
    ]);
    return rows.map((row) => holds.decode(row));
  }

  async insert(row: HoldRow): Promise<void> {
    await holds.insert(this.tx, this.call.tenantId, [row]);
    this.recordChange(null, row);
  }

  async update(before: HoldRow, after: HoldRow): Promise<void> {
    await holds.update(this.tx, this.call.tenantId, { id: before.id, before, after });
    this.recordChange(before, after);
  }

  async remove(row: HoldRow): Promise<void> {
    await this.tx.run('DELETE FROM line_holds WHERE tenant_id = ? AND id = ?', [this.call.tenantId, row.id]);
    this.recordChange(row, null);
  }

  private recordChange(before: HoldRow | null, after: HoldRow | null): void {
    const row = after ?? before;
    if (row) this.recorder.record({ table: holds, id: row.id, root: ofContract(row.contractId), before, after });
  }
}
