import type { Transaction } from '../../base/database/database.js';
import { isOneOf } from '../../base/database/fragments.js';
import { isId } from '../../base/ids.js';
import type { Call } from '../contract/call.js';
import { MAX_CONTRACT_FILES } from '../contract/records/files.js';
import { files, type FileRow } from '../tables/files.js';

/** A record of a contract that refers to a file. */
export interface FileReference {
  readonly record: 'payment' | 'invoice' | 'task';
  readonly id: string;
  readonly field: string;
  readonly fileId: string;
}

/** The files of one contract, which callers must have found before. */
export class ContractFiles {
  constructor(
    private readonly tx: Transaction,
    private readonly call: Pick<Call, 'tenantId'>,
  ) {}

  /** References in the live lines, invoice records and tasks of a contract, and in all its receipts. */
  async references(contractId: string): Promise<FileReference[]> {
    const rows = await this.tx.all(
      REFERRING.map(
        ({ table, id, column, distinct }, i) =>
          `SELECT ${distinct ? 'DISTINCT ' : ''}${i} AS source, ${id} AS id, CAST(${column} AS text) AS file FROM ${table} WHERE tenant_id = ? AND contract_id = ? AND ${column} IS NOT NULL${distinct ? '' : ' AND deleted_at IS NULL'}`,
      ).join(' UNION ALL '),
      REFERRING.flatMap(() => [this.call.tenantId, contractId]),
    );
    return rows.flatMap((row) => {
      const source = REFERRING[Number(row['source'])];
      const fileId = String(row['file']);
      // The attachment of an invoice or a task may be any text.
      return source && isId(fileId)
        ? [{ record: source.record, id: String(row['id']), field: source.field, fileId }]
        : [];
    });
  }

  /** The files uploaded for a contract and those with the given ids, newest first. */
  async ofContract(contractId: string, referred: readonly string[]): Promise<FileRow[]> {
    const { tenantId } = this.call;
    const among = isOneOf(this.tx.dialect, 'id', referred);
    const rows = await this.tx.all(
      `SELECT ${files.columnNames} FROM files WHERE tenant_id = ? AND id IN (SELECT id FROM files WHERE tenant_id = ? AND contract_id = ? UNION SELECT id FROM files WHERE tenant_id = ? AND ${among.sql}) ORDER BY created_at DESC, id DESC LIMIT ?`,
      [tenantId, tenantId, contractId, tenantId, ...among.values, MAX_CONTRACT_FILES],
    );
    return rows.map((row) => files.decode(row));
  }
}

const REFERRING = [
  { record: 'payment', field: 'proof', table: 'payment_lines', id: 'id', column: 'proof', distinct: false },
  {
    record: 'payment',
    field: 'invoiceAttachment',
    table: 'payment_lines',
    id: 'id',
    column: 'invoice_attachment',
    distinct: false,
  },
  // Receipts are kept for audit, and each repeats the proof of its line.
  { record: 'payment', field: 'receipts', table: 'receipts', id: 'line_id', column: 'proof_file_id', distinct: true },
  { record: 'invoice', field: 'attachment', table: 'invoices', id: 'id', column: 'attachment', distinct: false },
  { record: 'task', field: 'attachment', table: 'fulfillment_tasks', id: 'id', column: 'attachment', distinct: false },
] as const;
