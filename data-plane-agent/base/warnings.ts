import Type, { type Static, type TSchema } from 'typebox';
import { s } from './schema.js';

/**
 * All warnings that the product can give: things to check that did not stop the request. Codes are defined only here
 * and never change once released. The wire shape is `{ code, message, … }` plus the details. A test verifies that the
 * OpenAPI document, the reference page and `docs/api-conventions.md` list exactly this table.
 */
export interface WarningKind<D extends TSchema = TSchema> {
  /** The meaning, for the documentation; also the default message. */
  readonly meaning: string;
  /** The schema of the fields beside `code` and `message`. */
  readonly details: D;
}

/** The fields that a warning may have beside `code` and `message`. */
export const WARNING_DETAILS = {
  paymentIds: s.list(s.id(), 100, 'The payment lines that the warning concerns.'),
  today: s.day("Today in the tenant's time zone."),
  formerAmount: s.amount('The total received before the change, in `currencyCode`.'),
  receivedAmount: s.amount('The total received after the change, in `currencyCode`.'),
  totalAmount: s.amount("The contract's total, in `currencyCode`."),
  planAmount: s.amount("The sum of the contract's payment lines, in `currencyCode`."),
  difference: s.signedAmount('totalAmount − planAmount: above 0 when the plan does not reach the total.'),
  currencyCode: s.currency(),
  transfers: s.list(
    s.object(
      {
        bankSerialNo: s.text({ max: 500 }),
        lines: s.integer({ about: 'The number of lines that name the transfer now or have received an amount by it.' }),
        received: s.list(
          s.object(
            {
              currencyCode: s.currency(),
              receivedAmount: s.number({
                min: -1e24,
                max: 1e24,
                about: 'What these lines have received by this transfer, less refunds, in `currencyCode`.',
              }),
            },
            { title: 'TransferSum' },
          ),
          200,
          'One entry for each currency.',
        ),
      },
      {
        title: 'SharedTransfer',
        about:
          'A bank transfer that several payment lines refer to, with what they have received by it. Covers only lines that the caller may see.',
      },
    ),
    20,
    'The bank transfers that several lines refer to, at most 20.',
  ),
};

const None = Type.Object({});
const Lines = Type.Object({ paymentIds: WARNING_DETAILS.paymentIds });
const LinesOrNone = Type.Partial(Lines);
const {
  paymentIds,
  today,
  formerAmount,
  receivedAmount,
  totalAmount,
  planAmount,
  difference,
  currencyCode,
  transfers,
} = WARNING_DETAILS;

const warning = <D extends TSchema>(meaning: string, details: D): WarningKind<D> => ({ meaning, details });

