import { chainAudit } from './audit/chain-audit.js';
import { checkAudit } from './audit/check-audit.js';
import { exportAudit } from './audit/export-audit.js';
import { listAudit } from './audit/list-audit.js';
import { createContract } from './contracts/create-contract.js';
import { deleteContract } from './contracts/delete-contract.js';
import { getContract } from './contracts/get-contract.js';
import { listContracts } from './contracts/list-contracts.js';
import { updateContract } from './contracts/update-contract.js';
import { countSubjectContracts } from './ownership/count-subject-contracts.js';
import { getHandoverExtent } from './ownership/get-handover-extent.js';
import { handOver } from './ownership/hand-over.js';
import { listSuperiors } from './ownership/list-superiors.js';
import { addPaymentLine } from './payments/add-payment-line.js';
import { deletePaymentLine } from './payments/delete-payment-line.js';
import { getPaymentStats } from './payments/get-payment-stats.js';
import { listPayments } from './payments/list-payments.js';
import { listReceipts } from './payments/list-receipts.js';
import { recordInvoiceEvidence } from './payments/record-invoice-evidence.js';
import { recordReceipt } from './payments/record-receipt.js';
import { updatePaymentLine } from './payments/update-payment-line.js';

/** The whole interface of the data plane. Adding an operation is adding a line here. */
export const OPERATIONS = {
  createContract,
  getContract,
  listContracts,
  updateContract,
  deleteContract,
  addPaymentLine,
  updatePaymentLine,
  deletePaymentLine,
  recordReceipt,
  listReceipts,
  recordInvoiceEvidence,
  listPayments,
  getPaymentStats,
  getHandoverExtent,
  listSuperiors,
  handOver,
  countSubjectContracts,
  listAudit,
  chainAudit,
  checkAudit,
  exportAudit,
} as const;

export type Operations = typeof OPERATIONS;
export const OPERATION_NAMES = Object.keys(OPERATIONS) as (keyof Operations)[];
