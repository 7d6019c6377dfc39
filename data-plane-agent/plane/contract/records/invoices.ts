import { s, partial, type Static } from '../../../base/schema.js';
import { INVOICE_STATUSES } from '../vocabulary.js';
import { stamps, warnings } from './common.js';

/** The maximum number of invoice records of one contract. */
export const MAX_INVOICES = 5_000;

/** An invoice record as a client sends it (API document 2.12). */
export const InvoiceInput = s.object(
  {
    receivablePlanId: s.optional(
      s.id('The invoiced payment line; without one the record applies to the whole contract.'),
    ),
    paymentRecordId: s.optional(s.id('The related receipt, from `GET /payments/:paymentId/receipts`.')),
    invoiceNo: s.plain({
      about:
        "Unique among the subject company's records, ignoring case. The number of a void record can be used again.",
    }),
    invoiceAmount: s.amount(
      'Including tax, never negative: the amount of a `red_letter` is subtracted. In the currency of the line or, without one, of the contract.',
    ),
    invoiceDate: s.optional(
      s.day(
        'Default: today, when the record is issued or created as a red letter. Setting an issued record to `red_letter` does not change it: the date of that red letter is `redLetterDate`.',
      ),
    ),
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

export const InvoicePatch = s.object(
  {
    ...partial(InvoiceInput).properties,
    redLetterNo: s.optional(
      s.plain({
        about:
          'Only with `status: red_letter`: the number of the red letter that reverses the record. Default: `<invoiceNo>-R`, which is provisional.',
      }),
    ),
    redLetterDate: s.optional(
      s.day(
        'Only with `status: red_letter`: the date of the red letter that reverses the record, not before the `invoiceDate` of the record. Default: today, or that `invoiceDate` if it is later.',
      ),
    ),
  },
  { title: 'InvoicePatch' },
);
export type InvoicePatch = Static<typeof InvoicePatch>;

export const invoiceProperties = {
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
  taxAmount: s.nullable(
    s.amount('The tax contained in invoiceAmount: amount × rate / (100 + rate); `null` without a rate.'),
  ),
  netAmount: s.nullable(s.amount('invoiceAmount − taxAmount')),
  note: s.nullable(s.longText()),
  reversesInvoiceId: s.nullable(s.id('For a red letter that reverses an issued record: the id of that record.')),
  reversedByInvoiceId: s.nullable(s.id('For an issued record that was reversed: the id of the red letter.')),
  createdBy: s.nullable(s.id()),
  updatedBy: s.nullable(s.id()),
  ...stamps,
};

/** An invoice record in a response. */
export const Invoice = s.object(invoiceProperties, { title: 'Invoice' });
export type Invoice = Static<typeof Invoice>;

/** A created or updated record, with warnings. */
export const InvoiceResult = s.object(
  {
    ...invoiceProperties,
    contractVersion: s.integer({
      min: 1,
      max: Number.MAX_SAFE_INTEGER,
      about: 'The current version of the contract, for `If-Match`.',
    }),
    warnings,
  },
  { title: 'InvoiceResult' },
);
export type InvoiceResult = Static<typeof InvoiceResult>;
