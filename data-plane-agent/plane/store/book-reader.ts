import { c, table } from '../../base/database/columns.js';
import type { Row, Transaction } from '../../base/database/database.js';
import { invoices } from '../tables/invoices.js';
import type { BookedContract, BookedInvoice, BookedLine, BookedReceipt } from '../domain/analytics/rollups.js';
import type { ContractStatus, ContractType, PaymentStatus, ReconciliationStatus, WorkflowStage } from '../contract/vocabulary.js';
import { isOneOf } from '../../base/database/fragments.js';

/** What the rollups are made of, as it is kept, by the contract that it belongs to. Of no ids nothing is asked. */
export class BookReader {
  constructor(
    private readonly tx: Transaction,
    private readonly tenantId: string,
  ) {}

  /** Contracts, deleted ones included. */
  async contracts(ids: readonly string[]): Promise<Map<string, BookedContract>> {
    const found = await this.all(`SELECT ${contracts.columnNames} FROM contracts WHERE tenant_id = ?`, 'id', ids);
    return new Map(found.map((row) => contracts.decode(row)).map((contract) => [contract.id, contract]));
  }

  /** Live lines. */
  async lines(contractIds: readonly string[]): Promise<Map<string, BookedLine[]>> {
    const found = await this.all(`SELECT ${lines.columnNames} FROM payment_lines WHERE tenant_id = ? AND deleted_at IS NULL`, 'contract_id', contractIds);
    return byContract(found.map((row) => lines.decode(row)));
  }

  /** Receipts, of removed lines too. They are found through the lines, on whose ids they have an index. */
  async receipts(contractIds: readonly string[]): Promise<Map<string, BookedReceipt[]>> {
    const found = await this.all(
      `SELECT ${receipts.columnNames} FROM payment_lines JOIN receipts ON receipts.tenant_id = payment_lines.tenant_id AND receipts.line_id = payment_lines.id WHERE payment_lines.tenant_id = ?`,
      'payment_lines.contract_id',
      contractIds,
    );
    return byContract(found.map((row) => receipts.decode(row)));
  }

  /** Live invoice records. */
  async invoices(contractIds: readonly string[]): Promise<Map<string, BookedInvoice[]>> {
    const found = await this.all(`SELECT ${invoices.columnNames} FROM invoices WHERE tenant_id = ? AND deleted_at IS NULL`, 'contract_id', contractIds);
    return byContract(found.map((row) => invoices.decode(row)));
  }

  private async all(select: string, column: string, ids: readonly string[]): Promise<Row[]> {
    if (ids.length === 0) return [];
    const among = isOneOf(this.tx.dialect, column, ids);
    return this.tx.all(`${select} AND ${among.sql}`, [this.tenantId, ...among.values]);
  }
}

/** Of the tables only what counts. */
const contracts = table('contracts', {
  id: c.text('id'),
  subjectId: c.text('subject_id'),
  ownerId: c.text('owner_id'),
  ownerSuperiorId: c.orNull(c.text('owner_superior_id')),
  currencyCode: c.text('currency_code'),
  type: c.word<ContractType>('type'),
  status: c.word<ContractStatus>('status'),
  stageCategory: c.word<WorkflowStage>('stage_category'),
  paymentStatus: c.word<PaymentStatus>('payment_status'),
  totalMinor: c.int('total_minor'),
  outstandingMinor: c.int('outstanding_minor'),
  otherCurrencyLines: c.int('other_currency_lines'),
  deletedAt: c.orNull(c.int('deleted_at')),
});
const lines = table('payment_lines', {
  id: c.text('id'),
  contractId: c.text('contract_id'),
  dueDate: c.text('due_date'),
  currencyCode: c.text('currency_code'),
  amountMinor: c.int('amount_minor'),
  receivedMinor: c.int('received_minor'),
  outstandingMinor: c.int('outstanding_minor'),
  receivedDate: c.orNull(c.text('received_date')),
  reconciliationStatus: c.word<ReconciliationStatus>('reconciliation_status'),
  invoiceDate: c.orNull(c.text('invoice_date')),
  invoicedMinor: c.int('invoiced_minor'),
  uninvoicedMinor: c.int('uninvoiced_minor'),
  invoiceRecords: c.int('invoice_records'),
  deletedAt: c.orNull(c.int('deleted_at')),
});
const receipts = table('receipts', {
  id: c.text('id'),
  contractId: c.text('contract_id'),
  lineId: c.text('line_id'),
  deltaMinor: c.int('delta_minor'),
  currencyCode: c.text('currency_code'),
  receivedDate: c.orNull(c.text('received_date')),
});

function byContract<T extends { readonly contractId: string }>(records: readonly T[]): Map<string, T[]> {
  const grouped = new Map<string, T[]>();
  for (const record of records) {
    const list = grouped.get(record.contractId);
    if (list) list.push(record);
    else grouped.set(record.contractId, [record]);
  }
  return grouped;
}
