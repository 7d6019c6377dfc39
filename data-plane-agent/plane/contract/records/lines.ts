import { s, partial, type Static } from '../../../base/schema.js';
import { DUE_STATUSES, PAYMENT_STATUSES, PAYMENT_TABS, RECONCILIATION_STATUSES } from '../vocabulary.js';
import { page, pageQuery, PARTY_A, PARTY_B, stamps, warnings } from './common.js';

const receipt = {
  receivedAmount: s.optional(s.amount('The new cumulative total received on the line, not an increment.')),
  receivedDate: s.optional(
    s.day(
      'Default: today, when the total increases. It is kept while the total is above 0 and cleared when it becomes 0.',
    ),
  ),
  method: s.optional(s.plain()),
  payerName: s.optional(s.plain()),
  receiptAccount: s.optional(s.plain()),
  bankSerialNo: s.optional(
    s.plain({ about: 'Serial number of the bank transfer; one transfer may settle several lines.' }),
  ),
  reconciliationStatus: s.optional(s.enum(RECONCILIATION_STATUSES)),
  reconciliationNote: s.optional(s.longText()),
  proof: s.optional(s.id('File reference.')),
};
const invoiceEvidence = {
  invoiceAmount: s.optional(s.amount()),
  invoiceDate: s.optional(s.day()),
  invoiceNo: s.optional(s.plain()),
  invoiceAttachment: s.optional(s.id('File reference.')),
};

/** A payment line as a client sends it (API document 2.9). */
export const PaymentLineInput = s.object(
  {
    period: s.plain({ about: 'What the line is for, for example `2026-03` or `delivery`.' }),
    dueDate: s.day(),
    amount: s.amount(),
    currencyCode: s.optional(s.currency()),
    ...receipt,
    ...invoiceEvidence,
  },
  { title: 'PaymentLineInput' },
);
export type PaymentLineInput = Static<typeof PaymentLineInput>;

export const PaymentLinePatch = partial(PaymentLineInput, { title: 'PaymentLinePatch' });
export type PaymentLinePatch = Static<typeof PaymentLinePatch>;

export const ReceiptPatch = s.object(receipt, { title: 'ReceiptPatch' });
export type ReceiptPatch = Static<typeof ReceiptPatch>;

const { receivedAmount: _total, receivedDate: _date, ...receiptDetails } = receipt;

/** An amount that is added to what was received before. */
export const ReceiptInput = s.object(
  {
    amount: s.positiveAmount({
      about:
        "The amount to add to what the line has received, in the line's currency. A correction or refund is `PATCH /payments/:paymentId/receipt` with the new total.",
      instead: 'a refund or correction is PATCH /payments/:paymentId/receipt with the new total',
    }),
    receivedDate: s.optional(s.day('Default: today.')),
    ...receiptDetails,
  },
  { title: 'ReceiptInput' },
);
export type ReceiptInput = Static<typeof ReceiptInput>;

export const InvoiceEvidencePatch = s.object(invoiceEvidence, { title: 'InvoiceEvidencePatch' });
export type InvoiceEvidencePatch = Static<typeof InvoiceEvidencePatch>;

const lineProperties = {
  id: s.id(),
  contractId: s.id(),
  period: s.text(),
  dueDate: s.day(),
  amount: s.amount(),
  currencyCode: s.currency(),
  receivedAmount: s.amount(),
  receivedDate: s.nullable(s.day()),
  method: s.nullable(s.text()),
  payerName: s.nullable(s.text()),
  receiptAccount: s.nullable(s.text()),
  bankSerialNo: s.nullable(s.text()),
  reconciliationStatus: s.enum(RECONCILIATION_STATUSES),
  reconciliationNote: s.nullable(s.longText()),
  proof: s.nullable(s.id()),
  invoiceAmount: s.nullable(s.amount()),
  invoiceDate: s.nullable(s.day()),
  invoiceNo: s.nullable(s.text()),
  invoiceAttachment: s.nullable(s.id()),
  outstandingAmount: s.amount('max(0, amount − receivedAmount)'),
  overpaidAmount: s.amount('max(0, receivedAmount − amount)'),
  invoicedAmount: s.signedAmount('Net of red letters.'),
  uninvoicedAmount: s.amount('max(0, amount − invoicedAmount)'),
  paymentStatus: s.enum(PAYMENT_STATUSES),
  dueStatus: s.enum(DUE_STATUSES),
  daysOverdue: s.integer({ max: 4_000_000 }),
  deletedAt: s.nullable(s.instant()),
  ...stamps,
};

