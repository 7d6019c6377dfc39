import { InvoiceInput, InvoicePatch, InvoiceResult } from '../../data-plane-agent/plane/contract/records/invoices.js';
import { edit } from '../access/permissions.js';
import { judgeInvoice } from '../data-planes/judged-amounts.js';
import { endpoint } from '../http/endpoint.js';

const addInvoice = endpoint('POST /contracts/:id/invoices', {
  summary: 'Enter an invoice record',
  description:
    'Of a payment line (`receivablePlanId`), or of the contract as a whole; in any of the four states, and on a locked contract too. Once a line has records, whatever their state, they alone say what is invoiced on it: issued ones less red letters, while drafts and void ones count nothing. ' +
    "A record posted as `red_letter` takes its amount away, and all of them together at most what is issued on the same line or, without a line, on the contract (`RED_LETTER_EXCEEDS_ISSUED`). The contract's `invoicedAmount` adds up its lines and the records without line; `uninvoicedAmount` goes line by line. " +
    "More invoiced than the line amounts to is accepted with the warning `INVOICE_EXCEEDS_LINE`. Moves the contract's version, and honours `If-Match` with it.",
  needs: edit('invoice'),
  body: InvoiceInput,
  judge: judgeInvoice,
  status: 201,
  returns: InvoiceResult,
  calls: ['addInvoice'],
  fails: [],
  run: ({ params, body, plane }) => plane.addInvoice({ contractId: params.id, ...body }),
});

const updateInvoice = endpoint('PATCH /contracts/:id/invoices/:invoiceId', {
  summary: 'Issue, void or reverse an invoice record',
  description:
    'States: draft to issued or void, issued to void or red_letter; the same again changes nothing, and all else is `INVALID_TRANSITION`. A draft changes in every field; of an issued record `note`, `attachment` and `paymentRecordId` stay open, of any other one `note` and `attachment` (`INVOICE_FIXED`). ' +
    'An issued record cannot be void once money was matched to it (`LINE_HAS_MONEY`): its line has money received that is `matched`, or the receipt that it names is on a line with money. It is turned to `red_letter` instead: it stays `issued`, and a red letter `<invoiceNo>-R`, dated today, takes its amount away (`reversedByInvoiceId`, `reversesInvoiceId`). ' +
    "When the record was made by `PATCH /payments/:paymentId/invoice`, voiding or turning it clears the line's own invoice fields. A change that changes nothing answers 200 with the contract's version unmoved; `If-Match` takes that version.",
  needs: edit('invoice'),
  body: InvoicePatch,
  judge: judgeInvoice,
  returns: InvoiceResult,
  calls: ['updateInvoice'],
  fails: [],
  run: ({ params, body, plane }) =>
    plane.updateInvoice({ contractId: params.id, invoiceId: params.invoiceId, changes: body }),
});

export const invoiceEndpoints = { addInvoice, updateInvoice };
