import { fail } from '../../data-plane-agent/base/failures.js';
import { s } from '../../data-plane-agent/base/schema.js';
import { Ok, page } from '../../data-plane-agent/plane/contract/records/common.js';
import {
  InvoiceEvidencePatch,
  PaymentLineInput,
  PaymentLinePatch,
  PaymentLineResult,
  paymentRowProperties,
  PaymentQuery,
  PaymentStats,
  ReceiptPage,
  ReceiptPatch,
  ReceiptQuery,
} from '../../data-plane-agent/plane/contract/records/lines.js';
import { edit, view } from '../access/permissions.js';
import { judgeLine, judgeNewLine } from '../data-planes/judged-amounts.js';
import { endpoint } from '../http/endpoint.js';

/** A row with the names that the control plane adds. */
const PaymentRow = s.object(
  { ...paymentRowProperties, subjectName: s.nullable(s.text()), ownerName: s.nullable(s.text()) },
  { title: 'PaymentRow' },
);

const listPayments = endpoint('GET /payments', {
  summary: 'List payment lines over all contracts',
  description:
    '`due` has what is outstanding and due today or later, `overdue` what is outstanding and was due before today: together all open lines, and never the same one. `reconcile` has money received that is not matched, latest first; the others go by due date. `includeDeleted` adds removed lines and the lines of deleted contracts, whose `deletedAt` is set.',
  needs: view('payment_entry'),
  query: PaymentQuery,
  returns: page(PaymentRow, { title: 'PaymentPage' }),
  calls: ['listPayments'],
  fails: [],
  run: async ({ query, plane, principal, services }) => {
    const directory = await services.directory.of(principal.tenant.id);
    if (query.subjectId && !directory.hasSubject(query.subjectId)) throw fail('NOT_FOUND', {});
    const found = await plane.listPayments(query);
    return {
      ...found,
      items: found.items.map((row) => ({
        ...row,
        subjectName: directory.subjectName(row.subjectId),
        ownerName: directory.memberName(row.ownerId),
      })),
    };
  },
});

const getPaymentStats = endpoint('GET /payments/stats', {
  summary: 'Count and add up payment lines',
  description:
    "Over the contracts that the caller may see, currency by currency. Amounts at the top are those in the tenant's default currency. `dueSoon` has what is due from today to the end of the reminder lead days, and is part of `due`.",
  needs: view('payment_entry'),
  returns: PaymentStats,
  calls: ['getPaymentStats'],
  fails: [],
  run: ({ plane }) => plane.getPaymentStats({}),
});

const addPaymentLine = endpoint('POST /contracts/:id/payments', {
  summary: 'Add a payment line to a contract',
  description:
    'Also to a locked one. Invoice fields need `invoice (edit)`, and an `invoiceNo` makes an issued invoice record.',
  needs: edit('payment_entry'),
  body: PaymentLineInput,
  judge: judgeNewLine,
  status: 201,
  returns: PaymentLineResult,
  calls: ['addPaymentLine'],
  fails: [],
  run: ({ params, body, plane }) => plane.addPaymentLine({ contractId: params.id, ...body }),
});

const updatePaymentLine = endpoint('PATCH /payments/:paymentId', {
  summary: 'Change a payment line',
  description:
    "Invoice fields mean what they mean in `PATCH /payments/:paymentId/invoice`. On a locked contract period, due date, amount and currency stay as they are (`CONTRACT_LOCKED`); receipts and invoice evidence stay open. A line with money received or invoiced keeps its currency. Without `amount` a new currency keeps the number. Another amount puts a matched line back to `pending`. Invoice fields need `invoice (edit)`. Moves the contract's version; `If-Match` is not read.",
  needs: edit('payment_entry'),
  body: PaymentLinePatch,
  judge: judgeLine,
  returns: PaymentLineResult,
  calls: ['updatePaymentLine'],
  fails: [],
  run: ({ params, body, plane }) => plane.updatePaymentLine({ ...params, ...body }),
});

const deletePaymentLine = endpoint('DELETE /payments/:paymentId', {
  summary: 'Remove a payment line',
  description:
    'Only one without receipt and invoice, and not from a locked contract. It is still listed with `includeDeleted`.',
  needs: edit('payment_entry'),
  returns: Ok,
  calls: ['deletePaymentLine'],
  fails: [],
  run: ({ params, plane }) => plane.deletePaymentLine(params),
});

const recordReceipt = endpoint('PATCH /payments/:paymentId/receipt', {
  summary: 'Record money received against a payment line',
  description:
    '`receivedAmount` is the new total received on the line: the same request twice changes nothing, and a lower total is a correction. Another `receivedDate` alone says that what came on the former day came on this one, and the cash flow follows. Warnings: `NOTE_RECOMMENDED` for an exception without a note, `BANK_SERIAL_REUSED` with at most 20 `paymentIds` when other lines name the transfer.',
  needs: edit('payment_entry'),
  body: ReceiptPatch,
  judge: judgeLine,
  returns: PaymentLineResult,
  calls: ['recordReceipt'],
  fails: [],
  run: ({ params, body, plane }) => plane.recordReceipt({ ...params, ...body }),
});

const listReceipts = endpoint('GET /payments/:paymentId/receipts', {
  summary: 'List what was received on a payment line',
  description:
    'Each change of the total, newest first; corrections have a negative `delta`, and the day on which they were made unless the request gave another `receivedDate`. A corrected day alone is two: what came on the former day is taken from it and put to the other. Receipts of a removed line stay readable.',
  needs: view('payment_entry'),
  query: ReceiptQuery,
  returns: ReceiptPage,
  calls: ['listReceipts'],
  fails: [],
  run: ({ params, query, plane }) => plane.listReceipts({ ...params, ...query }),
});

const recordInvoiceEvidence = endpoint('PATCH /payments/:paymentId/invoice', {
  summary: 'Record the invoice written for a payment line',
  description:
    'With an `invoiceNo` it makes one issued invoice record of the line, or takes the one that was entered under that number; later changes of these fields change that record, another number renames it, and `null` removes it unless money was matched to the line (`LINE_HAS_MONEY`). ' +
    "Without a number `invoiceAmount` counts as long as the line has no invoice records at all; after that the warning `INVOICE_RECORDS_COUNT` says that it does not. What is invoiced without a date gets today's. " +
    "An invoice above the line's amount is accepted with the warning `INVOICE_EXCEEDS_LINE`. Of a record that is void or reversed the line keeps nothing: the next invoice has a number of its own.",
  needs: edit('invoice'),
  body: InvoiceEvidencePatch,
  judge: judgeLine,
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
  listReceipts,
  recordInvoiceEvidence,
};
