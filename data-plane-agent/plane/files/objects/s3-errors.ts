import type { S3Address } from './object-store-address.js';
import { ObjectStoreError, type StoreFault } from './object-store.js';

/** Converts errors of the server or the connection into an `ObjectStoreError`. */
export function storeError(error: unknown, bucket: string): ObjectStoreError {
  if (error instanceof ObjectStoreError) return error;
  const code = codeOf(error);
  if (code === 'NoSuchBucket')
    return new ObjectStoreError('unavailable', `the bucket ${bucket} does not exist`, { cause: error });
  if (DENIED.includes(code))
    return new ObjectStoreError('denied', `the object store denies access (${code})`, { cause: error });
  return new ObjectStoreError('unavailable', `the object store cannot be used (${code || 'no readable answer'})`, {
    cause: error,
  });
}

const DENIED = [
  'AccessDenied',
  'InvalidAccessKeyId',
  'SignatureDoesNotMatch',
  'AllAccessDisabled',
  'AccountProblem',
  'InvalidToken',
  'ExpiredToken',
];

/**
 * The result, or `undefined` if the object is missing or its version differs. A HEAD response has no body, so that its
 * error code derives from the status.
 */
export async function unlessAbsent<T>(request: () => Promise<T>): Promise<T | undefined> {
  try {
    return await request();
  } catch (error) {
    if (['NotFound', 'NoSuchKey', 'PreconditionFailed'].includes(codeOf(error))) return undefined;
    throw error;
  }
}

/** The incorrect setting, if the server reports one; `undefined` for other failures. */
export function settingFault(error: unknown, address: S3Address): StoreFault | undefined {
  const answer = error instanceof ObjectStoreError ? error.cause : error;
  const code = codeOf(answer);
  const fault = SETTINGS[code]?.(address, (field) => fieldOf(answer, field));
  return fault && { ...fault, problem: `${fault.problem} (${code})` };
}

/** The fix for a clock that differs from the server's. */
export const SYNC_CLOCKS = 'synchronize both clocks (NTP): signed links depend on the time';

const SETTINGS: Readonly<
  Partial<
    Record<string, (address: S3Address, reported: (field: 'region' | 'endpoint') => string | undefined) => StoreFault>
  >
> = {
  InvalidAccessKeyId: ({ accessKey }) => ({
    step: 'credentials',
    problem: `the object store does not know the access key ${accessKey}`,
    fix: 'correct the access key in OBJECT_STORE_URL, before the colon',
  }),
  SignatureDoesNotMatch: ({ accessKey }) => ({
    step: 'credentials',
    problem: `the secret key does not match the access key ${accessKey}`,
    fix: 'correct the secret key in OBJECT_STORE_URL, after the colon and percent-encoded (/ is %2F); a proxy before the store must not change host and path',
  }),
  RequestTimeTooSkewed: () => ({
    step: 'clock',
    problem: 'the clock of the object store differs too much from ours',
    fix: SYNC_CLOCKS,
  }),
  AuthorizationHeaderMalformed: ({ region }, reported) => ({
    step: 'region',
    problem: `the object store is not in the region ${region}`,
    fix: `set region in OBJECT_STORE_URL to ${reported('region') ?? 'its region'}`,
  }),
  PermanentRedirect: ({ bucket, host }, reported) => ({
    step: 'host',
    problem: `the bucket ${bucket} is not available at ${host}`,
    fix: `set host and region in OBJECT_STORE_URL to those of the bucket${reported('endpoint') === undefined ? '' : `, which the object store says is at ${reported('endpoint')}`}`,
  }),
};

/** A field of the error as a short word without spaces. Anything else is ignored, since it is shown to people. */
function fieldOf(error: unknown, field: string): string | undefined {
  const value: unknown = error instanceof Error ? Reflect.get(error, field) : undefined;
  return typeof value === 'string' && /^[\w.:-]{1,255}$/.test(value) ? value : undefined;
}

const codeOf = (error: unknown): string => fieldOf(error, 'code') ?? '';
