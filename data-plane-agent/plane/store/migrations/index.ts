import type { Migration } from '../../../base/database/migrator.js';
import { contractBook } from './0001-contract-book.js';
import { auditChain } from './0002-audit-chain.js';
import { invoicesTasks } from './0003-invoices-tasks.js';
import { oneDefaultTemplate } from './0004-one-default-template.js';
import { rollups } from './0005-rollups.js';
import { dynamicFields } from './0006-dynamic-fields.js';
import { savedViews } from './0007-saved-views.js';
import { importBatches } from './0008-import-batches.js';
import { extraction } from './0009-extraction.js';
import { trash } from './0010-trash.js';
import { invoicesOfLines } from './0011-invoices-of-lines.js';
import { files } from './0012-files.js';
import { searchFolding } from './0013-search-folding.js';
import { closedRecords } from './0014-closed-records.js';
import { dueWork } from './0015-due-work.js';
import { invoiceRegister } from './0016-invoice-register.js';
import { receiptsByTransfer } from './0017-receipts-by-transfer.js';
import { collections } from './0018-collections.js';
import { deliveries } from './0019-deliveries.js';
import { dataMoves } from './0020-data-moves.js';
import { rollupChanges } from './0021-rollup-changes.js';
import { runningImports } from './0022-running-imports.js';
import { waitingFigures } from './0023-waiting-figures.js';
import { linesByState } from './0024-lines-by-state.js';

/** The steps of the tenant database's schema, oldest first. A step that has landed is never edited. */
export const TENANT_MIGRATIONS: readonly Migration[] = [
  contractBook,
  auditChain,
  invoicesTasks,
  oneDefaultTemplate,
  rollups,
  dynamicFields,
  savedViews,
  importBatches,
  extraction,
  trash,
  invoicesOfLines,
  files,
  searchFolding,
  closedRecords,
  dueWork,
  invoiceRegister,
  receiptsByTransfer,
  collections,
  deliveries,
  dataMoves,
  rollupChanges,
  runningImports,
  waitingFigures,
  linesByState,
];
