import { getAnalyticsCashflow } from './analytics/get-analytics-cashflow.js';
import { getAnalyticsDistribution } from './analytics/get-analytics-distribution.js';
import { getAnalyticsSummary } from './analytics/get-analytics-summary.js';
import { chainAudit } from './audit/chain-audit.js';
import { checkAudit } from './audit/check-audit.js';
import { exportAudit } from './audit/export-audit.js';
import { getAuditHead } from './audit/get-audit-head.js';
import { listAudit } from './audit/list-audit.js';
import { setPaymentHold } from './collections/set-payment-hold.js';
import { listCollections } from './collections/list-collections.js';
import { listDeliveries } from './collections/list-deliveries.js';
import { decideReminders } from './collections/decide-reminders.js';
import { getReminderRun } from './collections/get-reminder-run.js';
import { getReminderMessage } from './collections/get-reminder-message.js';
import { settleReminders } from './collections/settle-reminders.js';
import { previewReminder } from './collections/preview-reminder.js';
import { queueReminder } from './collections/queue-reminder.js';
import { queueReminders } from './collections/queue-reminders.js';
import { getDelivery } from './collections/get-delivery.js';
import { listDueLanes } from './outbox/list-due-lanes.js';
import { deletePaymentHold } from './collections/delete-payment-hold.js';
import { bulkAttachContracts } from './contracts/bulk-attach-contracts.js';
import { bulkDeleteContracts } from './contracts/bulk-delete-contracts.js';
import { createContract } from './contracts/create-contract.js';
import { deleteContract } from './contracts/delete-contract.js';
import { getContract } from './contracts/get-contract.js';
import { listContracts } from './contracts/list-contracts.js';
import { listHistory } from './contracts/list-history.js';
import { listTrash } from './contracts/list-trash.js';
import { restoreContract } from './contracts/restore-contract.js';
import { updateContract } from './contracts/update-contract.js';
import { exportContracts } from './exchange/export-contracts.js';
import { planContractExport } from './exchange/plan-contract-export.js';
import { recordExport } from './exchange/record-export.js';
import { confirmFile } from './files/confirm-file.js';
import { downloadFile } from './files/download-file.js';
import { listContractFiles } from './files/list-contract-files.js';
import { getFile } from './files/get-file.js';
import { getInfectedFileNotice } from './files/get-infected-file-notice.js';
import { presignFile } from './files/presign-file.js';
import { scanFiles } from './files/scan-files.js';
import { sweepFiles } from './files/sweep-files.js';
import { addNote } from './notes/add-note.js';
import { deleteNote } from './notes/delete-note.js';
import { updateNote } from './notes/update-note.js';
import { addLifecycleStage } from './lifecycle/add-lifecycle-stage.js';
import { addLifecycleTransition } from './lifecycle/add-lifecycle-transition.js';
import { closeChannel } from './lifecycle/close-channel.js';
import { createContractType } from './lifecycle/create-contract-type.js';
import { createLifecycleTemplate } from './lifecycle/create-lifecycle-template.js';
import { getContractCatalog } from './lifecycle/get-contract-catalog.js';
import { updateContractType } from './lifecycle/update-contract-type.js';
import { updateLifecycleStage } from './lifecycle/update-lifecycle-stage.js';
import { updateLifecycleTemplate } from './lifecycle/update-lifecycle-template.js';
import { updateLifecycleTransition } from './lifecycle/update-lifecycle-transition.js';
import { getImport } from './imports/get-import.js';
import { continueImports } from './imports/continue-imports.js';
import { getImportErrors } from './imports/get-import-errors.js';
import { getImportTemplate } from './imports/get-import-template.js';
import { importContracts } from './imports/import-contracts.js';
import { previewImport } from './imports/preview-import.js';
import { listFields } from './fields/list-fields.js';
import { runFieldCommand } from './fields/run-field-command.js';
import { closeSubject } from './ownership/close-subject.js';
import { getHandoverExtent } from './ownership/get-handover-extent.js';
import { handOver } from './ownership/hand-over.js';
import { listSuperiors } from './ownership/list-superiors.js';
import { reopenClosed } from './ownership/reopen-closed.js';
import { addInvoice } from './invoices/add-invoice.js';
import { exportInvoices } from './invoices/export-invoices.js';
import { listContractInvoices } from './invoices/list-contract-invoices.js';
import { listInvoices } from './invoices/list-invoices.js';
import { planInvoiceExport } from './invoices/plan-invoice-export.js';
import { recordInvoiceExport } from './invoices/record-invoice-export.js';
import { updateInvoice } from './invoices/update-invoice.js';
import { addPaymentLine } from './payments/add-payment-line.js';
import { deletePaymentLine } from './payments/delete-payment-line.js';
import { getLineCurrency } from './payments/get-line-currency.js';
import { getPaymentStats } from './payments/get-payment-stats.js';
import { listOpenLines } from './payments/list-open-lines.js';
import { listPayments } from './payments/list-payments.js';
import { addReceipt } from './payments/add-receipt.js';
import { listReceipts } from './payments/list-receipts.js';
import { recordInvoiceEvidence } from './payments/record-invoice-evidence.js';
import { recordReceipt } from './payments/record-receipt.js';
import { updatePaymentLine } from './payments/update-payment-line.js';
import { discardMessages } from './outbox/discard-messages.js';
import { listMessages } from './outbox/list-messages.js';
import { retryMessages } from './outbox/retry-messages.js';
import { leaseMessages } from './outbox/lease-messages.js';
import { settleMessages } from './outbox/settle-messages.js';
import { addTask } from './tasks/add-task.js';
import { stepOverdueTasks } from './tasks/step-overdue-tasks.js';
import { updateTask } from './tasks/update-task.js';
import { getWorkflowNotice } from './workflow/get-workflow-notice.js';
import { listWorkflowEvents } from './workflow/list-workflow-events.js';
import { lockContract } from './workflow/lock-contract.js';
import { transitionContract } from './workflow/transition-contract.js';
import { addTerm } from './terms/add-term.js';
import { deleteTerm } from './terms/delete-term.js';
import { updateTerm } from './terms/update-term.js';
import { extractContract } from './extraction/extract-contract.js';
import { readDocuments } from './extraction/read-documents.js';
import { getExtraction } from './extraction/get-extraction.js';
import { reviewExtraction } from './extraction/review-extraction.js';
import { beginReceiving } from './moving/begin-receiving.js';
import { beginMovingOut } from './moving/begin-moving-out.js';
import { readRowsToMove } from './moving/read-rows-to-move.js';
import { readLongText } from './moving/read-long-text.js';
import { receiveRows } from './moving/receive-rows.js';
import { receiveLongText } from './moving/receive-long-text.js';
import { digestRows } from './moving/digest-rows.js';
import { listFilesToMove } from './moving/list-files-to-move.js';
import { readFilePart } from './moving/read-file-part.js';
import { receiveFilePart } from './moving/receive-file-part.js';
import { hashFile } from './moving/hash-file.js';
import { finishReceiving } from './moving/finish-receiving.js';
import { finishMovingOut } from './moving/finish-moving-out.js';
import { cancelMove } from './moving/cancel-move.js';
import { removeMovedData } from './moving/remove-moved-data.js';
import { lookForWork } from './upkeep/look-for-work.js';
import { removeEnded } from './upkeep/remove-ended.js';
import { createSavedView } from './views/create-saved-view.js';
import { deleteSavedView } from './views/delete-saved-view.js';
import { listSavedViews } from './views/list-saved-views.js';
import { updateSavedView } from './views/update-saved-view.js';

