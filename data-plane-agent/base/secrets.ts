import { createCipheriv, createDecipheriv, createHash, hkdfSync, randomBytes, timingSafeEqual } from 'node:crypto';

/**
 * The keys that encrypt ("seal") secrets in the databases. A sealed text is `v1.<keyId>.<nonce>.<commitment, ciphertext
 * and tag>`, binary parts in base64url: AES-256-GCM with a key per record, which HKDF-SHA256 derives from the master
 * key and the context.
 */
export interface KeyRing {
  /** Id of the key used for sealing. */
  readonly active: string;
  /** Ids of all keys usable for opening, the active one first. */
  readonly keyIds: readonly string[];
  /** Seals for one place, which the context names, such as `table.column.tenantId.rowId`. */
  seal(plain: string | Uint8Array, context: string): string;
  /** Opens a text sealed for this context. Throws SealError. */
  open(sealed: string, context: string): Uint8Array;
  /** As `open`, for sealed text (UTF-8). */
  openText(sealed: string, context: string): string;
  /** Id of the key that sealed the text, even if it is not in the ring: shows what is left to reseal. */
  keyIdOf(sealed: string): string;
  /** 32 bytes for one purpose, derived from the oldest key, so that adding a new active key does not change them. */
  derive(purpose: string): Uint8Array;
  /** The keys themselves, in the format of `parseKeyRing`: only for a place that encrypts them, such as a backup. */
  reveal(): string;
}

/** `SEAL_CONTEXT_MISMATCH`: sealed for another context, or with another key of the same id. */
export class SealError extends Error {
  override readonly name = 'SealError';

  constructor(
    readonly code:
      'KEY_RING_INVALID' | 'SEAL_MALFORMED' | 'SEAL_KEY_UNKNOWN' | 'SEAL_CONTEXT_MISMATCH' | 'SEAL_TAMPERED',
    message: string,
  ) {
    super(message);
  }
}

/**
 * Parses `id:base64,id:base64`, 32 bytes each: the first key seals, all open. Throws SealError `KEY_RING_INVALID` with
 * a message that never contains a key.
 */
export function parseKeyRing(text: string): KeyRing {
  const keys = new Map<string, Buffer>();
  for (const [index, entry] of text.split(',').entries()) {
    const colon = entry.indexOf(':');
    const id = entry.slice(0, Math.max(colon, 0)).trim();
    const where = `key ${index + 1}`;
    if (!KEY_ID.test(id))
      throw invalidRing(`${where} must be written id:base64, with an id of at most 32 characters of A-Z a-z 0-9 _ -`);
    if (keys.has(id)) throw invalidRing(`${where} repeats the id ${id}`);
    const key = fromBase64(entry.slice(colon + 1).trim());
    if (key?.length !== KEY_BYTES) throw invalidRing(`${where} (${id}) must be ${KEY_BYTES} bytes in base64`);
    keys.set(id, key);
  }
  return ringOf(keys);
}

/** A new ring of one random key, in the format of `parseKeyRing`. The random id distinguishes it from earlier keys. */
export function generateKeyRingText(): string {
  return `k${randomBytes(4).toString('hex')}:${randomBytes(KEY_BYTES).toString('base64')}`;
}

/** SHA-256 in lower-case hex. */
export function sha256Hex(data: string | Uint8Array): string {
  return createHash('sha256').update(data).digest('hex');
}

/** Random bytes in base64url: 32 bytes are 43 characters. */
export function randomToken(bytes = 32): string {
  return randomBytes(bytes).toString('base64url');
}

/** Compares two secrets in a time that reveals neither their lengths nor where they differ. */
export function constantTimeEqual(a: string, b: string): boolean {
  return timingSafeEqual(createHash('sha256').update(a).digest(), createHash('sha256').update(b).digest());
}

const KEY_BYTES = 32;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const COMMITMENT_BYTES = 16;
const KEY_ID = /^[A-Za-z0-9_-]{1,32}$/;

