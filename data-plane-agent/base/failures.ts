import Type, { type Static } from 'typebox';
import { domain, framework } from './failure-kind.js';
import { DATA_PLANE_FAILURES, LINK_FAILURES } from './failures-of-links.js';
import { PROVIDER_FAILURES } from './failures-of-providers.js';
import { REMINDER_FAILURES } from './failures-of-reminders.js';
import type { Issue } from './issue.js';

const None = Type.Object({});
const text = () => Type.String();
const texts = () => Type.Array(Type.String());

/**
 * All failures that the product can report; codes are defined only here and never change once released. A test verifies
 * that the OpenAPI document and the reference page list exactly this table.
 */
export const FAILURES = {
  INVALID_INPUT: framework(
    400,
    'A field is unknown, missing or invalid; there is one message per field.',
    Type.Object({ issues: Type.Array(Type.Object({ path: text(), problem: text() })) }),
  ),
  UNAUTHENTICATED: framework(
    401,
    'The token is missing, expired, not issued by this service, or of an ended session; the message states which.',
    Type.Object({ message: Type.Optional(text()), tokenFault: Type.Optional(text()) }),
  ),
  FORBIDDEN: framework(
    403,
    'The role lacks the module level that the message begins with; it also names the role and the level that it has.',
    Type.Object({ needs: text(), role: Type.Optional(text()), has: Type.Optional(text()) }),
  ),
  ORIGIN_NOT_ALLOWED: framework(403, 'The refresh request uses a cookie and comes from another site.', None),
  NOT_FOUND: framework(
    404,
    "The record does not exist, or is outside the caller's tenant, subject scope or owner scope.",
    None,
  ),
  RATE_LIMITED: framework(
    429,
    'Too many attempts; retry after the time in `Retry-After`.',
    Type.Object({ retryAfterSeconds: Type.Integer() }),
  ),
  OVERLOADED: framework(
    503,
    'Too many requests are queued; retry after the time in `Retry-After`.',
    Type.Object({ retryAfterSeconds: Type.Integer() }),
  ),

  PLAN_FEATURE_NOT_ENABLED: domain(
    403,
    "The tenant's plan lacks a feature that this endpoint needs; `details.plans` lists the plans that have it. On a self-hosted installation `details.command` is the operator's command that changes the plan.",
    Type.Object({ feature: text(), plans: texts(), command: Type.Optional(text()) }),
  ),
  REGISTRATION_DISABLED: domain(403, 'Public registration is switched off on this installation.', None),
  WORKFLOW_CONTROL_REQUIRED: domain(
    403,
    'The role lacks the workflow control level required at this stage, or is not one of the `roles` that may move the contract or enter the stage. `details.control` is the required level, `details.has` the level of `details.role`.',
    Type.Object({
      control: text(),
      stage: text(),
      has: text(),
      role: Type.Optional(text()),
      roles: Type.Optional(texts()),
    }),
  ),

  VERSION_MISMATCH: domain(
    412,
    "The version in `If-Match` is not the record's current version.",
    Type.Object({ version: Type.Integer() }),
  ),
  IDEMPOTENCY_IN_PROGRESS: domain(409, 'The first request with this idempotency key is still running.', None),
  IDEMPOTENCY_KEY_REUSED: domain(422, 'This idempotency key was used before with another request.', None),

  TENANT_SLUG_TAKEN: domain(409, 'Another organisation has this slug.', Type.Object({ tenantSlug: text() })),
  TENANT_SUSPENDED: domain(
    403,
    'The credentials are right, but the operator of this installation has suspended the organisation. Nobody can sign in to it; its data is kept. The operator ends this with `duebook tenants resume`.',
    None,
  ),
  REDEEM_CODE_INVALID: domain(422, 'The code is unknown, used or expired.', None),
  PASSWORD_TOO_WEAK: domain(
    422,
    "The password is a common one, is known from breaches, is the current one, or contains the email's local part or the tenant's slug.",
    Type.Object({ reason: text() }),
  ),
  PASSWORD_NOT_SET: domain(
    409,
    'The account has no password, because it signs in through single sign-on, so the password cannot be changed.',
    None,
  ),
  CURRENT_PASSWORD_WRONG: domain(422, 'The current password is wrong; it counts as a failed sign-in.', None),
  MFA_CODE_INVALID: domain(
    401,
    'The second factor is wrong, expired or used before, or belongs to a secret that the server did not issue.',
    None,
  ),
  MFA_SECRET_UNKNOWN: domain(
    422,
    'The server did not issue this secret to this account within the last ten minutes.',
    None,
  ),
  MFA_ALREADY_ENROLLED: domain(409, 'The account already has an authenticator; disable it first.', None),
  MFA_NOT_ENROLLED: domain(409, 'The account has no authenticator.', None),
  MFA_ENROLMENT_REQUIRED: domain(
    403,
    "The policy requires a second factor for the caller's role, and none is enrolled: until then the session can only use `/auth/*`.",
    None,
  ),
  MFA_REQUIRED_BY_POLICY: domain(
    409,
    "The policy requires a second factor for the caller's role, so it cannot be disabled.",
    None,
  ),
  TOKEN_INVALID: domain(422, 'The token or code is unknown, used, expired or issued for another purpose.', None),
  ...PROVIDER_FAILURES,
  INVITATION_OPEN: domain(
    409,
    'The address has an open invitation, which can be sent again.',
    Type.Object({ email: text() }),
  ),
  BOT_CHALLENGE_FAILED: domain(422, 'The bot challenge failed: the token is invalid, used or expired.', None),
  BOT_CHALLENGE_UNAVAILABLE: domain(
    503,
    'The bot challenge cannot be verified at the moment; nothing was changed.',
    Type.Object({ retryAfterSeconds: Type.Integer() }),
  ),
  PASSKEY_INVALID: domain(
    422,
    "The authenticator's response is invalid, or matches no challenge that this session received within the last five minutes.",
    None,
  ),
  PASSKEY_EXISTS: domain(409, 'The account already has this passkey.', None),
  RECENT_LOGIN_REQUIRED: domain(
    403,
    'Changing sign-in methods, the owner or holders of `admin (edit)` requires a recent sign-in. Sign in again; refreshing the session is not enough.',
    Type.Object({ maxAgeSeconds: Type.Integer() }),
  ),
  MEMBER_EXISTS: domain(409, 'The tenant has a member with this email.', Type.Object({ email: text() })),
  LAST_OWNER: domain(
    409,
    'Others cannot disable, limit or sign out the owner, change their role or email, or reduce the rights of their role. Transfer the ownership first.',
    None,
  ),
  OWNER_TRANSFER_REQUIRED: domain(422, 'A member becomes owner only by a transfer of ownership.', None),
  SELF_CHANGE_FORBIDDEN: domain(409, 'Members cannot change their own role, scope or status.', None),
  EMAIL_CHANGE_FORBIDDEN: domain(
    409,
    'Only a member with `admin (edit)` can change their own address. For seven days after they lose that right, only they and the owner can.',
    None,
  ),
  LAST_ADMIN: domain(409, 'Members cannot lower the `admin` module of their own role.', None),
  SUBJECT_IN_USE: domain(
    409,
    'The subject company has contracts, so it cannot be removed.',
    Type.Object({ count: Type.Integer() }),
  ),
  LAST_SUBJECT: domain(409, 'A tenant must have at least one subject company.', None),
  SUCCESSOR_INVALID: domain(
    422,
    'The successor is disabled, is the same person, or lacks the second factor that their new role requires.',
    Type.Object({ field: text(), reason: text() }),
  ),
  SUCCESSOR_SCOPE_INSUFFICIENT: domain(
    409,
    "The records to transfer belong to subject companies outside the successor's scope; these are listed.",
    Type.Object({ subjectIds: texts() }),
  ),
  LIMIT_REACHED: domain(
    409,
    'The tenant, contract or member has reached the maximum number of these records.',
    Type.Object({ limit: Type.Integer() }),
  ),

  DUPLICATE_CODE: domain(
    409,
    'Another record of this kind has this code, name or number.',
    Type.Object({ field: text(), value: text() }),
  ),

  TRANSITION_CONDITION_FAILED: domain(
    409,
    'Conditions of the transition, or of leaving the stage, are not met; all of them are listed.',
    Type.Object({
      failed: Type.Array(
        Type.Object({ condition: text(), of: text(), message: text(), missing: Type.Optional(texts()) }),
      ),
    }),
  ),
  STAGE_IN_USE: domain(
    409,
    'Contracts are in the stage, or transitions or reminder rules refer to it, so its code or category cannot be changed.',
    Type.Object({ contracts: Type.Integer(), transitionCodes: texts(), typeCodes: texts() }),
  ),
  TYPE_IN_USE: domain(
    409,
    'Contracts have the contract type, or custom fields refer to it, so its code cannot be changed.',
    Type.Object({ contracts: Type.Integer(), fieldCodes: texts() }),
  ),
  NOTHING_OUTSTANDING: domain(409, 'Nothing is outstanding on the payment line.', Type.Object({ paymentId: text() })),
  ...REMINDER_FAILURES,
  CHANNEL_IN_USE: domain(
    409,
    'Transitions of the lifecycle notify the channel, so it cannot be removed.',
    Type.Object({ transitionCodes: texts() }),
  ),

  FIELD_NOT_EDITABLE: domain(
    403,
    'The role may not write these custom fields or, for a command that works on values, may not read them.',
    Type.Object({ fields: texts(), role: Type.Optional(text()) }),
  ),
  FIELD_CONVERSION_LOSSY: domain(
    409,
    'The change of type would lose values of the field. A dry run lists them; `onInvalid: clear` accepts the loss.',
    Type.Object({
      total: Type.Integer(),
      convertible: Type.Integer(),
      lossy: Type.Integer(),
      samples: Type.Array(
        Type.Object({
          contractId: text(),
          contractNo: text(),
          value: Type.Unsafe<string | number | boolean | string[] | null>({
            type: ['string', 'number', 'boolean', 'array', 'null'],
            items: { type: 'string' },
          }),
        }),
      ),
    }),
  ),
  CONTRACT_LOCKED: domain(
    409,
    'The contract is locked, so its core fields cannot be changed.',
    Type.Object({ fields: texts() }),
  ),
  CONTRACT_HAS_MONEY: domain(
    409,
    'The contract is signed or active and has received money, so it cannot be deleted.',
    Type.Object({ receivedAmount: Type.Number(), currencyCode: text() }),
  ),
  DUPLICATE_CONTRACT_NO: domain(
    409,
    'Another live contract has this contract number.',
    Type.Object({ contractNo: text() }),
  ),
  DUPLICATE_ARCHIVE_CODE: domain(
    409,
    'Another live contract has this archive code.',
    Type.Object({ archiveCode: text() }),
  ),
  INVALID_TRANSITION: domain(
    409,
    'The record cannot change from its current state to this one.',
    Type.Object({ field: text(), from: Type.Union([text(), Type.Null()]), to: text(), allowed: texts() }),
  ),
  CURRENCY_FIXED: domain(
    409,
    'Money was received or an invoice was issued, so the currency can no longer be changed.',
    Type.Object({ currencyCode: text() }),
  ),
  LINE_HAS_MONEY: domain(
    409,
    'The payment line has a receipt or an invoice, so it cannot be deleted; or money was matched to it, so its invoice cannot be voided: set the invoice to `red_letter` instead.',
    Type.Object({ paymentIds: texts() }),
  ),
  RED_LETTER_EXCEEDS_ISSUED: domain(
    409,
    'Red letters would exceed the amount issued on the payment line or, without a line, on the contract.',
    Type.Object({ issuedAmount: Type.Number(), redLetterAmount: Type.Number(), currencyCode: text() }),
  ),
  INVOICE_FIXED: domain(
    409,
    'These fields of an invoice record can only be changed while it is a draft; `redLetterNo` is set when the record is reversed, and is then final unless it is the default; `redLetterDate` is then final unless the number is the default or the date is today.',
    Type.Object({ fields: texts(), status: text() }),
  ),
  RECONCILE_WITHOUT_RECEIPT: domain(422, '`matched` requires that money was received.', None),
  REFERENCE_INVALID: domain(
    422,
    "An id or a code in the body does not exist within the caller's scope; `details.field` names its field, and `details.allowed`, where it is given, the codes that can be used, such as those of the roles, or of the transitions from the contract's stage.",
    Type.Object({ field: text(), value: text(), allowed: Type.Optional(texts()) }),
  ),
  EXTRACTION_INCOMPLETE: domain(
    422,
    'The accepted and overridden fields are not enough for a contract, line or term; these fields are missing.',
    Type.Object({ missingFields: texts() }),
  ),
  FILE_REFERENCE_INVALID: domain(
    422,
    "A file reference does not exist within the caller's scope.",
    Type.Object({ field: text(), value: text() }),
  ),
  FILE_TYPE_NOT_ALLOWED: domain(
    422,
    'The installation does not accept files of this content type; `allowed` lists the accepted types.',
    Type.Object({ contentType: text(), allowed: texts() }),
  ),
  FILE_TOO_LARGE: domain(
    422,
    'The file is larger than the installation allows.',
    Type.Object({ sizeBytes: Type.Integer(), maxBytes: Type.Integer() }),
  ),
  STORAGE_QUOTA_EXCEEDED: domain(
    422,
    'With this file the tenant would exceed its storage quota.',
    Type.Object({ usedBytes: Type.Integer(), quotaBytes: Type.Integer() }),
  ),
  UPLOAD_TOKEN_MISMATCH: domain(
    422,
    'The upload token is invalid, belongs to another user, or was issued for other values of these fields.',
    Type.Object({ fields: texts() }),
  ),
  UPLOAD_TOKEN_EXPIRED: domain(422, 'The upload token has expired; it is valid for fifteen minutes.', None),
  FILE_NOT_UPLOADED: domain(
    409,
    'No file was uploaded to the signed URL, or another upload to it is in progress.',
    None,
  ),
  FILE_BEING_CONFIRMED: domain(
    409,
    'Another request is still confirming the same upload; retry after the time in `Retry-After` to get its result.',
    Type.Object({ retryAfterSeconds: Type.Integer() }),
  ),
  FILE_SIZE_MISMATCH: domain(
    422,
    'The size of the uploaded file differs from the announced size; the upload has been deleted.',
    Type.Object({ announcedBytes: Type.Integer(), uploadedBytes: Type.Integer() }),
  ),
  FILE_CONTENT_MISMATCH: domain(
    422,
    'The uploaded file does not match its content type; the upload has been deleted.',
    Type.Object({ contentType: text(), reason: text() }),
  ),
  FILE_INFECTED: domain(
    403,
    'Malware was found in the file. It is in quarantine and cannot be downloaded.',
    Type.Object({ signature: text() }),
  ),
  FILE_SCAN_PENDING: domain(
    409,
    'The file has not passed the malware scan, and this installation only serves files that have.',
    Type.Object({ scanStatus: text() }),
  ),
  FILE_BYTES_LOST: domain(
    409,
    'The confirmed file is missing from the object store; `duebook doctor` reports it to the operator.',
    None,
  ),
  IMPORT_INTERRUPTED: domain(
    500,
    'The row was not imported, since every attempt to import it was interrupted by an error of the program. Import it again; the log has the error.',
    None,
  ),
  IMPORT_FILE_INVALID: domain(
    422,
    'The file to import cannot be read, or its header does not state which field each column is for; `details.reason` says why.',
    Type.Object({ reason: text() }),
  ),

  OBJECT_STORE_UNAVAILABLE: domain(
    503,
    'The object store is unavailable; nothing is lost. Retry the same request later.',
    Type.Object({ retryAfterSeconds: Type.Integer() }),
  ),

  ...DATA_PLANE_FAILURES,
  ...LINK_FAILURES,
} as const;

