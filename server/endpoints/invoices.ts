import { InvoiceInput, InvoicePatch, InvoiceResult } from '../../data-plane-agent/plane/contract/records/invoices.js';
import { edit } from '../access/permissions.js';
import { invoiceIssues } from '../data-planes/amount-issues.js';
import { endpoint } from '../http/endpoint.js';

const addInvoice = endpoint('POST /contracts/:id/invoices', {
  summary: 'Create an invoice record',
  description:
    'The record belongs to a payment line (`receivablePlanId`) or to the contract as a whole. It may have any of the four states, and the contract may be locked. Once a line has invoice records, in any state, its invoiced amount is computed only from them: issued records less red letters; drafts and void records do not count. ' +
    "A record created as `red_letter` reduces the invoiced amount. All red letters together must not exceed the issued amount on the same line or, without a line, on the contract (`RED_LETTER_EXCEEDS_ISSUED`). The contract's `invoicedAmount` is the sum of its lines and of the records without a line; `uninvoicedAmount` is computed per line. " +
    "Invoicing more than the amount of the line is accepted with the warning `INVOICE_EXCEEDS_LINE`, an issued record or red letter dated after today with `DATE_IN_FUTURE`, and a `taxRate` between 0 and 1 with `TAX_RATE_BELOW_ONE`: it is in percent, so 13 means 13 %. Increments the contract's version, which `If-Match` refers to.",
  needs: edit('invoice'),
  body: InvoiceInput,
  furtherIssues: invoiceIssues,
  status: 201,
  returns: InvoiceResult,
  calls: ['addInvoice'],
  fails: [],
  run: ({ params, body, plane }) => plane.addInvoice({ contractId: params.id, ...body }),
});

const updateInvoice = endpoint('PATCH /contracts/:id/invoices/:invoiceId', {
  summary: 'Issue, void or reverse an invoice record',
  description:
    'State changes: draft to issued or void, issued to void or red_letter. Setting the present state changes nothing; any other change is `INVALID_TRANSITION`. All fields of a draft can be changed; on an issued record `note`, `attachment` and `paymentRecordId`, on any other record `note` and `attachment` (`INVOICE_FIXED`). ' +
    'An issued record cannot be voided once a receipt was matched to it (`LINE_HAS_MONEY`): its line has a received amount that is `matched`, or the receipt that the record names is on a line with a received amount. Set it to `red_letter` instead: the record stays `issued`, and a red letter with the number `redLetterNo` (default `<invoiceNo>-R`, with the warning `RED_LETTER_NO_PROVISIONAL`) and the date `redLetterDate` (default today) cancels its amount (`reversedByInvoiceId`, `reversesInvoiceId`). A `redLetterNo` that another record has is `DUPLICATE_CODE`. `invoiceDate` is then still that of the reversed record: another one is `INVOICE_FIXED`, and its own one without `redLetterDate` is accepted with the warning `RED_LETTER_DATE_DEFAULT`. ' +
    'As long as the red letter has the default number, another such request gives it its own `redLetterNo` or another `redLetterDate`; a red letter dated today can also be given another date. Otherwise a number or date that differs is `INVOICE_FIXED`. ' +
    "If the record was created by `PATCH /payments/:paymentId/invoice`, voiding or reversing it clears the line's own invoice fields. A request that changes nothing returns 200 with the contract's version unchanged; `If-Match` refers to that version.",
  needs: edit('invoice'),
  body: InvoicePatch,
  furtherIssues: invoiceIssues,
  returns: InvoiceResult,
  calls: ['updateInvoice'],
  fails: [],
  run: ({ params, body, plane }) =>
    plane.updateInvoice({ contractId: params.id, invoiceId: params.invoiceId, changes: body }),
});

export const invoiceEndpoints = { addInvoice, updateInvoice };
