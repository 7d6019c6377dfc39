import Type, { type Static, type TSchema } from 'typebox';
import type { Issue } from './validation.js';

/**
 * Every failure the product can report, and the only place where their codes are born. Codes never change once shipped.
 * `shape` is the wire shape: `framework` is `{ statusCode, message, error }`, `domain` is `{ error: { code, message,
 * details } }`. The OpenAPI document and the reference page list this table, and a test proves both directions.
 */
export interface FailureKind<D extends TSchema = TSchema> {
  readonly status: number;
  readonly shape: 'framework' | 'domain';
  /** When it happens, for the documents. */
  readonly meaning: string;
  /** What `details` carries; a client may see all of it. */
  readonly details: D;
}

const None = Type.Object({});
const text = () => Type.String();
const texts = () => Type.Array(Type.String());

const framework = <D extends TSchema>(status: number, meaning: string, details: D): FailureKind<D> => ({
  status,
  shape: 'framework',
  meaning,
  details,
});
const domain = <D extends TSchema>(status: number, meaning: string, details: D): FailureKind<D> => ({
  status,
  shape: 'domain',
  meaning,
  details,
});

export const FAILURES = {
  INVALID_INPUT: framework(
    400,
    'A field is unknown, missing or not valid; one message per field.',
    Type.Object({ issues: Type.Array(Type.Object({ path: text(), problem: text() })) }),
  ),
  UNAUTHENTICATED: framework(
    401,
    'No token, or one that is bad, expired, revoked or of another scope.',
    Type.Object({ message: Type.Optional(text()) }),
  ),
  FORBIDDEN: framework(403, 'The role lacks the module level that the message names.', Type.Object({ needs: text() })),
  ORIGIN_NOT_ALLOWED: framework(403, 'A refresh by cookie that says it comes from another site.', None),
  NOT_FOUND: framework(404, "No such record, or one outside the caller's tenant, subject scope or owner scope.", None),
  RATE_LIMITED: framework(
    429,
    'Too many attempts; `Retry-After` says when to come back.',
    Type.Object({ retryAfterSeconds: Type.Integer() }),
  ),
  OVERLOADED: framework(
    503,
    'Too much work is waiting; `Retry-After` says when to come back.',
    Type.Object({ retryAfterSeconds: Type.Integer() }),
  ),

  PLAN_FEATURE_NOT_ENABLED: domain(
    403,
    "The tenant's plan lacks a feature that this endpoint needs.",
    Type.Object({ feature: text() }),
  ),
  REGISTRATION_DISABLED: domain(403, 'Public registration is switched off on this installation.', None),
  WORKFLOW_CONTROL_REQUIRED: domain(
    403,
    'The role lacks the workflow control level that this needs at this stage, or is none of the `roles` that may move the contract or enter the stage.',
    Type.Object({ control: text(), stage: text(), roles: Type.Optional(texts()) }),
  ),

  VERSION_MISMATCH: domain(
    412,
    "`If-Match` names another version than the record's present one.",
    Type.Object({ version: Type.Integer() }),
  ),
  IDEMPOTENCY_IN_PROGRESS: domain(409, 'The first request with this idempotency key is still running.', None),
  IDEMPOTENCY_KEY_REUSED: domain(422, 'This idempotency key was used before with another request.', None),

  TENANT_SLUG_TAKEN: domain(409, 'Another organisation has this slug.', Type.Object({ tenantSlug: text() })),
  REDEEM_CODE_INVALID: domain(422, 'The code is unknown, used or expired.', None),
  PASSWORD_TOO_WEAK: domain(
    422,
    "The password is a common one, is known from breaches, or contains the email's local part or the tenant's slug.",
    Type.Object({ reason: text() }),
  ),
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
  MFA_ALREADY_ENROLLED: domain(409, 'The account has an authenticator already; it is disabled first.', None),
  MFA_NOT_ENROLLED: domain(409, 'The account has no authenticator.', None),
  MFA_ENROLMENT_REQUIRED: domain(
    403,
    "The policy asks the caller's role for a second factor, and there is none yet: until it is enrolled the session opens `/auth/*` only.",
    None,
  ),
  MFA_REQUIRED_BY_POLICY: domain(
    409,
    "The policy asks the caller's role for a second factor, so it cannot be disabled.",
    None,
  ),
  TOKEN_INVALID: domain(422, 'The token or code is unknown, used, expired or not meant for this.', None),
  SSO_PROVIDER_UNREACHABLE: domain(
    502,
    'The provider of single sign-on cannot be reached, or does not answer as one.',
    Type.Object({ provider: text() }),
  ),
  INVITATION_OPEN: domain(
    409,
    'The address has an open invitation; it can be sent again.',
    Type.Object({ email: text() }),
  ),
  BOT_CHALLENGE_FAILED: domain(422, 'The bot challenge was not passed: the token is refused, used or too old.', None),
  BOT_CHALLENGE_UNAVAILABLE: domain(
    503,
    'The bot challenge cannot be verified just now; nothing was done.',
    Type.Object({ retryAfterSeconds: Type.Integer() }),
  ),
  PASSKEY_INVALID: domain(
    422,
    "The authenticator's response does not verify, or answers no question that this session was asked within the last five minutes.",
    None,
  ),
  PASSKEY_EXISTS: domain(409, 'The account has this passkey already.', None),
  RECENT_LOGIN_REQUIRED: domain(
    403,
    'The ways to sign in, the owner, and who has `admin (edit)`, are changed only soon after a sign-in; this session is older, and a refresh makes it no younger.',
    Type.Object({ maxAgeSeconds: Type.Integer() }),
  ),
  MEMBER_EXISTS: domain(409, 'The tenant has a member with this email.', Type.Object({ email: text() })),
  LAST_OWNER: domain(
    409,
    'The owner cannot be disabled, limited, signed out or given another role or email by others, nor may the rights of their role be lowered; ownership is transferred first.',
    None,
  ),
  OWNER_TRANSFER_REQUIRED: domain(422, 'Nobody becomes owner but by a transfer of ownership.', None),
  SELF_CHANGE_FORBIDDEN: domain(409, 'Nobody changes his own role, scope or status.', None),
  EMAIL_CHANGE_FORBIDDEN: domain(
    409,
    'The address of a member with `admin (edit)` is changed by nobody but themselves; for seven days after they have lost it, by nobody but themselves and the owner.',
    None,
  ),
  LAST_ADMIN: domain(409, 'Nobody lowers the `admin` module of his own role.', None),
  SUBJECT_IN_USE: domain(
    409,
    'The subject company has contracts, so it cannot be removed.',
    Type.Object({ count: Type.Integer() }),
  ),
  LAST_SUBJECT: domain(409, 'A tenant keeps at least one subject company.', None),
  SUCCESSOR_INVALID: domain(
    422,
    'The successor is disabled, the same person, or lacks the second factor that his new role needs.',
    Type.Object({ field: text(), reason: text() }),
  ),
  SUCCESSOR_SCOPE_INSUFFICIENT: domain(
    409,
    'The successor may not see all subject companies of what would move; these are missing.',
    Type.Object({ subjectIds: texts() }),
  ),
  LIMIT_REACHED: domain(
    409,
    'The tenant, the contract, or the member whose they are, has as many of these as there can be.',
    Type.Object({ limit: Type.Integer() }),
  ),

  DUPLICATE_CODE: domain(
    409,
    'Another record of the kind has this code, name or number.',
    Type.Object({ field: text(), value: text() }),
  ),

  TRANSITION_CONDITION_FAILED: domain(
    409,
    'Conditions of the transition, or of leaving the stage, do not hold; all of them are named.',
    Type.Object({
      failed: Type.Array(
        Type.Object({ condition: text(), of: text(), message: text(), missing: Type.Optional(texts()) }),
      ),
    }),
  ),
  STAGE_IN_USE: domain(
    409,
    'Contracts are in the stage, or transitions or reminder rules name it, so its code or category cannot change.',
    Type.Object({ contracts: Type.Integer(), transitionCodes: texts(), typeCodes: texts() }),
  ),
  TYPE_IN_USE: domain(
    409,
    'Contracts have the contract type, or custom fields name it, so its code cannot change.',
    Type.Object({ contracts: Type.Integer(), fieldCodes: texts() }),
  ),
  CHANNEL_IN_USE: domain(
    409,
    'Transitions of the lifecycle tell the channel, so it cannot be removed.',
    Type.Object({ transitionCodes: texts() }),
  ),

  FIELD_NOT_EDITABLE: domain(
    403,
    'The role may not write these custom fields; or, for a command that works on values, may not see them.',
    Type.Object({ fields: texts() }),
  ),
  FIELD_CONVERSION_LOSSY: domain(
    409,
    'Values of the field would be lost by the change of type; a dry run shows them, and `onInvalid: clear` lets them go.',
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
    'The contract is locked, and the request changes core fields.',
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
    'A record cannot move from its present state to this one.',
    Type.Object({ field: text(), from: Type.Union([text(), Type.Null()]), to: text(), allowed: texts() }),
  ),
  CURRENCY_FIXED: domain(
    409,
    'Money was received or an invoice was issued, so the currency can no longer change.',
    Type.Object({ currencyCode: text() }),
  ),
  LINE_HAS_MONEY: domain(
    409,
    'The payment line has a receipt or an invoice, so it cannot be removed; or money was matched to it, so its invoice cannot be made void.',
    Type.Object({ paymentIds: texts() }),
  ),
  RED_LETTER_EXCEEDS_ISSUED: domain(
    409,
    'Red letters would take away more than is issued on the payment line or, without a line, on the contract.',
    Type.Object({ issuedAmount: Type.Number(), redLetterAmount: Type.Number(), currencyCode: text() }),
  ),
  INVOICE_FIXED: domain(
    409,
    'An invoice record that is no draft any more keeps these fields.',
    Type.Object({ fields: texts(), status: text() }),
  ),
  RECONCILE_WITHOUT_RECEIPT: domain(422, '`matched` needs money received.', None),
  REFERENCE_INVALID: domain(
    422,
    "An id in the body does not exist within the caller's scope.",
    Type.Object({ field: text(), value: text() }),
  ),
  EXTRACTION_INCOMPLETE: domain(
    422,
    'What was accepted and overridden does not make a contract, a line or a term yet; these fields lack.',
    Type.Object({ missingFields: texts() }),
  ),
  FILE_REFERENCE_INVALID: domain(
    422,
    "A file reference does not exist within the caller's scope.",
    Type.Object({ field: text(), value: text() }),
  ),
  FILE_TYPE_NOT_ALLOWED: domain(
    422,
    'The installation takes no files of this content type; `allowed` lists those that it takes.',
    Type.Object({ contentType: text(), allowed: texts() }),
  ),
  FILE_TOO_LARGE: domain(
    422,
    'The file is larger than the installation takes.',
    Type.Object({ sizeBytes: Type.Integer(), maxBytes: Type.Integer() }),
  ),
  STORAGE_QUOTA_EXCEEDED: domain(
    422,
    'With this file the tenant would keep more bytes than it may.',
    Type.Object({ usedBytes: Type.Integer(), quotaBytes: Type.Integer() }),
  ),
  UPLOAD_TOKEN_MISMATCH: domain(
    422,
    'The upload token is none of ours, belongs to somebody else, or was given out for other values than these fields have.',
    Type.Object({ fields: texts() }),
  ),
  UPLOAD_TOKEN_EXPIRED: domain(422, 'The upload token was good for fifteen minutes, and these are over.', None),
  FILE_NOT_UPLOADED: domain(
    409,
    'Nothing has been uploaded to the signed URL, or something else is being uploaded to it just now.',
    None,
  ),
  FILE_BEING_CONFIRMED: domain(
    409,
    'The same upload is being confirmed by another request, which takes long; `Retry-After` says when to ask for its outcome.',
    Type.Object({ retryAfterSeconds: Type.Integer() }),
  ),
  FILE_SIZE_MISMATCH: domain(
    422,
    'What was uploaded has another size than was announced; it has been removed.',
    Type.Object({ announcedBytes: Type.Integer(), uploadedBytes: Type.Integer() }),
  ),
  FILE_CONTENT_MISMATCH: domain(
    422,
    'What was uploaded is not what its content type says; it has been removed.',
    Type.Object({ contentType: text(), reason: text() }),
  ),
  FILE_INFECTED: domain(
    403,
    'Malware was found in the file. It is in quarantine, and nobody can download it.',
    Type.Object({ signature: text() }),
  ),
  FILE_SCAN_PENDING: domain(
    409,
    'The file has not been found clean, and this installation gives out clean files only.',
    Type.Object({ scanStatus: text() }),
  ),
  FILE_BYTES_LOST: domain(
    409,
    'The object store no longer has the bytes that were confirmed; `duebook doctor` tells the operator.',
    None,
  ),
  IMPORT_FILE_INVALID: domain(
    422,
    'The file to import cannot be read: it is broken, of another kind, or would unpack to far too much.',
    Type.Object({ reason: text() }),
  ),

  OBJECT_STORE_UNAVAILABLE: domain(
    503,
    'The object store is out of reach; nothing is lost, and the same request works when it is back.',
    Type.Object({ retryAfterSeconds: Type.Integer() }),
  ),

  DATA_PLANE_NOT_CONNECTED: domain(
    409,
    'The tenant has no data plane: none has joined, or its connection is pending or revoked.',
    None,
  ),
  DATA_PLANE_UNAVAILABLE: domain(
    503,
    "The tenant's data plane does not answer; nothing was done.",
    Type.Object({ retryAfterSeconds: Type.Integer() }),
  ),
  DATA_PLANE_OUTCOME_UNKNOWN: domain(
    504,
    'The data plane did not answer in time, and the change may have been made.',
    Type.Object({ operationId: text() }),
  ),
} as const;

export type FailureCode = keyof typeof FAILURES;
export type DetailsOf<C extends FailureCode> = Static<(typeof FAILURES)[C]['details']>;

export interface FailureOptions extends ErrorOptions {
  readonly replayed?: boolean;
}

const BRAND = Symbol.for('duebook.failure');

/**
 * A failure of the catalogue. Recognise it with `isFailure` and its code, never by class: two copies of a module must
 * agree.
 */
export class Failure<C extends FailureCode = FailureCode> extends Error {
  readonly [BRAND] = true;
  readonly code: C;
  readonly details: DetailsOf<C>;
  /** The stored refusal of an earlier request with the same idempotency key. */
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

/** A 400 that names fields, for rules that a schema cannot state. */
export const invalid = (...issues: readonly Issue[]): Failure<'INVALID_INPUT'> =>
  fail('INVALID_INPUT', { issues: issues.map(({ path, problem }) => ({ path, problem })) });
