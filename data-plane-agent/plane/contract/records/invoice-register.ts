import { s, type Static } from '../../../base/schema.js';
import { INVOICE_STATUSES } from '../vocabulary.js';
import { page, pageQuery } from './common.js';
import { invoiceProperties } from './invoices.js';

/** The other record of a reversal. */
const Counterpart = s.object(
  { id: s.id(), invoiceNo: s.text(), invoiceDate: s.nullable(s.day()) },
  { title: 'InvoiceCounterpart', about: 'The other invoice record of a reversal.' },
);

const entryProperties = {
  ...invoiceProperties,
  countedAmount: s.signedAmount(
    'What the record adds to the invoiced amount, in `currencyCode`: `invoiceAmount` when it is issued, −`invoiceAmount` of a red letter, 0 of a draft or void record.',
  ),
  reverses: s.nullable(Counterpart),
  reversedBy: s.nullable(Counterpart),
};

/** An invoice record in the list of its contract. */
export const InvoiceEntry = s.object(entryProperties, {
  title: 'InvoiceEntry',
  about:
    '`reverses` is the issued record that a red letter reverses, `reversedBy` the red letter that reverses a record.',
});
export type InvoiceEntry = Static<typeof InvoiceEntry>;

/** A row of the invoice register: the record and data of its contract. The control plane adds names. */
export const registerProperties = {
  ...entryProperties,
  contractNo: s.text(),
  projectName: s.text(),
  partyA: s.text(),
  partyB: s.text(),
  subjectId: s.id(),
  ownerId: s.id(),
  period: s.nullable(s.text({ about: 'The period of the payment line that the record invoices.' })),
};
export const RegisterRow = s.object(registerProperties);
export type RegisterRow = Static<typeof RegisterRow>;
export const RegisterPage = page(RegisterRow);

const filters = {
  status: s.optional(s.enum(INVOICE_STATUSES, 'Only records in this status.')),
  subjectId: s.optional(s.id()),
  from: s.optional(s.day('Records with an `invoiceDate` on or after this day.')),
  to: s.optional(s.day('Records with an `invoiceDate` on or before this day.')),
  q: s.optional(
    s.text({
      max: 200,
      about:
        'Case-insensitive substring of the invoice number, or of what `q` of `GET /contracts` searches in the contract.',
    }),
  ),
};
export const RegisterFilter = s.object(filters);
export type RegisterFilter = Static<typeof RegisterFilter>;
export const RegisterQuery = s.object({ ...pageQuery, ...filters });

/** An export of at most this many records determines their ids and order before it starts. */
export const MAX_REGISTER_IDS = 10_000;
/** Records per chunk of an export. */
export const REGISTER_CHUNK = 200;

/** The ids of an export in their order, or `null` if there are too many, which are then read by creation. */
export const RegisterPlan = s.object({ ids: s.nullable(s.list(s.id(), MAX_REGISTER_IDS)) });
export const RegisterChunk = s.object({
  invoices: s.list(RegisterRow, REGISTER_CHUNK),
  /** The id after which the next chunk starts; `null` when there are no more, and for planned ids. */
  next: s.nullable(s.id()),
});
export type RegisterChunk = Static<typeof RegisterChunk>;

/** The audit record of an export. */
export const RegisterExportRecord = s.object({
  filter: RegisterFilter,
  invoices: s.integer({ max: Number.MAX_SAFE_INTEGER }),
  /** `false` when the export failed or the client disconnected. */
  complete: s.flag(),
});
