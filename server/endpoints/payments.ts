import { jsonBytes } from '../../data-plane-agent/base/json-pieces.js';
import { s } from '../../data-plane-agent/base/schema.js';
import { OkWithWarnings, page } from '../../data-plane-agent/plane/contract/records/common.js';
import {
  InvoiceEvidencePatch,
  PaymentLineInput,
  PaymentLinePatch,
  PaymentLineResult,
  paymentRowProperties,
  PaymentQuery,
  PaymentStats,
  ReceiptInput,
  ReceiptPage,
  ReceiptPatch,
  ReceiptQuery,
} from '../../data-plane-agent/plane/contract/records/lines.js';
import { edit, view } from '../access/permissions.js';
import { lineIssues, newLineIssues } from '../data-planes/amount-issues.js';
import { endpoint } from '../http/endpoint.js';
import { madeOnce, serialised } from '../http/reply.js';
import { checkFilter, rowNameProperties, withRowNames } from './named.js';

/** A row with the names that the control plane adds. */
const PaymentRow = s.object({ ...paymentRowProperties, ...rowNameProperties }, { title: 'PaymentRow' });

const listPayments = endpoint('GET /payments', {
  summary: 'List payment lines of all contracts',
  description:
    '`due` lists outstanding lines due today or later, `overdue` outstanding lines due before today; together they list each open line once. `reconcile` lists lines with received amounts that are not matched, latest first; the other lists are sorted by due date. `includeDeleted` adds deleted lines and the lines of deleted contracts, with `deletedAt`.',
  needs: view('payment_entry'),
  query: PaymentQuery,
  returns: page(PaymentRow, { title: 'PaymentPage' }),
  conditional: true,
  calls: ['listPayments'],
  fails: [],
  run: async ({ query, plane, principal, services }) => {
    const directory = await services.directory.of(principal.tenant.id);
    checkFilter(query, directory);
    const found = await plane.listPayments(query);
    return serialised(
      await madeOnce(found, directory, () =>
        jsonBytes({ ...found, items: found.items.map((row) => withRowNames(row, directory)) }),
      ),
    );
  },
});

const getPaymentStats = endpoint('GET /payments/stats', {
  summary: 'Get counts and totals of payment lines',
  description:
    "Covers the contracts visible to the caller, by currency. Amounts at the top level are those in the tenant's default currency. `dueSoon` covers lines due from today to the end of the reminder lead days, and is part of `due`.",
  needs: view('payment_entry'),
  returns: PaymentStats,
  calls: ['getPaymentStats'],
  fails: [],
  run: ({ plane }) => plane.getPaymentStats({}),
});

const addPaymentLine = endpoint('POST /contracts/:id/payments', {
  summary: 'Add a payment line to a contract',
  description:
    'Allowed on a locked contract too. When the lines then do not add up to the total of the contract, the warning `PLAN_DIFFERS_FROM_TOTAL` has the difference. Invoice fields need `invoice (edit)`, and an `invoiceNo` creates an issued invoice record.',
  needs: edit('payment_entry'),
  body: PaymentLineInput,
  furtherIssues: newLineIssues,
  status: 201,
  returns: PaymentLineResult,
  calls: ['addPaymentLine'],
  fails: [],
  run: ({ params, body, plane }) => plane.addPaymentLine({ contractId: params.id, ...body }),
});

const updatePaymentLine = endpoint('PATCH /payments/:paymentId', {
  summary: 'Update a payment line',
  description:
    "Invoice fields work as in `PATCH /payments/:paymentId/invoice` and need `invoice (edit)`. On a locked contract, period, due date, amount and currency cannot be changed (`CONTRACT_LOCKED`); receipts and invoice evidence can. The currency of a line with received or invoiced amounts cannot be changed. A new currency without `amount` keeps the number. Changing the amount of a matched line resets it to `pending`. A request with `amount` or `currencyCode` warns with `PLAN_DIFFERS_FROM_TOTAL` when the lines do not add up to the contract's total. Increments the contract's version; `If-Match` is ignored.",
  needs: edit('payment_entry'),
  body: PaymentLinePatch,
  furtherIssues: lineIssues,
  returns: PaymentLineResult,
  calls: ['updatePaymentLine'],
  fails: [],
  run: ({ params, body, plane }) => plane.updatePaymentLine({ ...params, ...body }),
});

const deletePaymentLine = endpoint('DELETE /payments/:paymentId', {
  summary: 'Delete a payment line',
  description:
    'Allowed only for a line without receipts and invoices, on a contract that is not locked. The line is still listed with `includeDeleted`. `warnings` has `PLAN_DIFFERS_FROM_TOTAL` when the remaining lines do not add up to the total of the contract.',
  needs: edit('payment_entry'),
  returns: OkWithWarnings,
  calls: ['deletePaymentLine'],
  fails: [],
  run: ({ params, plane }) => plane.deletePaymentLine(params),
});

