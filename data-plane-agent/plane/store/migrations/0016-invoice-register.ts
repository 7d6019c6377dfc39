import type { Migration } from '../../../base/database/migrator.js';

/** Invoice records of all contracts are listed by date, also those of one status or of one subject company. */
export const invoiceRegister: Migration = {
  id: '0016-invoice-register',
  statements: (t) => {
    // SQLite sorts NULL last in descending order anyway, and does not accept the words in an index.
    const byDate = `invoice_date DESC${t.dialect === 'postgres' ? ' NULLS LAST' : ''}, id DESC`;
    return [
      ['invoices_by_date', ''],
      ['invoices_by_status', 'status, '],
      ['invoices_by_subject', 'subject_id, '],
    ].map(
      ([name, columns]) =>
        `CREATE INDEX ${name} ON invoices (tenant_id, ${columns}${byDate}) WHERE deleted_at IS NULL`,
    );
  },
};