// The keys are in this closure and not in a property, so that printing or logging a ring cannot expose them.
function ringOf(keys: ReadonlyMap<string, Buffer>): KeyRing {
  const [active = ''] = keys.keys();
  const keyOf = (id: string): Buffer => {
    const key = keys.get(id);
    if (key === undefined) throw new SealError('SEAL_KEY_UNKNOWN', `the key ring has no key ${id}`);
    return key;
  };
  const open = (sealed: string, context: string): Buffer => {
    const { keyId, nonce, body } = partsOf(sealed);
    const { key, commitment } = recordKey(keyOf(keyId), context);
    if (!timingSafeEqual(body.subarray(0, COMMITMENT_BYTES), commitment)) {
      throw new SealError(
        'SEAL_CONTEXT_MISMATCH',
        `sealed for another context than ${context}, or with another key ${keyId}`,
      );
    }
    return decrypt({ key, nonce, context, encrypted: body.subarray(COMMITMENT_BYTES) });
  };
  return {
    active,
    keyIds: [...keys.keys()],
    seal: (plain, context) => {
      const { key, commitment } = recordKey(keyOf(active), context);
      const nonce = randomBytes(NONCE_BYTES);
      const body = Buffer.concat([commitment, encrypt({ key, nonce, context, plain })]);
      return ['v1', active, nonce.toString('base64url'), body.toString('base64url')].join('.');
    },
    open,
    openText: (sealed, context) => open(sealed, context).toString('utf8'),
    keyIdOf: (sealed) => partsOf(sealed).keyId,
    reveal: () => [...keys].map(([id, key]) => `${id}:${key.toString('base64')}`).join(','),
    derive: (purpose) => {
      const oldest = keyOf([...keys.keys()].at(-1) ?? active);
      return Buffer.from(
        hkdfSync(
          'sha256',
          oldest,
          Buffer.alloc(0),
          Buffer.concat([Buffer.from('duebook derive v1 '), createHash('sha256').update(purpose).digest()]),
          KEY_BYTES,
        ),
      );
    },
  };
}

/**
 * The commitment binds the text to key and context: GCM alone fails in the same way for a wrong context and an altered
 * byte, and one ciphertext can be crafted to open with two keys.
 */
function recordKey(masterKey: Buffer, context: string): { key: Buffer; commitment: Buffer } {
  // HKDF accepts at most 1024 bytes of info; hashing allows contexts of any length.
  const info = Buffer.concat([Buffer.from('duebook seal v1 '), createHash('sha256').update(context).digest()]);
  const derived = Buffer.from(hkdfSync('sha256', masterKey, Buffer.alloc(0), info, KEY_BYTES + COMMITMENT_BYTES));
  return { key: derived.subarray(0, KEY_BYTES), commitment: derived.subarray(KEY_BYTES) };
}

function encrypt(input: { key: Buffer; nonce: Buffer; context: string; plain: string | Uint8Array }): Buffer {
  const cipher = createCipheriv('aes-256-gcm', input.key, input.nonce).setAAD(Buffer.from(input.context));
  return Buffer.concat([cipher.update(Buffer.from(input.plain)), cipher.final(), cipher.getAuthTag()]);
}

function decrypt(input: { key: Buffer; nonce: Buffer; context: string; encrypted: Buffer }): Buffer {
  const end = input.encrypted.length - TAG_BYTES;
  const decipher = createDecipheriv('aes-256-gcm', input.key, input.nonce, { authTagLength: TAG_BYTES })
    .setAAD(Buffer.from(input.context))
    .setAuthTag(input.encrypted.subarray(end));
  try {
    return Buffer.concat([decipher.update(input.encrypted.subarray(0, end)), decipher.final()]);
  } catch (cause) {
    const error = new SealError('SEAL_TAMPERED', `the sealed text of ${input.context} was altered`);
    error.cause = cause;
    throw error;
  }
}

function partsOf(sealed: string): { keyId: string; nonce: Buffer; body: Buffer } {
  const [version, keyId = '', nonceText = '', bodyText = '', ...rest] = sealed.split('.');
  const nonce = fromBase64Url(nonceText);
  const body = fromBase64Url(bodyText);
  const whole = version === 'v1' && KEY_ID.test(keyId) && rest.length === 0;
  if (!whole || nonce?.length !== NONCE_BYTES || body === undefined || body.length < COMMITMENT_BYTES + TAG_BYTES) {
    throw new SealError('SEAL_MALFORMED', 'not a sealed text');
  }
  return { keyId, nonce, body };
}

// Node's decoder skips invalid characters; only text that encodes back to itself is accepted.
function fromBase64(text: string): Buffer | undefined {
  const bytes = Buffer.from(text, 'base64');
  return bytes.toString('base64') === text ? bytes : undefined;
}

function fromBase64Url(text: string): Buffer | undefined {
  const bytes = Buffer.from(text, 'base64url');
  return bytes.toString('base64url') === text ? bytes : undefined;
}

function invalidRing(message: string): SealError {
  return new SealError('KEY_RING_INVALID', message);
}