const recordReceipt = endpoint('PATCH /payments/:paymentId/receipt', {
  summary: 'Record the amount received on a payment line',
  description:
    '`receivedAmount` is the new total received on the line: repeating a request changes nothing, and a lower total is a correction (warning `RECEIPT_LOWERED`). `POST /payments/:paymentId/receipts` adds an amount instead. Changing only `receivedDate` moves the amount received on the previous date to the new one, also in the cash flow. Warnings: `NOTE_RECOMMENDED` for an exception without a note (on an overpaid line its message has the excess amount), `DATE_IN_FUTURE` for a date after today, `BANK_SERIAL_REUSED` with at most 20 `paymentIds` if other lines refer to the same transfer; `transfers` has the number of its lines and what they have received by it, by currency, as far as the caller may see them. An amount belongs to the transfer that the line names when the amount is recorded; changing only `bankSerialNo` moves what the line has received by the previous transfer to the new one.',
  needs: edit('payment_entry'),
  body: ReceiptPatch,
  furtherIssues: lineIssues,
  returns: PaymentLineResult,
  calls: ['recordReceipt'],
  fails: [],
  run: ({ params, body, plane }) => plane.recordReceipt({ ...params, ...body }),
});

const addReceipt = endpoint('POST /payments/:paymentId/receipts', {
  summary: 'Add a receipt to a payment line',
  description:
    'Adds `amount`, as a bank statement shows it, to what the line has received, and returns the line with its new total. Every request adds: send an `Idempotency-Key`, so that a repeated request counts once. The receipt has the date `receivedDate`, which also becomes that of the line. The line shows the details of its last receipt: those of `method`, `payerName`, `receiptAccount`, `bankSerialNo` and `proof` that are not given become `null` on the receipt and on the line, and earlier receipts keep theirs. `reconciliationStatus` and `reconciliationNote` belong to the line and stay unless given. Otherwise fields work as in `PATCH /payments/:paymentId/receipt`, with the same warnings; `BANK_SERIAL_REUSED` is also given when the line already has a receipt of that transfer. ' +
    "Allowed on a locked contract. Increments the contract's version; `If-Match` is ignored.",
  needs: edit('payment_entry'),
  body: ReceiptInput,
  furtherIssues: lineIssues,
  status: 201,
  returns: PaymentLineResult,
  calls: ['addReceipt'],
  fails: [],
  run: ({ params, body, plane }) => plane.addReceipt({ ...params, ...body }),
});

const listReceipts = endpoint('GET /payments/:paymentId/receipts', {
  summary: 'List the receipts of a payment line',
  description:
    'Lists each change of the total, newest first. Corrections have a negative `delta` and the date on which they were made, unless the request had another `receivedDate`. Correcting only the date creates two entries: the amount is subtracted on the previous date and added on the new one. Receipts of a deleted line remain readable.',
  needs: view('payment_entry'),
  query: ReceiptQuery,
  returns: ReceiptPage,
  calls: ['listReceipts'],
  fails: [],
  run: ({ params, query, plane }) => plane.listReceipts({ ...params, ...query }),
});

const recordInvoiceEvidence = endpoint('PATCH /payments/:paymentId/invoice', {
  summary: 'Record the invoice of a payment line',
  description:
    'With an `invoiceNo`, creates an issued invoice record for the line, or uses the existing record with that number. Later changes of these fields update that record: another number renames it, and `null` removes it unless a receipt was matched to the line (`LINE_HAS_MONEY`). ' +
    "Without a number, `invoiceAmount` counts only while the line has no invoice records; otherwise the warning `INVOICE_RECORDS_COUNT` reports that it does not. An invoice without a date gets today's date. " +
    "An invoice above the line's amount is accepted with the warning `INVOICE_EXCEEDS_LINE`. When the record is voided or reversed, the line's invoice fields are cleared: the next invoice needs a new number.",
  needs: edit('invoice'),
  body: InvoiceEvidencePatch,
  furtherIssues: lineIssues,
  returns: PaymentLineResult,
  calls: ['recordInvoiceEvidence'],
  fails: [],
  run: ({ params, body, plane }) => plane.recordInvoiceEvidence({ ...params, ...body }),
});

export const paymentEndpoints = {
  listPayments,
  getPaymentStats,
  addPaymentLine,
  updatePaymentLine,
  deletePaymentLine,
  recordReceipt,
  addReceipt,
  listReceipts,
  recordInvoiceEvidence,
};
