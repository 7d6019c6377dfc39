import { jwtVerify, SignJWT, type JWTPayload } from 'jose';
import { LRUCache } from 'lru-cache';
import type { Clock } from '../../data-plane-agent/base/clock.js';
import { isId, newId } from '../../data-plane-agent/base/ids.js';
import { tokenRefused, type TokenKind } from '../access/token-faults.js';
import type { SigningKeys } from './keys.js';

/** The holder of a token. The server trusts no other claims: role, scope and status are read from the session. */
export interface TokenHolder {
  readonly tenantId: string;
  readonly memberId: string;
  readonly sessionId: string;
}

/**
 * Signs and verifies access and refresh tokens. Verifying throws UNAUTHENTICATED unless the token is valid, unexpired
 * and of the right kind; the reason distinguishes expired tokens from tokens that
 * this service did not issue.
 */
export interface Tokens {
  /** Role and scope are included for the client only. */
  signAccess(
    token: TokenHolder & { readonly roleCode: string; readonly subjectScope: readonly string[] | null },
  ): Promise<string>;
  /**
   * Equal values give an equal token, unless the signing key has changed, so that a lost answer can be repeated. Times
   * in milliseconds.
   */
  signRefresh(
    token: TokenHolder & { readonly generation: number; readonly issuedAt: number; readonly expiresAt: number },
  ): Promise<string>;
  verifyAccess(token: string): Promise<TokenHolder>;
  verifyRefresh(token: string): Promise<TokenHolder & { readonly generation: number }>;
}

/** `publicUrl` is the issuer; both times in milliseconds. */
export function createTokens({
  keys,
  clock,
  publicUrl,
  accessTtlMs,
}: {
  keys: SigningKeys;
  clock: Clock;
  publicUrl: string;
  accessTtlMs: number;
}): Tokens {
  const issuer = publicUrl;
  const audience = `${publicUrl.replace(/\/+$/, '')}/api/v1`;

  const sign = async (
    claims: JWTPayload & { sub: string; jti: string },
    { typ, issuedAt, expiresAt }: { typ: string; issuedAt: number; expiresAt: number },
  ): Promise<string> => {
    const { kid, key } = await keys.current();
    return new SignJWT(claims)
      .setProtectedHeader({ alg: ALGORITHM, typ, kid })
      .setIssuer(issuer)
      .setAudience(audience)
      .setIssuedAt(seconds(issuedAt))
      .setExpirationTime(seconds(expiresAt))
      .sign(key);
  };

  const verify = async (
    token: string,
    { kind, requiredClaims }: { kind: TokenKind; requiredClaims: string[] },
  ): Promise<JWTPayload> => {
    if (token.length > MAX_LENGTH) throw tokenRefused('foreign', kind);
    try {
      // Algorithm, type, audience and required claims are all given, because the library checks only what is given.
      const { payload } = await jwtVerify(token, ({ kid }) => verifierOf(kid, kind), {
        algorithms: [ALGORITHM],
        typ: TYP[kind],
        issuer,
        audience,
        requiredClaims: [...COMMON_CLAIMS, ...requiredClaims],
        currentDate: new Date(clock.now()),
      });
      return payload;
    } catch (error) {
      const code = tokenErrorOf(error);
      if (code === undefined) throw error;
      // Reported only after the signature and the other claims were found to be right.
      throw tokenRefused(code === 'ERR_JWT_EXPIRED' ? 'expired' : 'foreign', kind, { cause: error });
    }
  };
  const verifierOf = async (kid: string | undefined, kind: TokenKind) => {
    const key = kid === undefined ? undefined : await keys.verifier(kid);
    if (!key) throw tokenRefused('foreign', kind);
    return key;
  };

  // Clients send the same access token many times, and verifying a signature costs more than the rest of a small read.
  const verified = new LRUCache<string, { readonly holder: TokenHolder; readonly expiresAt: number }>({ max: 10_000 });

  return {
    signAccess: ({ tenantId, memberId, sessionId, roleCode, subjectScope }) => {
      const now = clock.now();
      return sign(
        { sub: memberId, sid: sessionId, tenantId, roleCode, subjectScope, scope: SCOPE, jti: newId() },
        { typ: TYP.access, issuedAt: now, expiresAt: now + accessTtlMs },
      );
    },
    signRefresh: ({ tenantId, memberId, sessionId, generation, issuedAt, expiresAt }) =>
      sign(
        { sub: memberId, sid: sessionId, tenantId, scope: SCOPE, generation, jti: `${sessionId}.${generation}` },
        { typ: TYP.refresh, issuedAt, expiresAt },
      ),
    verifyAccess: async (token) => {
      const known = verified.get(token);
      if (known && known.expiresAt > clock.now()) return known.holder;
      const payload = await verify(token, { kind: 'access', requiredClaims: ['roleCode', 'subjectScope'] });
      const holder = holderOf(payload, 'access');
      verified.set(token, { holder, expiresAt: (payload.exp ?? 0) * 1_000 });
      return holder;
    },
    verifyRefresh: async (token) => {
      const payload = await verify(token, { kind: 'refresh', requiredClaims: ['generation'] });
      const generation = payload['generation'];
      if (typeof generation !== 'number' || !Number.isSafeInteger(generation)) throw tokenRefused('foreign', 'refresh');
      return { ...holderOf(payload, 'refresh'), generation };
    },
  };
}

const ALGORITHM = 'EdDSA';
const TYP = { access: 'at+jwt', refresh: 'rt+jwt' } as const satisfies Readonly<Record<TokenKind, string>>;
const SCOPE = 'tenant';
const COMMON_CLAIMS = ['iss', 'aud', 'sub', 'sid', 'tenantId', 'scope', 'iat', 'exp', 'jti'];
/** Longer than any token that a request can contain. */
const MAX_LENGTH = 60_000;

const seconds = (ms: number): number => Math.floor(ms / 1_000);

function holderOf({ sub, sid, tenantId, scope }: JWTPayload, kind: TokenKind): TokenHolder {
  if (scope !== SCOPE || !isIdText(sub) || !isIdText(sid) || !isIdText(tenantId)) throw tokenRefused('foreign', kind);
  return { memberId: sub, sessionId: sid, tenantId };
}

const isIdText = (value: unknown): value is string => typeof value === 'string' && isId(value);

/** The library's code if the token is invalid; undefined for a failure to read the keys. */
const tokenErrorOf = (error: unknown): string | undefined =>
  typeof error === 'object' &&
  error !== null &&
  'code' in error &&
  typeof error.code === 'string' &&
  error.code.startsWith('ERR_J')
    ? error.code
    : undefined;
