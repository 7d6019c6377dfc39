import { mapYielding } from '../../base/yielding.js';
import type { Transaction } from '../../base/database/database.js';
import type { Call } from '../contract/call.js';
import { contracts, type ContractRow } from '../tables/contracts.js';
import { allOf, fragment } from '../../base/database/fragments.js';
import { withinScope } from './scope.js';

/** Deleted contracts within the caller's scope. */
export class TrashStore {
  constructor(
    private readonly tx: Transaction,
    private readonly call: Call,
  ) {}

  /** Contracts deleted after an instant (epoch milliseconds), latest first. */
  async page(
    after: number,
    { page, pageSize }: { readonly page: number; readonly pageSize: number },
  ): Promise<{ rows: ContractRow[]; total: number }> {
    const where = allOf([
      withinScope(this.call, this.tx.dialect, 'contracts'),
      fragment('contracts.deleted_at > ?', after),
    ]);
    const counted = await this.tx.get(`SELECT count(*) AS total FROM contracts WHERE ${where.sql}`, where.values);
    const rows = await this.tx.all(
      `SELECT ${contracts.columnNames} FROM contracts WHERE ${where.sql} ORDER BY contracts.deleted_at DESC, contracts.id DESC LIMIT ? OFFSET ?`,
      [...where.values, pageSize, (page - 1) * pageSize],
    );
    return { rows: await mapYielding(rows, (row) => contracts.decode(row)), total: Number(counted?.['total']) };
  }
}
