import { s, partial, type Static } from '../../../base/schema.js';
import { INVOICE_STATUSES } from '../vocabulary.js';
import { stamps, warnings } from './common.js';

/** How many invoice records one contract may have. */
export const MAX_INVOICES = 5_000;

/** An invoice record as a client sends it (API document 2.12). */
export const InvoiceInput = s.object(
  {
    receivablePlanId: s.optional(
      s.id('The payment line that it invoices; without one it stands for the contract as a whole.'),
    ),
    paymentRecordId: s.optional(s.id('The receipt that it belongs to: a row of `GET /payments/:paymentId/receipts`.')),
    invoiceNo: s.plain({
      about: "Unique among the subject company's records, whatever its case. A void record gives its number back.",
    }),
    invoiceAmount: s.amount(
      "With tax, never negative: a record posted as `red_letter` takes its amount away. In the line's currency, else the contract's.",
    ),
    invoiceDate: s.optional(s.day('Default: today, once it is issued or a red letter.')),
    status: s.optional(s.enum(INVOICE_STATUSES, 'Default: `draft`.')),
    attachment: s.optional(s.plain({ about: "A file's id, or any other text that points to the evidence." })),
    taxRate: s.optional(
      s.number({ min: 0, max: 100, about: "Percent, up to six decimals. Default: the contract's `invoicePoints`." }),
    ),
    note: s.optional(s.longText()),
  },
  { title: 'InvoiceInput' },
);
export type InvoiceInput = Static<typeof InvoiceInput>;

export const InvoicePatch = partial(InvoiceInput, { title: 'InvoicePatch' });
export type InvoicePatch = Static<typeof InvoicePatch>;

const invoiceProperties = {
  id: s.id(),
  contractId: s.id(),
  receivablePlanId: s.nullable(s.id()),
  paymentRecordId: s.nullable(s.id()),
  invoiceNo: s.text(),
  invoiceAmount: s.amount(),
  currencyCode: s.currency(),
  invoiceDate: s.nullable(s.day()),
  status: s.enum(INVOICE_STATUSES),
  attachment: s.nullable(s.text()),
  taxRate: s.nullable(s.number({ min: 0, max: 100 })),
  taxAmount: s.nullable(s.amount('The tax inside invoiceAmount: amount × rate / (100 + rate); `null` without a rate.')),
  netAmount: s.nullable(s.amount('invoiceAmount − taxAmount')),
  note: s.nullable(s.longText()),
  reversesInvoiceId: s.nullable(s.id('Of a red letter that was made by turning an issued record: that record.')),
  reversedByInvoiceId: s.nullable(s.id('Of an issued record that was turned: the red letter that takes it away.')),
  createdBy: s.nullable(s.id()),
  updatedBy: s.nullable(s.id()),
  ...stamps,
};

/** An invoice record as it is answered. */
export const Invoice = s.object(invoiceProperties, { title: 'Invoice' });
export type Invoice = Static<typeof Invoice>;

/** A new or changed record, with what deserves a look but did not stop the change. */
export const InvoiceResult = s.object(
  {
    ...invoiceProperties,
    contractVersion: s.integer({
      min: 1,
      max: Number.MAX_SAFE_INTEGER,
      about: "The contract's version by now, for `If-Match`.",
    }),
    warnings,
  },
  { title: 'InvoiceResult' },
);
export type InvoiceResult = Static<typeof InvoiceResult>;
