import type { Row, Transaction } from '../../base/database/database.js';
import { contracts as allContracts } from '../tables/contracts.js';
import { invoices } from '../tables/invoices.js';
import { lines as allLines } from '../tables/payment-lines.js';
import { receipts as allReceipts } from '../tables/receipts.js';
import type { RollupContract, RollupInvoice, RollupLine, RollupReceipt } from '../domain/analytics/rollups.js';
import { isOneOf } from '../../base/database/fragments.js';

/** Reads the stored records that rollups are computed from, grouped by contract. An empty list of ids runs no query. */
export class RollupReader {
  constructor(
    private readonly tx: Transaction,
    private readonly tenantId: string,
  ) {}

  /** Contracts, deleted ones included. */
  async contracts(ids: readonly string[]): Promise<Map<string, RollupContract>> {
    const found = await this.all(`SELECT ${contracts.columnNames} FROM contracts WHERE tenant_id = ?`, 'id', ids);
    return new Map(found.map((row) => contracts.decode(row)).map((contract) => [contract.id, contract]));
  }

  /** Live lines. */
  async lines(contractIds: readonly string[]): Promise<Map<string, RollupLine[]>> {
    const found = await this.all(
      `SELECT ${lines.columnNames} FROM payment_lines WHERE tenant_id = ? AND deleted_at IS NULL`,
      'contract_id',
      contractIds,
    );
    return byContract(found.map((row) => lines.decode(row)));
  }

  /**
   * Receipts, including those of deleted lines. They are found through the lines, because their index is on the line
   * id.
   */
  async receipts(contractIds: readonly string[]): Promise<Map<string, RollupReceipt[]>> {
    const found = await this.all(
      `SELECT ${receipts.columnNames} FROM payment_lines JOIN receipts ON receipts.tenant_id = payment_lines.tenant_id AND receipts.line_id = payment_lines.id WHERE payment_lines.tenant_id = ?`,
      'payment_lines.contract_id',
      contractIds,
    );
    return byContract(found.map((row) => receipts.decode(row)));
  }

  /** Live invoice records. */
  async invoices(contractIds: readonly string[]): Promise<Map<string, RollupInvoice[]>> {
    const found = await this.all(
      `SELECT ${invoices.columnNames} FROM invoices WHERE tenant_id = ? AND deleted_at IS NULL`,
      'contract_id',
      contractIds,
    );
    return byContract(found.map((row) => invoices.decode(row)));
  }

  private async all(select: string, column: string, ids: readonly string[]): Promise<Row[]> {
    if (ids.length === 0) return [];
    const among = isOneOf(this.tx.dialect, column, ids);
    return this.tx.all(`${select} AND ${among.sql}`, [this.tenantId, ...among.values]);
  }
}

/** Only the columns that rollups are computed from. */
const contracts = allContracts.only(
  'id',
  'subjectId',
  'ownerId',
  'ownerSuperiorId',
  'currencyCode',
  'type',
  'typeCode',
  'status',
  'statusCode',
  'stageCategory',
  'stageCode',
  'paymentStatus',
  'nextDueDate',
  'totalMinor',
  'outstandingMinor',
  'otherCurrencyLines',
  'deletedAt',
);
const lines = allLines.only(
  'id',
  'contractId',
  'dueDate',
  'currencyCode',
  'amountMinor',
  'receivedMinor',
  'outstandingMinor',
  'receivedDate',
  'reconciliationStatus',
  'invoiceDate',
  'invoicedMinor',
  'uninvoicedMinor',
  'invoiceRecords',
  'deletedAt',
);
const receipts = allReceipts.only('id', 'contractId', 'lineId', 'deltaMinor', 'currencyCode', 'receivedDate');

function byContract<T extends { readonly contractId: string }>(records: readonly T[]): Map<string, T[]> {
  const grouped = new Map<string, T[]>();
  for (const record of records) {
    const list = grouped.get(record.contractId);
    if (list) list.push(record);
    else grouped.set(record.contractId, [record]);
  }
  return grouped;
}
