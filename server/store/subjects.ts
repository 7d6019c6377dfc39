import type { Row, Transaction } from '../../data-plane-agent/base/database/database.js';
import { numberOf, textOf, textOrNull } from './rows.js';

/** A legal entity of the tenant, to which contracts belong. */
export interface SubjectRecord {
  readonly id: string;
  readonly name: string;
  readonly legalName: string | null;
  readonly taxNo: string | null;
  readonly defaultPayeeAccount: string | null;
  readonly defaultPayeeBank: string | null;
  readonly createdAt: number;
  readonly updatedAt: number;
}

export class SubjectStore {
  constructor(
    private readonly tx: Transaction,
    private readonly tenantId: string,
  ) {}

  /** In the order of creation. */
  async all(): Promise<SubjectRecord[]> {
    const rows = await this.tx.all(
      'SELECT id, name, legal_name, tax_no, default_payee_account, default_payee_bank, created_at, updated_at FROM subjects WHERE tenant_id = ? ORDER BY id',
      [this.tenantId],
    );
    return rows.map(subjectOf);
  }

  /** The caller holds the tenant's lock. */
  async update({
    id,
    name,
    legalName,
    taxNo,
    defaultPayeeAccount,
    defaultPayeeBank,
    updatedAt,
  }: SubjectRecord): Promise<void> {
    await this.tx.run(
      'UPDATE subjects SET name = ?, legal_name = ?, tax_no = ?, default_payee_account = ?, default_payee_bank = ?, updated_at = ? WHERE tenant_id = ? AND id = ?',
      [name, legalName, taxNo, defaultPayeeAccount, defaultPayeeBank, updatedAt, this.tenantId, id],
    );
  }

  async delete(id: string): Promise<void> {
    await this.tx.run('DELETE FROM subjects WHERE tenant_id = ? AND id = ?', [this.tenantId, id]);
  }

  async insert(subject: SubjectRecord): Promise<void> {
    await this.tx.run(
      'INSERT INTO subjects (tenant_id, id, name, legal_name, tax_no, default_payee_account, default_payee_bank, created_at, updated_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)',
      [
        this.tenantId,
        subject.id,
        subject.name,
        subject.legalName,
        subject.taxNo,
        subject.defaultPayeeAccount,
        subject.defaultPayeeBank,
        subject.createdAt,
        subject.updatedAt,
      ],
    );
  }
}

const subjectOf = (row: Row): SubjectRecord => ({
  id: textOf(row, 'id'),
  name: textOf(row, 'name'),
  legalName: textOrNull(row, 'legal_name'),
  taxNo: textOrNull(row, 'tax_no'),
  defaultPayeeAccount: textOrNull(row, 'default_payee_account'),
  defaultPayeeBank: textOrNull(row, 'default_payee_bank'),
  createdAt: numberOf(row, 'created_at'),
  updatedAt: numberOf(row, 'updated_at'),
});
