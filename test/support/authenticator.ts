import { createHash, generateKeyPairSync, randomBytes, sign, type KeyObject } from 'node:crypto';

/** Ways in which an authenticator or browser can misbehave. */
export interface Behaviour {
  /** The origin reported by the browser. */
  readonly origin?: string;
  readonly rpId?: string;
  /** By default `webauthn.create` or `webauthn.get`. */
  readonly type?: string;
  readonly challenge?: string;
  readonly crossOrigin?: boolean;
  /** Whether the user was present and verified (finger, face, PIN). */
  readonly present?: boolean;
  readonly verified?: boolean;
  /** A passkey that is synced to several devices. */
  readonly synced?: boolean;
  /** The signature counter; it increments from `counts`. */
  readonly counter?: number;
  /** Reports a different credential id than the one that signs. */
  readonly credentialId?: string;
  readonly userHandle?: string | null;
  /** For registrations: a custom attestation statement. */
  readonly attestation?: { readonly fmt: string; readonly attStmt: Cbor };
}

export interface SoftwareAuthenticator {
  /** The response to registration options, in the format of a browser's `toJSON()`. */
  create(options: CreationOptions, behaviour?: Behaviour): Attestation;
  /** The response to login options, with the newest passkey, or the created one with `credentialId`. */
  get(options: RequestOptions, behaviour?: Behaviour): Assertion;
  /** The ids of the created passkeys. */
  readonly credentialIds: readonly string[];
}

export interface CreationOptions {
  readonly challenge: string;
  readonly rp: { readonly id: string };
  readonly user: { readonly id: string };
}
export interface RequestOptions {
  readonly challenge: string;
  readonly rpId: string;
}
export type Attestation = ReturnType<typeof attestationOf>;
export type Assertion = ReturnType<typeof assertionOf>;

/**
 * Creates real P-256 keys, attestation objects without a statement, and assertions. With `counts` the signature counter
 * increases; otherwise it is always 0, as for synced passkeys.
 */
export function softwareAuthenticator({
  origin,
  counts = true,
  synced = false,
  transports = ['internal'],
}: {
  origin: string;
  counts?: boolean;
  synced?: boolean;
  transports?: readonly string[];
}): SoftwareAuthenticator {
  const made: { readonly id: string; readonly privateKey: KeyObject; readonly userHandle: string; counter: number }[] =
    [];
  const flags = ({ present = true, verified = true, synced: now = synced }: Behaviour) =>
    (present ? UP : 0) | (verified ? UV : 0) | (now ? BE | BS : 0);
  const count = (passkey: { counter: number }): number => (counts ? (passkey.counter += 1) : 0);

  return {
    get credentialIds() {
      return made.map(({ id }) => id);
    },
    create: ({ challenge, rp, user }, behaviour = {}) => {
      const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
      const { x = '', y = '' } = publicKey.export({ format: 'jwk' });
      const passkey = {
        id: behaviour.credentialId ?? randomBytes(32).toString('base64url'),
        privateKey,
        userHandle: user.id,
        counter: 0,
      };
      made.push(passkey);
      const id = bytes(passkey.id);
      // COSE: kty 2 (EC2), alg -7 (ES256), crv 1 (P-256).
      const key = cbor(
        new Map<Cbor, Cbor>([
          [1, 2],
          [3, -7],
          [-1, 1],
          [-2, bytes(x)],
          [-3, bytes(y)],
        ]),
      );
      const data = Buffer.concat([
        digest(behaviour.rpId ?? rp.id),
        Buffer.of(flags(behaviour) | AT),
        uint32(behaviour.counter ?? count(passkey)),
        Buffer.alloc(16),
        Buffer.of(id.length >> 8, id.length & 0xff),
        id,
        key,
      ]);
      const { fmt, attStmt } = behaviour.attestation ?? { fmt: 'none', attStmt: new Map<Cbor, Cbor>() };
      return attestationOf({
        id: passkey.id,
        transports,
        clientData: clientDataOf('webauthn.create', { challenge, origin, behaviour }),
        attestationObject: cbor(
          new Map<Cbor, Cbor>([
            ['fmt', fmt],
            ['attStmt', attStmt],
            ['authData', data],
          ]),
        ),
      });
    },
    get: ({ challenge, rpId }, behaviour = {}) => {
      const passkey = made.find(({ id }) => id === behaviour.credentialId) ?? made.at(-1);
      if (!passkey) throw new Error('the authenticator has no passkey');
      const authenticatorData = Buffer.concat([
        digest(behaviour.rpId ?? rpId),
        Buffer.of(flags(behaviour)),
        uint32(behaviour.counter ?? count(passkey)),
      ]);
      const clientData = clientDataOf('webauthn.get', { challenge, origin, behaviour });
      return assertionOf({
        id: behaviour.credentialId ?? passkey.id,
        clientData,
        authenticatorData,
        signature: sign('sha256', Buffer.concat([authenticatorData, digest(clientData)]), passkey.privateKey),
        userHandle: behaviour.userHandle === undefined ? passkey.userHandle : behaviour.userHandle,
      });
    },
  };
}

