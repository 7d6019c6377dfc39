import { createPrivateKey, createPublicKey, type JsonWebKey, type KeyObject } from 'node:crypto';
import { calculateJwkThumbprint, exportJWK, generateKeyPair, type JWK } from 'jose';
import { s, type Static } from '../schema.js';

/** The public half of an Ed25519 key (RFC 8037), as it is exchanged. */
export const PublicKey = s.object({
  kty: s.enum(['OKP']),
  crv: s.enum(['Ed25519']),
  x: s.verbatim({ min: 43, max: 43, pattern: '^[A-Za-z0-9_-]{43}$' }),
});
export type PublicKey = Static<typeof PublicKey>;

export const LINK_ALGORITHM = 'EdDSA';

/** A key pair. `privateJwk` is for storage by its owner only; it never leaves the machine unsealed. */
export interface LinkKeyPair {
  /** The key's RFC 7638 thumbprint. */
  readonly kid: string;
  readonly publicJwk: PublicKey;
  readonly privateJwk: JWK;
}

/** A private key ready for signing. */
export interface Signer {
  readonly kid: string;
  readonly key: KeyObject;
}

export async function newLinkKey(): Promise<LinkKeyPair> {
  const { publicKey, privateKey } = await generateKeyPair(LINK_ALGORITHM, { crv: 'Ed25519', extractable: true });
  const publicJwk = publicKeyOf(await exportJWK(publicKey));
  return { kid: await keyIdOf(publicJwk), publicJwk, privateJwk: await exportJWK(privateKey) };
}

export const keyIdOf = (key: PublicKey): Promise<string> => calculateJwkThumbprint(key);

export const publicKeyOf = ({ x }: Pick<JWK, 'x'>): PublicKey => ({ kty: 'OKP', crv: 'Ed25519', x: x ?? '' });

export const signerOf = ({ kid, privateJwk }: Pick<LinkKeyPair, 'kid' | 'privateJwk'>): Signer => ({
  kid,
  key: ed25519(createPrivateKey({ key: privateJwk as JsonWebKey, format: 'jwk' })),
});

export const verifierOf = (key: PublicKey): KeyObject => ed25519(createPublicKey({ key: { ...key }, format: 'jwk' }));

function ed25519(key: KeyObject): KeyObject {
  if (key.asymmetricKeyType !== 'ed25519') throw new TypeError('a link key must be one of Ed25519');
  return key;
}