export type FailureCode = keyof typeof FAILURES;
export type DetailsOf<C extends FailureCode> = Static<(typeof FAILURES)[C]['details']>;

export interface FailureOptions extends ErrorOptions {
  readonly replayed?: boolean;
}

const BRAND = Symbol.for('duebook.failure');

/**
 * A failure of the catalogue. Check with `isFailure` and the code, not with `instanceof`, which fails across two copies
 * of the module.
 */
export class Failure<C extends FailureCode = FailureCode> extends Error {
  readonly [BRAND] = true;
  readonly code: C;
  readonly details: DetailsOf<C>;
  /** True for the stored refusal of an earlier request with the same idempotency key. */
  readonly replayed: boolean;

  constructor(code: C, details: DetailsOf<C>, { replayed = false, ...options }: FailureOptions = {}) {
    super(FAILURES[code].meaning, options);
    this.replayed = replayed;
    this.name = 'Failure';
    this.code = code;
    this.details = details;
  }
}

/** `throw fail('CONTRACT_LOCKED', { fields })`. */
export const fail = <C extends FailureCode>(code: C, details: DetailsOf<C>, options?: FailureOptions): Failure<C> =>
  new Failure(code, details, options);

export function isFailure(error: unknown): error is Failure;
export function isFailure<C extends FailureCode>(error: unknown, code: C): error is Failure<C>;
export function isFailure(error: unknown, code?: FailureCode): boolean {
  if (typeof error !== 'object' || error === null || !(BRAND in error)) return false;
  return code === undefined || (error as Failure).code === code;
}

/** A 400 that names the invalid fields, for rules that a schema cannot express. */
export const invalid = (...issues: readonly Issue[]): Failure<'INVALID_INPUT'> =>
  fail('INVALID_INPUT', { issues: issues.map(({ path, problem }) => ({ path, problem })) });
