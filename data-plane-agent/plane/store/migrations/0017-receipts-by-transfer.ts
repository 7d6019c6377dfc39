import type { Migration } from '../../../base/database/migrator.js';

/** The receipts of a bank transfer are found by its number, also on lines that name a later transfer. */
export const receiptsByTransfer: Migration = {
  id: '0017-receipts-by-transfer',
  statements: () => [
    'CREATE INDEX receipts_by_bank_serial ON receipts (tenant_id, bank_serial_no, line_id) WHERE bank_serial_no IS NOT NULL',
  ],
};