export const WARNINGS = {
  MIXED_CURRENCY: warning(
    "Some lines have another currency than the contract; the contract's amounts do not include them.",
    None,
  ),
  NOTE_RECOMMENDED: warning(
    'A note is recommended: in `reconciliationNote`, why a receipt is an exception; with the transition, why a contract is returned.',
    LinesOrNone,
  ),
  BANK_SERIAL_REUSED: warning(
    'Other payment lines refer to the same bank transfer, or the line already has a receipt of it.',
    Type.Object({ paymentIds: Type.Optional(paymentIds), transfers: Type.Optional(transfers) }),
  ),
  RECEIPT_LOWERED: warning(
    'The total received on a payment line was lowered. `POST /payments/:paymentId/receipts` adds an amount to it.',
    Type.Object({ paymentIds, formerAmount, receivedAmount, currencyCode }),
  ),
  DATE_IN_FUTURE: warning(
    'The date of a receipt, or of an issued invoice or red letter, is after today.',
    Type.Object({ paymentIds: Type.Optional(paymentIds), today }),
  ),
  PLAN_DIFFERS_FROM_TOTAL: warning(
    "The payment lines do not add up to the contract's total.",
    Type.Object({ difference, totalAmount, planAmount, currencyCode }),
  ),
  INVOICE_EXCEEDS_LINE: warning('The invoiced amount exceeds the amount of the payment line.', LinesOrNone),
  INVOICE_RECORDS_COUNT: warning(
    'The payment line has invoice records, which determine the invoiced amount; an invoiceAmount without invoiceNo is ignored.',
    LinesOrNone,
  ),
  RED_LETTER_NO_PROVISIONAL: warning(
    'The red letter has a provisional number; `redLetterNo` in the same request gives it its own.',
    None,
  ),
  RED_LETTER_DATE_DEFAULT: warning(
    'The `invoiceDate` of the request is that of the reversed record; the red letter has the default date. `redLetterDate` sets another.',
    None,
  ),
  TAX_RATE_BELOW_ONE: warning(
    'The tax rate is below 1 and was taken as percent: 13 means 13 %, and 0.13 means 0.13 %.',
    None,
  ),

  NOTHING_OUTSTANDING: warning('Nothing is outstanding on the payment line: a reminder would be refused.', Lines),
  LINE_HELD: warning('Reminders of the payment line are on hold: a reminder would be refused.', Lines),
  CHANNEL_DISABLED: warning('The notification channel is disabled: a reminder would be refused.', None),
  NO_RECIPIENT: warning('There is no address to which the channel could send a reminder of this line.', None),

  OPEN_BALANCE: warning('Payment lines are still open; they can still be collected.', Lines),
  OPEN_TASKS: warning('Some fulfillment tasks are neither completed nor accepted.', None),
  EXTRACTION_UNREVIEWED: warning('Some fields extracted with low confidence have not been reviewed.', None),
  TASK_EXISTS: warning('The contract already has a fulfillment task with this code; none was added.', None),
  TASK_LIMIT_REACHED: warning('The contract has the maximum number of fulfillment tasks; none was added.', None),

  COLUMN_NOT_READ: warning(
    'A column of the imported file has an unknown header. Its cell has another type, currency, status or stage than the contract, which got the default.',
    None,
  ),
  COLUMNS_LEFT_OUT: warning(
    'Some fields of the view do not exist or are not visible to the user; they are omitted.',
    None,
  ),

  TOTAL_MISMATCH: warning('Quantity × unit price differs from the total.', None),
  CAPITAL_AMOUNT_MISMATCH: warning('The amount in words differs from the amount in digits.', None),
  DATES_REVERSED: warning('The end date is before the start date.', None),
  INSTALMENTS_MISMATCH: warning('The instalments do not add up to the total.', None),
  OTHER_DOCUMENT: warning('The document seems to be neither a sale nor a lease.', None),
  NOT_MARKED_EXTRACTED: warning('The contract stays a draft: the lifecycle did not allow the transition.', None),

  AMBIGUOUS: warning('The text contains another value that is as likely; see the candidates.', None),
  SEVERAL_ITEMS: warning('The text has several items, but a contract can hold only one.', None),
  WHOSE_ACCOUNT: warning('The text does not state whose account this is.', None),
  DAY_OR_MONTH_FIRST: warning('Day and month may be swapped.', None),
  FROM_SHARE: warning('The amount was computed from a share of the total given in the text.', None),
  FROM_TERM: warning('The end date was computed from the start date and the duration given in the text.', None),
  PER_UNIT: warning('The text gives this rent for one unit, not for all units.', None),
  A_PLAN: warning('The text gives the payment schedule, but not the payment method.', None),

  RECOGNISED: warning('Some pages were read from images by character recognition.', None),
  LOW_RECOGNITION: warning('The image of a page is hard to read: compare the extracted values with it.', None),
  PAGES_LEFT_OUT: warning('The document has more pages than the limit; the rest was not read.', None),
  PAGE_UNREADABLE: warning('A page, or its images, cannot be read.', None),
  TEXT_CUT: warning('The document has more text than the limit; the rest was not read.', None),
  HIDDEN_CONTENT: warning('The document contains hidden text or sheets, which were ignored.', None),
  ENCODING_GUESSED: warning('The text does not declare its character encoding; it was guessed.', None),

  DOCUMENT_EMPTY: warning('The file is empty, or the document has no text.', None),
  DOCUMENT_UNREADABLE: warning('The document could not be read.', None),
  DOCUMENT_UNSUPPORTED: warning('The document type is not supported.', None),
  DOCUMENT_ENCRYPTED: warning('The document needs a password.', None),
  DOCUMENT_DAMAGED: warning('The document is damaged, or does not match its type.', None),
  DOCUMENT_TOO_LARGE: warning('The document is too large, or too large when unpacked.', None),
  DOCUMENT_TOO_SLOW: warning('The document could not be read within the time limit.', None),
  DOCUMENT_BUSY: warning('The reader was busy with other documents for a day.', None),
  DOCUMENT_CLOSED: warning('The reader was stopped for a day.', None),
  FILE_INFECTED: warning('Malware was found in the file.', None),
  FILE_GONE: warning('The file is no longer there.', None),
  OBJECT_STORE_UNAVAILABLE: warning('The file could not be fetched from the object store for a day.', None),

  SUPERIOR_REPLACED: warning(
    'The successor would be their own superior on some contracts; their superior was set instead.',
    None,
  ),
  SUPERIOR_CLEARED: warning(
    'The successor would be their own superior on some contracts and has no superior; the superior was cleared there.',
    None,
  ),
  TAX_NO_CHECKSUM: warning(
    'The tax number has 18 characters, but its check character is not that of a unified social credit code.',
    None,
  ),
  DATA_PLANE_INACTIVE: warning(
    'In this edition the service stores contract data itself: the connection is saved but not used.',
    None,
  ),
} as const;

export type WarningCode = keyof typeof WARNINGS;
export type WarningDetails<C extends WarningCode> = Static<(typeof WARNINGS)[C]['details']>;

type Details = { readonly [K in keyof typeof WARNING_DETAILS]?: Static<(typeof WARNING_DETAILS)[K]> };

/** A warning as returned in a response. */
export interface GivenWarning extends Details {
  readonly code: WarningCode;
  readonly message: string;
}

/** `warn('OPEN_BALANCE', { paymentIds })`; `message` overrides the default message. */
export const warn = <C extends WarningCode>(
  code: C,
  { message = WARNINGS[code].meaning, ...details }: { readonly message?: string } & WarningDetails<C>,
): GivenWarning => ({ code, message, ...details });
