import Type, { type Static, type TSchema } from 'typebox';

/**
 * Every warning that the product can give, and the only place where their codes are born: what deserves a look, and did
 * not stop the request. Codes never change once shipped. `{ code, message, … }` is the wire shape, with the details
 * beside the two. The OpenAPI document, the reference page and `docs/api-conventions.md` list this table, and a test
 * proves both directions.
 */
export interface WarningKind<D extends TSchema = TSchema> {
  /** What it says, for the documents; also the message where the warning brings none of its own. */
  readonly meaning: string;
  /** What stands beside `code` and `message`. */
  readonly details: D;
}

const None = Type.Object({});
const Lines = Type.Object({ paymentIds: Type.Array(Type.String()) });
const LinesOrNone = Type.Partial(Lines);

const warning = <D extends TSchema>(meaning: string, details: D): WarningKind<D> => ({ meaning, details });

export const WARNINGS = {
  MIXED_CURRENCY: warning(
    "Some lines are in another currency than the contract; the contract's amounts leave them out.",
    None,
  ),
  NOTE_RECOMMENDED: warning(
    'A note should say why: in `reconciliationNote` why a receipt is an exception, or with the move why a contract is returned.',
    LinesOrNone,
  ),
  BANK_SERIAL_REUSED: warning('Other payment lines name the same bank transfer.', LinesOrNone),
  INVOICE_EXCEEDS_LINE: warning('More is invoiced than the payment line amounts to.', LinesOrNone),
  INVOICE_RECORDS_COUNT: warning(
    'The payment line has invoice records: they say what is invoiced, and an invoiceAmount without invoiceNo does not count.',
    LinesOrNone,
  ),

  OPEN_BALANCE: warning('Payment lines are still open; they stay collectable.', Lines),
  OPEN_TASKS: warning('Fulfillment tasks are neither completed nor accepted.', None),
  EXTRACTION_UNREVIEWED: warning('Fields that were read with low confidence are still to be reviewed.', None),
  TASK_EXISTS: warning('The contract has a fulfillment task of this code already; none was added.', None),
  TASK_LIMIT_REACHED: warning('The contract has as many fulfillment tasks as there can be; none was added.', None),

  COLUMNS_LEFT_OUT: warning('Fields of the view are not there or not visible to the reader, and left out.', None),

  TOTAL_MISMATCH: warning('Quantity × unit price is not the total.', None),
  CAPITAL_AMOUNT_MISMATCH: warning('The amount in words is not the amount in digits.', None),
  DATES_REVERSED: warning('The end is before the start.', None),
  INSTALMENTS_MISMATCH: warning('The instalments do not add up to the total.', None),
  OTHER_DOCUMENT: warning('The document seems to be neither a sale nor a lease.', None),
  NOT_MARKED_EXTRACTED: warning('The contract stays a draft: the lifecycle did not let it move on.', None),

  AMBIGUOUS: warning('The text says something else as likely: see the candidates.', None),
  SEVERAL_ITEMS: warning('The text has several items; a contract has room for one.', None),
  WHOSE_ACCOUNT: warning('The text does not say whose account this is.', None),
  DAY_OR_MONTH_FIRST: warning('Day and month may be the other way round.', None),
  FROM_SHARE: warning('The text says a share of the total, from which the amount was computed.', None),
  A_PLAN: warning('The text says when which part is paid, and not by what means.', None),

  RECOGNISED: warning('Pages were read from pictures, by character recognition.', None),
  LOW_RECOGNITION: warning('The picture of a page is hard to read: hold what was read against it.', None),
  PAGES_LEFT_OUT: warning('The document has more pages than are read.', None),
  PAGE_UNREADABLE: warning('A page, or its pictures, cannot be read.', None),
  TEXT_CUT: warning('The document has more text than is read.', None),
  HIDDEN_CONTENT: warning('The document holds hidden text or sheets, which were left out.', None),
  ENCODING_GUESSED: warning('The text does not say how its characters are encoded; the encoding was guessed.', None),

  DOCUMENT_EMPTY: warning('The file is empty, or the document has no text.', None),
  DOCUMENT_UNREADABLE: warning('The document could not be read.', None),
  DOCUMENT_UNSUPPORTED: warning('The document is of no kind that is read.', None),
  DOCUMENT_ENCRYPTED: warning('The document needs a password.', None),
  DOCUMENT_DAMAGED: warning('The document is not what its type says.', None),
  DOCUMENT_TOO_LARGE: warning('The document is larger than is read, or unpacks to far too much.', None),
  DOCUMENT_TOO_SLOW: warning('The document could not be read in the time that there is for one.', None),
  DOCUMENT_BUSY: warning('Other documents kept the reader busy for a day.', None),
  DOCUMENT_CLOSED: warning('The reader was stopped for a day.', None),
  FILE_INFECTED: warning('Malware was found in the file.', None),
  FILE_GONE: warning('The file is no longer there.', None),
  OBJECT_STORE_UNAVAILABLE: warning('The file could not be had from the object store for a day.', None),

  SUPERIOR_REPLACED: warning(
    'The successor would be their own superior on contracts: their own superior stands in.',
    None,
  ),
  SUPERIOR_CLEARED: warning(
    'The successor would be their own superior on contracts, and has none themselves: no superior is named there any more.',
    None,
  ),
  TAX_NO_CHECKSUM: warning(
    'The tax number has 18 characters, but its check character is not that of a unified social credit code.',
    None,
  ),
  DATA_PLANE_INACTIVE: warning(
    'In this edition contract data is kept by the service itself: the connection is noted, and nothing comes of it.',
    None,
  ),
} as const;

export type WarningCode = keyof typeof WARNINGS;
export type WarningDetails<C extends WarningCode> = Static<(typeof WARNINGS)[C]['details']>;

/** A warning as it is answered. */
export interface GivenWarning {
  readonly code: WarningCode;
  readonly message: string;
  readonly paymentIds?: string[];
}

/** `warn('OPEN_BALANCE', { paymentIds })`; `message` where there is more to say than the meaning. */
export const warn = <C extends WarningCode>(
  code: C,
  { message = WARNINGS[code].meaning, ...details }: { readonly message?: string } & WarningDetails<C>,
): GivenWarning => ({ code, message, ...details });
