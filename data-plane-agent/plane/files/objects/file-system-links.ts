import { createHmac } from 'node:crypto';
import type { Clock } from '../../../base/clock.js';
import { constantTimeEqual, type KeyRing } from '../../../base/secrets.js';
import { isKey } from './file-system-paths.js';

/** What one signed URL allows: one PUT of a given size and type, or reading one object under a file name. */
export type Permit =
  | {
      readonly method: 'PUT';
      readonly key: string;
      readonly contentType: string;
      readonly sizeBytes: number;
      readonly expiresAt: number;
    }
  | {
      readonly method: 'GET';
      readonly key: string;
      readonly contentType: string;
      readonly fileName: string;
      readonly expiresAt: number;
    };

/** Creates and verifies the signed URLs of a store that has no server. */
export interface FileLinks {
  /** The path prefix of all URLs. */
  readonly path: string;
  /** The signature covers the whole permit. */
  sign(permit: Permit): string;
  /** What a request to this URL may do; `undefined` when the signature is invalid or has expired. */
  permitOf(method: string, url: string): Permit | undefined;
}

/**
 * `origin`: where clients reach the process that serves the URLs. Processes with the same secret keys accept each
 * other's URLs.
 */
export function createFileLinks({
  origin,
  keyRing,
  clock,
}: {
  readonly origin: string;
  readonly keyRing: KeyRing;
  readonly clock: Clock;
}): FileLinks {
  const secret = keyRing.derive('file links');
  const signatureOf = (permit: Permit): string =>
    createHmac('sha256', secret)
      .update(JSON.stringify(signed(permit)))
      .digest('base64url');
  return {
    path: PATH,
    sign: (permit) =>
      `${origin}${PATH}${permit.key}?${new URLSearchParams([...queryOf(permit), ['signature', signatureOf(permit)]]).toString()}`,
    permitOf: (method, url) => {
      const read = readLink(method, url);
      if (!read || !constantTimeEqual(read.signature, signatureOf(read.permit))) return undefined;
      return clock.now() < read.permit.expiresAt ? read.permit : undefined;
    },
  };
}

const PATH = '/files/';

/** An array keeps adjacent values apart. */
const signed = (permit: Permit): readonly (string | number)[] => [permit.method, permit.key, ...queryOf(permit).flat()];

function queryOf(permit: Permit): [name: string, value: string][] {
  const only: [string, string] =
    permit.method === 'PUT' ? ['size', String(permit.sizeBytes)] : ['name', wellFormed(permit.fileName)];
  return [['type', permit.contentType], only, ['expires', String(permit.expiresAt)]];
}

/** An unpaired surrogate cannot be encoded in a URL. */
const wellFormed = (text: string): string => Buffer.from(text).toString();

/** Accepts only the exact form that `sign` creates: no other, repeated or reordered parameters. */
function readLink(method: string, url: string): { permit: Permit; signature: string } | undefined {
  const [path = '', query = '', ...rest] = url.split('?');
  const key = path.slice(PATH.length);
  if (!path.startsWith(PATH) || rest.length > 0 || !isKey(key)) return undefined;
  const entries = [...new URLSearchParams(query)];
  const names = entries.map(([name]) => name).join();
  const [contentType = '', only = '', expires = '', signature = ''] = entries.map(([, value]) => value);
  const expiresAt = wholeNumber(expires);
  if (expiresAt === undefined) return undefined;
  if (method === 'PUT' && names === 'type,size,expires,signature') {
    const sizeBytes = wholeNumber(only);
    return sizeBytes === undefined
      ? undefined
      : { signature, permit: { method: 'PUT', key, contentType, sizeBytes, expiresAt } };
  }
  if ((method === 'GET' || method === 'HEAD') && names === 'type,name,expires,signature')
    return { signature, permit: { method: 'GET', key, contentType, fileName: only, expiresAt } };
  return undefined;
}

const wholeNumber = (text: string): number | undefined => (/^(0|[1-9]\d{0,15})$/.test(text) ? Number(text) : undefined);
