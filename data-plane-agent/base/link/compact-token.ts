import { isUtf8 } from 'node:buffer';
import { sign, verify, type KeyObject } from 'node:crypto';
import { LINK_ALGORITHM } from './keys.js';

/**
 * The one form of a link's tokens: a JWS in compact serialisation (RFC 7515), signed with Ed25519 (RFC 8037), whose
 * payload is a JSON object. Each request and each reply has one. Node.js signs them in this thread: a general library
 * gives each signature to another thread, and waiting for that one takes longer than the signature itself.
 */
export interface CompactToken {
  /** Of the header, as it was sent. */
  readonly typ: unknown;
  readonly kid: unknown;
  isSignedBy(key: KeyObject): boolean;
  /** Undefined if the payload is no JSON object. Call it once the signature is verified. */
  claims(): Readonly<Record<string, unknown>> | undefined;
}

export function signCompact(
  claims: Readonly<Record<string, unknown>>,
  { typ, kid, key }: { readonly typ: string; readonly kid: string; readonly key: KeyObject },
): string {
  const text = `${encoded({ alg: LINK_ALGORITHM, typ, kid })}.${encoded(claims)}`;
  return `${text}.${sign(null, Buffer.from(text), key).toString('base64url')}`;
}

/** Undefined for anything else, also for another algorithm and for extensions that the receiver must understand. */
export function readCompact(token: string): CompactToken | undefined {
  const [, head, payload, signature] = COMPACT.exec(token) ?? [];
  const header = head === undefined ? undefined : objectIn(head);
  if (header?.['alg'] !== LINK_ALGORITHM || Object.hasOwn(header, 'crit')) return undefined;
  if (payload === undefined || signature === undefined) return undefined;
  return {
    typ: header['typ'],
    kid: header['kid'],
    isSignedBy: (key) =>
      key.asymmetricKeyType === 'ed25519' &&
      verify(null, Buffer.from(`${head}.${payload}`), key, Buffer.from(signature, 'base64url')),
    claims: () => objectIn(payload),
  };
}

/** Three parts in base64url without padding; a signature of Ed25519 has 64 bytes. */
const COMPACT = /^([\w-]+)\.([\w-]+)\.([\w-]{86})$/;

const encoded = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');

function objectIn(part: string): Readonly<Record<string, unknown>> | undefined {
  const bytes = Buffer.from(part, 'base64url');
  if (!isUtf8(bytes)) return undefined;
  try {
    const value: unknown = JSON.parse(bytes.toString());
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Readonly<Record<string, unknown>>)
      : undefined;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