/**
 * Flags of authenticator data: user present, user verified, may be backed up, is backed up, credential data attached.
 */
const [UP, UV, BE, BS, AT] = [0x01, 0x04, 0x08, 0x10, 0x40] as const;

const attestationOf = ({
  id,
  transports,
  clientData,
  attestationObject,
}: {
  id: string;
  transports: readonly string[];
  clientData: Buffer;
  attestationObject: Buffer;
}) => ({
  id,
  rawId: id,
  type: 'public-key',
  authenticatorAttachment: 'platform',
  clientExtensionResults: { credProps: { rk: true } },
  response: {
    clientDataJSON: clientData.toString('base64url'),
    attestationObject: attestationObject.toString('base64url'),
    transports: [...transports],
    publicKeyAlgorithm: -7,
  },
});

const assertionOf = ({
  id,
  clientData,
  authenticatorData,
  signature,
  userHandle,
}: {
  id: string;
  clientData: Buffer;
  authenticatorData: Buffer;
  signature: Buffer;
  userHandle: string | null;
}) => ({
  id,
  rawId: id,
  type: 'public-key',
  authenticatorAttachment: 'platform',
  clientExtensionResults: {},
  response: {
    clientDataJSON: clientData.toString('base64url'),
    authenticatorData: authenticatorData.toString('base64url'),
    signature: signature.toString('base64url'),
    userHandle,
  },
});

const clientDataOf = (
  type: string,
  { challenge, origin, behaviour }: { challenge: string; origin: string; behaviour: Behaviour },
): Buffer =>
  Buffer.from(
    JSON.stringify({
      type: behaviour.type ?? type,
      challenge: behaviour.challenge ?? challenge,
      origin: behaviour.origin ?? origin,
      crossOrigin: behaviour.crossOrigin ?? false,
    }),
  );

const bytes = (base64url: string): Buffer => Buffer.from(base64url, 'base64url');
const digest = (data: string | Buffer): Buffer => createHash('sha256').update(data).digest();

function uint32(value: number): Buffer {
  const buffer = Buffer.alloc(4);
  buffer.writeUInt32BE(value);
  return buffer;
}

/**
 * The subset of CBOR (RFC 8949) that authenticators write: integers, bytes, text, lists and maps in their shortest
 * form.
 */
export type Cbor = number | string | Uint8Array | readonly Cbor[] | ReadonlyMap<Cbor, Cbor>;

export function cbor(value: Cbor): Buffer {
  if (typeof value === 'number') return value >= 0 ? head(0, value) : head(1, -1 - value);
  if (typeof value === 'string') return Buffer.concat([head(3, Buffer.byteLength(value)), Buffer.from(value)]);
  if (value instanceof Uint8Array) return Buffer.concat([head(2, value.length), value]);
  if (value instanceof Map)
    return Buffer.concat([
      head(5, value.size),
      ...[...(value as ReadonlyMap<Cbor, Cbor>)].flatMap(([key, item]) => [cbor(key), cbor(item)]),
    ]);
  const list = value as readonly Cbor[];
  return Buffer.concat([head(4, list.length), ...list.map(cbor)]);
}

function head(major: number, value: number): Buffer {
  const type = major << 5;
  if (value < 24) return Buffer.of(type | value);
  if (value < 0x100) return Buffer.of(type | 24, value);
  return Buffer.of(type | 25, value >> 8, value & 0xff);
}
