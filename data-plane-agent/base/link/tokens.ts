import type { KeyObject } from 'node:crypto';
import type { JWTPayload } from 'jose';
import type { Clock } from '../clock.js';
import { newId } from '../ids.js';
import { readCompact, signCompact } from './compact-token.js';
import type { Signer } from './keys.js';

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

/** Signs a token, with a new `jti` unless the claims have one. */
export function signToken(
  { type, issuer, audience }: TokenFacts,
  { claims, signer, clock }: { readonly claims: JWTPayload; readonly signer: Signer; readonly clock: Clock },
): string {
  const at = clock.now();
  return signCompact(
    {
      jti: claims.jti ?? newId(),
      ...claims,
      iss: issuer,
      aud: audience,
      iat: Math.floor(at / 1_000),
      exp: Math.ceil((at + TOKEN_LIFE[type]) / 1_000),
    },
    { typ: TOKEN_TYPES[type], ...signer },
  );
}

/** Finds a key by its id. */
export type KeyOf = (kid: string) => Promise<KeyObject | undefined> | KeyObject | undefined;

export interface VerifyOptions {
  /** The key of that id; `undefined` if it is unknown or no longer accepted. */
  readonly keyOf: KeyOf;
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
  facts: TokenFacts,
  { keyOf, clock, required = [], seen }: VerifyOptions,
): Promise<VerifiedToken> {
  if (token.length > MAX_LENGTH) throw new TokenRefused('malformed', 'the token is too long');
  const read = readCompact(token);
  if (!read) throw malformed();
  const key = typeof read.kid === 'string' ? await keyOf(read.kid) : undefined;
  if (!key) throw new TokenRefused('unknown_key', 'the token is signed with a key that is not accepted');
  if (!read.isSignedBy(key)) throw new TokenRefused('signature', 'the signature is wrong');
  const claims = read.claims();
  if (!claims) throw malformed();
  if (read.typ !== TOKEN_TYPES[facts.type]) throw other('typ');
  for (const name of [...required, 'jti']) if (!Object.hasOwn(claims, name)) throw other(name);
  if (claims['iss'] !== facts.issuer) throw other('iss');
  if (claims['aud'] !== facts.audience) throw other('aud');
  const { jti } = claims;
  if (typeof jti !== 'string' || jti.length > MAX_ID_LENGTH) throw other('jti');
  const verified = { ...claims, jti, ...timesIn(claims, facts.type, clock) };
  if (seen) useOnce(verified, seen);
  return verified;
}

const malformed = (): TokenRefused => new TokenRefused('malformed', 'the token is malformed');
const other = (claim: string): TokenRefused => new TokenRefused('claims', `the token has another ${claim}`);

/** When the token was issued and when it expires, if that is now or little earlier. Throws TokenRefused. */
function timesIn(
  { iat, exp, nbf }: Readonly<Record<string, unknown>>,
  type: TokenType,
  clock: Clock,
): Pick<VerifiedToken, 'iat' | 'exp'> {
  if (typeof iat !== 'number') throw other('iat');
  if (typeof exp !== 'number') throw other('exp');
  const now = Math.floor(clock.now() / 1_000);
  const [skew, life] = [SKEW_MS / 1_000, TOKEN_LIFE[type] / 1_000];
  // No signer of a link sets it.
  if (nbf !== undefined && !(typeof nbf === 'number' && nbf <= now + skew)) throw other('nbf');
  if (exp <= now - skew || now - iat > life + 2 * skew || now - iat < -skew)
    throw new TokenRefused('clock_skew', skewOf(iat, clock));
  // A lifetime chosen by the signer would outlive the memory of used tokens.
  if (exp - iat > life + 1) throw new TokenRefused('claims', 'the token lives longer than tokens of its type');
  return { iat, exp };
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

function skewOf(issued: number, clock: Clock): string {
  const seconds = Math.round(clock.now() / 1_000 - issued);
  return `the token was issued ${Math.abs(seconds)} s ${seconds < 0 ? 'in the future' : 'ago'}: compare the clocks of both machines`;
}