/** All operations of the data plane. A new operation is added here. */
export const OPERATIONS = {
  createContract,
  getContract,
  listContracts,
  updateContract,
  deleteContract,
  bulkDeleteContracts,
  bulkAttachContracts,
  listTrash,
  restoreContract,
  listHistory,
  addNote,
  updateNote,
  deleteNote,
  addTerm,
  updateTerm,
  deleteTerm,
  addPaymentLine,
  updatePaymentLine,
  deletePaymentLine,
  recordReceipt,
  addReceipt,
  listReceipts,
  recordInvoiceEvidence,
  addInvoice,
  updateInvoice,
  listContractInvoices,
  listInvoices,
  planInvoiceExport,
  exportInvoices,
  recordInvoiceExport,
  addTask,
  updateTask,
  stepOverdueTasks,
  listPayments,
  listOpenLines,
  listCollections,
  setPaymentHold,
  deletePaymentHold,
  listDeliveries,
  decideReminders,
  getReminderRun,
  getReminderMessage,
  settleReminders,
  previewReminder,
  queueReminder,
  queueReminders,
  getDelivery,
  listDueLanes,
  listMessages,
  retryMessages,
  discardMessages,
  getWorkflowNotice,
  getInfectedFileNotice,
  getPaymentStats,
  getLineCurrency,
  getAnalyticsSummary,
  getAnalyticsCashflow,
  getAnalyticsDistribution,
  transitionContract,
  lockContract,
  listWorkflowEvents,
  getContractCatalog,
  createContractType,
  updateContractType,
  createLifecycleTemplate,
  updateLifecycleTemplate,
  addLifecycleStage,
  updateLifecycleStage,
  addLifecycleTransition,
  updateLifecycleTransition,
  getHandoverExtent,
  planContractExport,
  exportContracts,
  recordExport,
  importContracts,
  continueImports,
  previewImport,
  getImport,
  getImportErrors,
  getImportTemplate,
  listSuperiors,
  handOver,
  closeSubject,
  closeChannel,
  reopenClosed,
  extractContract,
  getExtraction,
  readDocuments,
  reviewExtraction,
  presignFile,
  confirmFile,
  getFile,
  listContractFiles,
  downloadFile,
  scanFiles,
  sweepFiles,
  listSavedViews,
  createSavedView,
  updateSavedView,
  deleteSavedView,
  listFields,
  runFieldCommand,
  leaseMessages,
  settleMessages,
  removeEnded,
  lookForWork,
  listAudit,
  chainAudit,
  checkAudit,
  getAuditHead,
  exportAudit,
  beginReceiving,
  beginMovingOut,
  readRowsToMove,
  readLongText,
  receiveRows,
  receiveLongText,
  digestRows,
  listFilesToMove,
  readFilePart,
  receiveFilePart,
  hashFile,
  finishReceiving,
  finishMovingOut,
  cancelMove,
  removeMovedData,
} as const;

export type Operations = typeof OPERATIONS;
export const OPERATION_NAMES = Object.keys(OPERATIONS) as (keyof Operations)[];
