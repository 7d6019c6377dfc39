import { fail, type Failure } from '../../data-plane-agent/base/failures.js';

/** The kinds of tokens that clients send back. */
export type TokenKind = 'access' | 'refresh';

/** Why a token is refused, with what to do about it, in one sentence. */
const FAULTS = {
  missing: {
    access: 'The access token is missing; send it as Authorization: Bearer TOKEN.',
    refresh: 'The refresh token is missing; send it as refreshToken or in the cookie.',
  },
  expired: {
    access: 'The access token has expired; get a new one with POST /auth/refresh.',
    refresh: 'The refresh token has expired; sign in again.',
  },
  foreign: {
    access: 'This is not an access token of this service.',
    refresh: 'This is not a refresh token of this service.',
  },
  ended: {
    access: 'The session of the access token has ended; sign in again.',
    refresh: 'The session of the refresh token has ended; sign in again.',
  },
  suspended: {
    access: 'The organisation is suspended.',
    refresh: 'The organisation is suspended.',
  },
} as const satisfies Readonly<Record<string, Readonly<Record<TokenKind, string>>>>;

/**
 * The refusal of a token. For an access token that was sent, the `WWW-Authenticate` header has the reason too (RFC 6750,
 * section 3.1); a refresh token is not a bearer credential of the request, so only the message has it.
 */
export const tokenRefused = (
  fault: keyof typeof FAULTS,
  kind: TokenKind = 'access',
  options: ErrorOptions = {},
): Failure<'UNAUTHENTICATED'> => {
  const reason = FAULTS[fault][kind];
  return kind === 'access' && fault !== 'missing'
    ? fail('UNAUTHENTICATED', { tokenFault: reason }, options)
    : fail('UNAUTHENTICATED', { message: reason }, options);
};
