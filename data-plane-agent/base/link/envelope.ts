import { hash } from 'node:crypto';
import type { Clock } from '../clock.js';
import type { Signer } from './keys.js';
import {
  signToken,
  TokenRefused,
  useOnce,
  verifyToken,
  type KeyOf,
  type SeenTokens,
  type VerifiedToken,
} from './tokens.js';

/**
 * Each request and each reply is signed by its sender, whatever carries it: TLS often ends at a proxy. The token names
 * the hash of the body, the session, the tenant and the operation.
 */
export interface RequestFacts {
  /** The control plane: the origin of its public URL. */
  readonly controlPlane: string;
  readonly connectionId: string;
  readonly tenantId: string;
  /** The session of the connection; for an agent that is called directly, the id of its process. */
  readonly session: string;
}

export interface SignedRequest {
  readonly token: string;
  readonly jti: string;
}

/** The control plane signs a request. `subject` is the member or system part on whose behalf it is made. */
export function signRequest(
  facts: RequestFacts,
  {
    operation,
    subject,
    body,
    jti,
    ...by
  }: {
    readonly operation: string;
    readonly subject: string;
    readonly body: Uint8Array;
    /** The id of the request, new for each attempt. */
    readonly jti: string;
    readonly signer: Signer;
    readonly clock: Clock;
  },
): SignedRequest {
  const claims = { jti, sub: subject, sid: facts.session, tid: facts.tenantId, op: operation, bh: hashOf(body) };
  const token = signToken(
    { type: 'request', issuer: facts.controlPlane, audience: facts.connectionId },
    { claims, ...by },
  );
  return { token, jti };
}

/** The agent verifies a request: the claims, with the operation as `op`. Throws TokenRefused. */
export async function verifyRequest(
  { token, body }: { readonly token: string; readonly body: Uint8Array },
  facts: RequestFacts,
  {
    seen,
    ...by
  }: {
    readonly keyOf: KeyOf;
    readonly clock: Clock;
    readonly seen: SeenTokens;
  },
): Promise<VerifiedToken & { readonly op: string }> {
  const claims = await verifyToken(
    token,
    { type: 'request', issuer: facts.controlPlane, audience: facts.connectionId },
    { ...by, required: ['sub', 'sid', 'tid', 'op', 'bh'] },
  );
  if (claims['sid'] !== facts.session) throw new TokenRefused('session', 'the request is for another session');
  if (claims['tid'] !== facts.tenantId) throw new TokenRefused('tenant', 'the request is for another organisation');
  const { op } = claims;
  if (typeof op !== 'string') throw new TokenRefused('claims', 'the token has another op');
  if (claims['bh'] !== hashOf(body)) throw new TokenRefused('body', 'the body is not the signed one');
  // Last, so that a request that was changed on the way does not use up the token of the real one.
  useOnce(claims, seen);
  return { ...claims, op };
}

/** The agent signs its reply to a request. */
export const signReply = (
  facts: RequestFacts,
  {
    jti,
    body,
    ...by
  }: { readonly jti: string; readonly body: Uint8Array; readonly signer: Signer; readonly clock: Clock },
): string =>
  signToken(
    { type: 'reply', issuer: facts.connectionId, audience: facts.controlPlane },
    { claims: { re: jti, sid: facts.session, bh: hashOf(body) }, ...by },
  );

export interface VerifiedReply {
  /** When the agent signed it, by its own clock, in epoch milliseconds of a full second. */
  readonly signedAt: number;
  /** SHA-256 of the body, as base64url. */
  readonly bodyHash: string;
}

/** The control plane verifies the reply to its request `jti`. Throws TokenRefused. */
export async function verifyReply(
  { token, body, jti }: { readonly token: string; readonly body: Uint8Array; readonly jti: string },
  facts: RequestFacts,
  by: {
    readonly keyOf: KeyOf;
    readonly clock: Clock;
  },
): Promise<VerifiedReply> {
  const claims = await verifyToken(
    token,
    { type: 'reply', issuer: facts.connectionId, audience: facts.controlPlane },
    { ...by, required: ['re', 'sid', 'bh'] },
  );
  if (claims['re'] !== jti) throw new TokenRefused('replayed', 'the reply is to another request');
  if (claims['sid'] !== facts.session) throw new TokenRefused('session', 'the reply is of another session');
  const bodyHash = hashOf(body);
  if (claims['bh'] !== bodyHash) throw new TokenRefused('body', 'the body is not the signed one');
  return { signedAt: claims.iat * 1_000, bodyHash };
}

const hashOf = (body: Uint8Array): string => hash('sha256', body, 'base64url');
