import type { KeyObject } from 'node:crypto';
import type { Clock } from '../clock.js';
import { newId } from '../ids.js';
import { sha256Hex } from '../secrets.js';
import { keyIdOf, verifierOf, type PublicKey, type Signer } from './keys.js';
import { signToken, TokenRefused, verifyToken, type VerifiedToken } from './tokens.js';

/** What an agent proves when it joins: that it has the key, and that it made the proof for this token and nonce. */
export interface JoinFacts {
  /** The audience, as the challenge states it. */
  readonly controlPlane: string;
  readonly instanceId: string;
  readonly joinToken: string;
  readonly nonce: string;
}

/** The `proof` of a `JoinRequest`, signed with the new key. */
export const signJoin = (
  { controlPlane, instanceId, joinToken, nonce }: JoinFacts,
  by: { readonly signer: Signer; readonly clock: Clock },
): string =>
  signToken(
    { type: 'join', issuer: instanceId, audience: controlPlane },
    { claims: { sub: instanceId, nonce, th: sha256Hex(joinToken) }, ...by },
  );

/** Verifies the proof of a `JoinRequest` and returns its nonce, which the caller checks. Throws TokenRefused. */
export async function verifyJoin(
  proof: string,
  { controlPlane, instanceId, joinToken }: Omit<JoinFacts, 'nonce'>,
  { key, clock }: { readonly key: PublicKey; readonly clock: Clock },
): Promise<string> {
  const claims = await verifyToken(
    proof,
    { type: 'join', issuer: instanceId, audience: controlPlane },
    { keyOf: onlyKey(key), clock, required: ['sub', 'nonce', 'th'] },
  );
  const { nonce, sub, th } = claims;
  if (typeof nonce !== 'string' || sub !== instanceId || th !== sha256Hex(joinToken))
    throw new TokenRefused('claims', 'the proof is for another join token or another instance');
  return nonce;
}

/** Who replaces which key. */
export interface RotationFacts {
  readonly controlPlane: string;
  readonly connectionId: string;
  /** The new key. */
  readonly key: PublicKey;
}

/**
 * The two tokens of a rotation: `authorization` is signed with the present key and names the new one, `proof` is signed
 * with the new key and names the other token.
 */
export async function signRotation(
  { controlPlane, connectionId, key }: RotationFacts,
  { current, next, clock }: { readonly current: Signer; readonly next: Signer; readonly clock: Clock },
): Promise<{ readonly authorization: string; readonly proof: string }> {
  const facts = { type: 'rotate', issuer: connectionId, audience: controlPlane } as const;
  const jti = newId();
  const sub = connectionId;
  const authorization = signToken(facts, {
    claims: { jti, sub, key: await keyIdOf(key) },
    signer: current,
    clock,
  });
  return { authorization, proof: signToken(facts, { claims: { sub, re: jti }, signer: next, clock }) };
}

/** Verifies the proof of a `RotateRequest` against the verified authorization. Throws TokenRefused. */
export async function verifyRotation(
  { authorization, proof }: { readonly authorization: VerifiedToken; readonly proof: string },
  { controlPlane, connectionId, key }: RotationFacts,
  { clock }: { readonly clock: Clock },
): Promise<void> {
  if (authorization['key'] !== (await keyIdOf(key)))
    throw new TokenRefused('claims', 'the authorization names another key');
  const { re } = await verifyToken(
    proof,
    { type: 'rotate', issuer: connectionId, audience: controlPlane },
    { keyOf: onlyKey(key), clock, required: ['sub', 're'] },
  );
  if (re !== authorization.jti) throw new TokenRefused('claims', 'the proof is for another authorization');
}

const onlyKey =
  (key: PublicKey) =>
  async (kid: string): Promise<KeyObject | undefined> =>
    kid === (await keyIdOf(key)) ? verifierOf(key) : undefined;
