import type { S3Address } from './object-store-address.js';
import { ObjectStoreError, type StoreFault } from './object-store.js';

/** What a server or the line to it answered, in the words of a store. */
export function storeError(error: unknown, bucket: string): ObjectStoreError {
  if (error instanceof ObjectStoreError) return error;
  const code = codeOf(error);
  if (code === 'NoSuchBucket')
    return new ObjectStoreError('unavailable', `the bucket ${bucket} is not there`, { cause: error });
  if (DENIED.includes(code))
    return new ObjectStoreError('denied', `the object store does not allow it (${code})`, { cause: error });
  return new ObjectStoreError(
    'unavailable',
    `the object store cannot be used (${code || 'no answer that can be read'})`,
    { cause: error },
  );
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
 * Nothing is there, or another version than was asked for. A HEAD has no body, so that its code comes from its status
 * alone.
 */
export async function unlessAbsent<T>(question: () => Promise<T>): Promise<T | undefined> {
  try {
    return await question();
  } catch (error) {
    if (['NotFound', 'NoSuchKey', 'PreconditionFailed'].includes(codeOf(error))) return undefined;
    throw error;
  }
}

/** The setting that is wrong, where a server says so; `undefined` of what is refused or fails for another reason. */
export function settingFault(error: unknown, address: S3Address): StoreFault | undefined {
  const answer = error instanceof ObjectStoreError ? error.cause : error;
  const code = codeOf(answer);
  const fault = SETTINGS[code]?.(address, (field) => saidOf(answer, field));
  return fault && { ...fault, problem: `${fault.problem} (${code})` };
}

/** For a server whose clock is not ours. */
export const MEND_CLOCKS = 'let both machines take their time from the network (NTP): signed links depend on it';

const SETTINGS: Readonly<
  Partial<
    Record<string, (address: S3Address, said: (field: 'region' | 'endpoint') => string | undefined) => StoreFault>
  >
> = {
  InvalidAccessKeyId: ({ accessKey }) => ({
    step: 'credentials',
    problem: `the object store knows no access key ${accessKey}`,
    fix: 'correct the access key in OBJECT_STORE_URL, which stands before the colon',
  }),
  SignatureDoesNotMatch: ({ accessKey }) => ({
    step: 'credentials',
    problem: `the secret key is not that of the access key ${accessKey}`,
    fix: 'correct the secret key in OBJECT_STORE_URL, which stands after the colon, percent-encoded (a / is %2F); a proxy before the store must leave host and path as they are',
  }),
  RequestTimeTooSkewed: () => ({
    step: 'clock',
    problem: 'the clock of the object store is too far from ours',
    fix: MEND_CLOCKS,
  }),
  AuthorizationHeaderMalformed: ({ region }, said) => ({
    step: 'region',
    problem: `the object store is not in the region ${region}`,
    fix: `set region in OBJECT_STORE_URL to ${said('region') ?? 'the one that it is in'}`,
  }),
  PermanentRedirect: ({ bucket, host }, said) => ({
    step: 'host',
    problem: `the bucket ${bucket} is not to be had from ${host}`,
    fix: `set host and region in OBJECT_STORE_URL to those of the bucket${said('endpoint') === undefined ? '' : `, which the object store says is at ${said('endpoint')}`}`,
  }),
};

/** A short word without spaces; anything else that a server may say is passed over, as it goes before people. */
function saidOf(error: unknown, field: string): string | undefined {
  const said: unknown = error instanceof Error ? Reflect.get(error, field) : undefined;
  return typeof said === 'string' && /^[\w.:-]{1,255}$/.test(said) ? said : undefined;
}

const codeOf = (error: unknown): string => saidOf(error, 'code') ?? '';
