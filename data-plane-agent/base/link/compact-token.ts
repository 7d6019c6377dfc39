import { isUtf8 } from 'node:buffer';
import { sign, verify, type KeyObject } from 'node:crypto';
import { LRUCache } from 'lru-cache';
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
  const text = `${headerOf(typ, kid)}.${encoded(claims)}`;
  return `${text}.${sign(null, Buffer.from(text), key).toString('base64url')}`;
}

/** Undefined for anything else. */
export function readCompact(token: string): CompactToken | undefined {
  const [, head, payload, signature] = COMPACT.exec(token) ?? [];
  if (head === undefined || payload === undefined || signature === undefined) return undefined;
  const header = headerIn(head);
  if (!header) return undefined;
  return {
    ...header,
    isSignedBy: (key) =>
      key.asymmetricKeyType === 'ed25519' &&
      verify(null, Buffer.from(`${head}.${payload}`), key, Buffer.from(signature, 'base64url')),
    claims: () => objectIn(payload),
  };
}

/** Headers, made or read once: all tokens of a purpose and a key have the same. */
const made = new LRUCache<string, string>({ max: 1_000 });
const read = new LRUCache<string, Header>({ max: 1_000 });

function headerOf(typ: string, kid: string): string {
  const name = `${typ} ${kid}`;
  const known = made.get(name);
  if (known !== undefined) return known;
  const header = encoded({ alg: LINK_ALGORITHM, typ, kid });
  made.set(name, header);
  return header;
}

type Header = Readonly<Pick<CompactToken, 'typ' | 'kid'>>;

/** Undefined for another algorithm, and for extensions that the receiver must understand. */
function headerIn(head: string): Header | undefined {
  const known = read.get(head);
  if (known) return known;
  const header = objectIn(head);
  if (header?.['alg'] !== LINK_ALGORITHM || Object.hasOwn(header, 'crit')) return undefined;
  const found = { typ: header['typ'], kid: header['kid'] };
  // Anyone may send others.
  if (head.length <= USUAL_LENGTH) read.set(head, found);
  return found;
}

/** Of a header in base64url: the names and a thumbprint. */
const USUAL_LENGTH = 200;

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
