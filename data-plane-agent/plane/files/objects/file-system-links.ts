import { createHmac } from 'node:crypto';
import type { Clock } from '../../../base/clock.js';
import { constantTimeEqual, type KeyRing } from '../../../base/secrets.js';
import { isKey } from './file-system-paths.js';

/** What one signed URL allows: one PUT of so many bytes of a type, or one object to be read under a name. */
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

/** Makes the signed URLs of a store without a server of its own, and knows them again. */
export interface FileLinks {
  /** The path that all of them begin with. */
  readonly path: string;
  /** Everything in the permit is signed. */
  sign(permit: Permit): string;
  /**
   * What a request to this path and query may do; `undefined` when we did not sign exactly that, or its time is over.
   */
  permitOf(method: string, url: string): Permit | undefined;
}

/**
 * `origin`: where clients reach the process that serves them. Any process with the same secret keys knows the links of
 * any other.
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

/** An array, so that no value can run over into the next. */
const signed = (permit: Permit): readonly (string | number)[] => [permit.method, permit.key, ...queryOf(permit).flat()];

function queryOf(permit: Permit): [name: string, value: string][] {
  const only: [string, string] =
    permit.method === 'PUT' ? ['size', String(permit.sizeBytes)] : ['name', wellFormed(permit.fileName)];
  return [['type', permit.contentType], only, ['expires', String(permit.expiresAt)]];
}

/** Half a character cannot be written into a URL, and would come back as another. */
const wellFormed = (text: string): string => Buffer.from(text).toString();

/** Taken only as `sign` writes it: no parameter more, none twice, none in another place. */
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
