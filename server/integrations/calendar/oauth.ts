import {
  allowInsecureRequests,
  authorizationCodeGrant,
  buildAuthorizationUrl,
  calculatePKCECodeChallenge,
  Configuration,
  customFetch,
  refreshTokenGrant,
  tokenRevocation,
  type TokenEndpointResponse,
} from 'openid-client';
import type { Clock } from '../../../data-plane-agent/base/clock.js';
import type { Outbound } from '../../../data-plane-agent/base/outbound.js';
import { fetchThrough, isUnreachable, refusalOf } from '../../auth/oauth-client.js';
import type { ConfiguredProvider } from './providers.js';

/** The tokens of a grant. */
export interface Grant {
  readonly accessToken: string;
  readonly expiresAt: number;
  /** `null` if the one that was used stays valid. */
  readonly refreshToken: string | null;
}

/** The provider refused, or did not answer. `reason` is a code for the audit. */
export class GrantError extends Error {
  override readonly name = 'GrantError';

  constructor(
    readonly reason: string,
    readonly kind: 'refused' | 'unreachable',
    options?: ErrorOptions,
  ) {
    super(`calendar grant: ${reason}`, options);
  }

  /** The user or the provider has ended the grant; any other reason is a problem of this installation's settings. */
  get isRevoked(): boolean {
    return this.reason === 'invalid_grant' || this.reason === TOKEN_REFUSED;
  }
}

/** The API refuses an access token that was just issued. */
export const TOKEN_REFUSED = 'access_token_refused';

interface Handshake {
  readonly redirectUri: string;
  readonly state: string;
  readonly codeVerifier: string;
}

/** Authorization code with PKCE, refresh and revocation. The methods throw GrantError. */
export interface CalendarOauth {
  authorizationUrl(handshake: Handshake): Promise<string>;
  /** `parameters` are those of the callback. */
  complete(handshake: Handshake, parameters: Readonly<Record<string, string>>): Promise<Grant>;
  refresh(refreshToken: string): Promise<Grant>;
  /** Does nothing if the provider cannot revoke the grant of one application. */
  revoke(refreshToken: string): Promise<void>;
}

export function createCalendarOauth(
  { provider, clientId, clientSecret, authorizeUrl, tokenUrl, revokeUrl }: ConfiguredProvider,
  { outbound, clock }: { outbound: Outbound; clock: Clock },
): CalendarOauth {
  const configuration = new Configuration(
    {
      issuer: new URL(authorizeUrl).origin,
      authorization_endpoint: authorizeUrl,
      token_endpoint: tokenUrl,
      ...(revokeUrl === null ? {} : { revocation_endpoint: revokeUrl }),
    },
    clientId,
    clientSecret,
  );
  configuration[customFetch] = fetchThrough(outbound);
  // The outbound guard decides whether http is allowed.
  if ([authorizeUrl, tokenUrl].some((url) => url.startsWith('http:'))) allowInsecureRequests(configuration);

  const grantOf = (tokens: TokenEndpointResponse): Grant => ({
    accessToken: tokens.access_token,
    expiresAt: clock.now() + (tokens.expires_in ?? DEFAULT_LIFETIME_S) * 1_000,
    refreshToken: tokens.refresh_token ?? null,
  });

  return {
    authorizationUrl: async ({ redirectUri, state, codeVerifier }) =>
      buildAuthorizationUrl(configuration, {
        ...provider.parameters,
        redirect_uri: redirectUri,
        scope: provider.scopes.join(' '),
        state,
        code_challenge: await calculatePKCECodeChallenge(codeVerifier),
        code_challenge_method: 'S256',
      }).href,

    complete: async ({ redirectUri, state, codeVerifier }, parameters) => {
      const came = new URL(redirectUri);
      for (const [name, value] of Object.entries(parameters)) came.searchParams.set(name, value);
      const grant = grantOf(
        await withGrantErrors(
          authorizationCodeGrant(configuration, came, { expectedState: state, pkceCodeVerifier: codeVerifier }),
        ),
      );
      // Without one the connection would end within the hour.
      if (grant.refreshToken === null) throw new GrantError('no_refresh_token', 'refused');
      return grant;
    },

    refresh: async (refreshToken) => grantOf(await withGrantErrors(refreshTokenGrant(configuration, refreshToken))),

    revoke: async (refreshToken) => {
      if (revokeUrl !== null) await withGrantErrors(tokenRevocation(configuration, refreshToken));
    },
  };
}

/** If the provider does not say how long the access token is valid. */
const DEFAULT_LIFETIME_S = 300;

/** Rejects with a GrantError that distinguishes an unreachable provider from a refusal. */
async function withGrantErrors<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (isUnreachable(error) || isProblemOfProvider(error))
      throw new GrantError('provider_unreachable', 'unreachable', { cause: error });
    throw new GrantError(refusalOf(error), 'refused', { cause: error });
  }
}

/** An answer 429 or 5xx, which the library reports with the response. */
function isProblemOfProvider(error: unknown): boolean {
  for (let at = error; at instanceof Error; at = at.cause) {
    const response: unknown = 'response' in at ? at.response : at.cause;
    if (response instanceof Response && (response.status === 429 || response.status >= 500)) return true;
  }
  return false;
}