/** A payment line in a response. */
export const PaymentLine = s.object(lineProperties, { title: 'PaymentLine' });
export type PaymentLine = Static<typeof PaymentLine>;

/** An updated line, with warnings. */
export const PaymentLineResult = s.object({ ...lineProperties, warnings }, { title: 'PaymentLineResult' });
export type PaymentLineResult = Static<typeof PaymentLineResult>;

/** A row of the receivables list: the line and data of its contract. The control plane adds names. */
export const paymentRowProperties = {
  ...lineProperties,
  contractNo: s.text(),
  projectName: s.text(),
  partyA: s.text({ about: PARTY_A }),
  partyB: s.text({ about: PARTY_B }),
  subjectId: s.id(),
  ownerId: s.id(),
};
export const PaymentPage = page(s.object(paymentRowProperties));
export type PaymentPage = Static<typeof PaymentPage>;

export const PaymentQuery = s.object({
  tab: s.optional(s.enum(PAYMENT_TABS)),
  ...pageQuery,
  contractId: s.optional(s.id()),
  subjectId: s.optional(s.id()),
  includeDeleted: s.optional(s.flag('Include deleted lines and lines of deleted contracts, for audits.')),
});
export type PaymentQuery = Static<typeof PaymentQuery>;

/** One change of the amount received on a line; corrections and refunds have a negative `delta`. */
export const Receipt = s.object(
  {
    id: s.id(),
    paymentId: s.id(),
    delta: s.signedAmount(),
    total: s.amount(),
    currencyCode: s.currency(),
    receivedDate: s.nullable(s.day()),
    method: s.nullable(s.text()),
    payerName: s.nullable(s.text()),
    receiptAccount: s.nullable(s.text()),
    bankSerialNo: s.nullable(s.text()),
    proofFileId: s.nullable(s.id()),
    actorId: s.nullable(s.id()),
    actorName: s.text(),
    at: s.instant(),
    ...stamps,
  },
  { title: 'Receipt' },
);
export type Receipt = Static<typeof Receipt>;
export const ReceiptPage = page(Receipt, { title: 'ReceiptPage' });
export type ReceiptPage = Static<typeof ReceiptPage>;
export const ReceiptQuery = s.object({ ...pageQuery });

const statsCounts = s.object(
  Object.fromEntries(
    ['due', 'overdue', 'dueSoon', 'reconcile', 'invoice', 'paid', 'partial', 'unpaid', 'all'].map((key) => [
      key,
      s.integer(),
    ]),
  ) as Record<StatsCount, ReturnType<typeof s.integer>>,
);
type StatsCount = 'due' | 'overdue' | 'dueSoon' | 'reconcile' | 'invoice' | 'paid' | 'partial' | 'unpaid' | 'all';

/**
 * Sums can exceed the maximum of a single amount. Above 2^53 minor units they are rounded to the nearest JSON number.
 */
const sum = () => s.number({ min: 0, max: 1e24 });
const statsAmounts = {
  amount: sum(),
  received: sum(),
  outstanding: sum(),
  overdue: sum(),
  dueSoon: sum(),
  uninvoiced: sum(),
};

export const PaymentStats = s.object(
  {
    asOf: s.day("The day in the tenant's time zone against which due dates were compared."),
    counts: statsCounts,
    byCurrency: s.list(s.object({ currencyCode: s.currency(), ...statsAmounts }), 200),
    ...statsAmounts,
  },
  {
    title: 'PaymentStats',
    about: "The top-level amounts are those in the tenant's default currency; different currencies are never added.",
  },
);
export type PaymentStats = Static<typeof PaymentStats>;
