import { decodeJwt, errors, jwtVerify, SignJWT, type CryptoKey, type JWTPayload } from 'jose';
import type { Clock } from '../clock.js';
import { newId } from '../ids.js';
import { LINK_ALGORITHM, type Signer } from './keys.js';

/**
 * The signed tokens of a link, each for one purpose: to join, to open a connection, to replace a key, one for each
 * request and each reply, and one for a request that a replica of the control plane forwards to another.
 */
export const TOKEN_TYPES = {
  join: 'dp-join+jwt',
  connect: 'dp-agent+jwt',
  rotate: 'dp-rotate+jwt',
  request: 'dp-req+jwt',
  reply: 'dp-rep+jwt',
  forward: 'dp-fwd+jwt',
} as const;
export type TokenType = keyof typeof TOKEN_TYPES;

/** Lifetimes in milliseconds. */
export const TOKEN_LIFE: Readonly<Record<TokenType, number>> = {
  join: 60_000,
  connect: 60_000,
  rotate: 60_000,
  request: 30_000,
  reply: 30_000,
  forward: 30_000,
};

/** Tolerated difference between the clocks of both sides, in milliseconds. */
export const SKEW_MS = 60_000;

/** Why a token is refused. `clock_skew`: signature and claims are right, but the clocks differ too much. */
export const TOKEN_REFUSALS = [
  'malformed',
  'unknown_key',
  'signature',
  'claims',
  'clock_skew',
  'replayed',
  'body',
  'session',
  'tenant',
] as const;
export type TokenRefusal = (typeof TOKEN_REFUSALS)[number];

export class TokenRefused extends Error {
  override readonly name = 'TokenRefused';

  constructor(
    readonly reason: TokenRefusal,
    message: string,
    options: ErrorOptions = {},
  ) {
    super(message, options);
  }
}

export interface TokenFacts {
  readonly type: TokenType;
  readonly issuer: string;
  readonly audience: string;
}

/** Signs a token with a new `jti`. */
export function signToken(
  { type, issuer, audience }: TokenFacts,
  { claims, signer, clock }: { readonly claims: JWTPayload; readonly signer: Signer; readonly clock: Clock },
): Promise<string> {
  const at = clock.now();
  return new SignJWT({ jti: newId(), ...claims })
    .setProtectedHeader({ alg: LINK_ALGORITHM, typ: TOKEN_TYPES[type], kid: signer.kid })
    .setIssuer(issuer)
    .setAudience(audience)
    .setIssuedAt(Math.floor(at / 1_000))
    .setExpirationTime(Math.ceil((at + TOKEN_LIFE[type]) / 1_000))
    .sign(signer.key);
}

export interface VerifyOptions {
  /** The key of that id; `undefined` if it is unknown or no longer accepted. */
  readonly keyOf: (kid: string) => Promise<CryptoKey | undefined> | CryptoKey | undefined;
  readonly clock: Clock;
  /** Claims that must be present, besides the issuer, the audience, the times and the id. */
  readonly required?: readonly string[];
  /** Remembers the id of the token and refuses it the next time. Without it the caller takes care of replays. */
  readonly seen?: SeenTokens | undefined;
}

export type VerifiedToken = JWTPayload & { readonly jti: string; readonly iat: number; readonly exp: number };

/** The claims of a valid token. Throws TokenRefused. */
export async function verifyToken(
  token: string,
  { type, issuer, audience }: TokenFacts,
  { keyOf, clock, required = [], seen }: VerifyOptions,
): Promise<VerifiedToken> {
  if (token.length > MAX_LENGTH) throw new TokenRefused('malformed', 'the token is too long');
  const { payload } = await jwtVerify(
    token,
    async ({ kid }) => {
      const key = kid === undefined ? undefined : await keyOf(kid);
      if (!key) throw new TokenRefused('unknown_key', 'the token is signed with a key that is not accepted');
      return key;
    },
    {
      algorithms: [LINK_ALGORITHM],
      typ: TOKEN_TYPES[type],
      issuer,
      audience,
      requiredClaims: ['iat', 'exp', 'jti', ...required],
      clockTolerance: SKEW_MS / 1_000,
      maxTokenAge: (TOKEN_LIFE[type] + SKEW_MS) / 1_000,
      currentDate: new Date(clock.now()),
    },
  ).catch((error: unknown) => Promise.reject(refusalOf(error, { token, clock })));
  const { jti, iat, exp } = payload;
  // A lifetime chosen by the signer would outlive the memory of used tokens.
  if (iat === undefined || exp === undefined || exp - iat > TOKEN_LIFE[type] / 1_000 + 1)
    throw new TokenRefused('claims', 'the token lives longer than tokens of its type');
  if (typeof jti !== 'string' || jti.length > MAX_ID_LENGTH)
    throw new TokenRefused('claims', 'the token has another jti');
  const claims = { ...payload, jti, iat, exp };
  if (seen) useOnce(claims, seen);
  return claims;
}

/** Throws TokenRefused if the token was used before. */
export function useOnce({ jti, exp }: VerifiedToken, seen: SeenTokens): void {
  if (!seen.add(jti, (exp + SKEW_MS / 1_000) * 1_000)) throw new TokenRefused('replayed', 'the token was used before');
}

/** Ids of used tokens, until they have expired. */
export interface SeenTokens {
  /** Returns false for an id that was added before. `until` in epoch milliseconds. */
  add(jti: string, until: number): boolean;
}

/**
 * Remembers in memory. The oldest ids are only forgotten once expired: while there are too many, further tokens are
 * refused.
 */
export function createSeenTokens({ clock, most = 200_000 }: { readonly clock: Clock; most?: number }): SeenTokens {
  const seen = new Map<string, number>();
  const forget = (): void => {
    const now = clock.now();
    // Tokens arrive almost in the order in which they expire.
    for (const [jti, until] of seen) {
      if (until > now) break;
      seen.delete(jti);
    }
  };
  return {
    add: (jti, until) => {
      forget();
      if (seen.has(jti) || seen.size >= most) return false;
      seen.set(jti, until);
      return true;
    },
  };
}

const MAX_LENGTH = 16_000;
const MAX_ID_LENGTH = 100;

function refusalOf(error: unknown, { token, clock }: { token: string; clock: Clock }): unknown {
  if (error instanceof TokenRefused) return error;
  const isIssuedLater =
    error instanceof errors.JWTClaimValidationFailed && error.claim === 'iat' && error.reason === 'check_failed';
  if (error instanceof errors.JWTExpired || isIssuedLater)
    return new TokenRefused('clock_skew', skewOf(token, clock), { cause: error });
  if (error instanceof errors.JWTClaimValidationFailed)
    return new TokenRefused('claims', `the token has another ${error.claim}`, { cause: error });
  if (error instanceof errors.JWSSignatureVerificationFailed)
    return new TokenRefused('signature', 'the signature is wrong', { cause: error });
  if (error instanceof errors.JOSEError)
    return new TokenRefused('malformed', 'the token is malformed', { cause: error });
  return error;
}

/** Only called after the signature was verified. */
function skewOf(token: string, clock: Clock): string {
  const issued = decodeJwt(token).iat ?? 0;
  const seconds = Math.round(clock.now() / 1_000 - issued);
  return `the token was issued ${Math.abs(seconds)} s ${seconds < 0 ? 'in the future' : 'ago'}: compare the clocks of both machines`;
}
