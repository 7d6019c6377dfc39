import {
  allowInsecureRequests,
  authorizationCodeGrant,
  buildAuthorizationUrl,
  calculatePKCECodeChallenge,
  ClientSecretBasic,
  ClientSecretPost,
  customFetch,
  discovery,
  enableNonRepudiationChecks,
  fetchUserInfo,
  type Configuration,
} from 'openid-client';
import type { Clock } from '../../data-plane-agent/base/clock.js';
import { fail } from '../../data-plane-agent/base/failures.js';
import type { Outbound } from '../../data-plane-agent/base/outbound.js';
import { s } from '../../data-plane-agent/base/schema.js';
import { checker } from '../../data-plane-agent/base/validation.js';
import { fetchThrough, isUnreachable, refusalOf } from './oauth-client.js';
import type { SsoProvider } from './sso-providers.js';

/**
 * The values of one sign-in at a provider. They are random, and known only to us and to the browser or the provider.
 */
export interface Handshake {
  readonly redirectUri: string;
  readonly state: string;
  readonly nonce: string;
  readonly codeVerifier: string;
}

/** The authenticated user. Signature, issuer, audience and nonce have been checked. */
export interface Assertion {
  readonly issuer: string;
  readonly subject: string;
  /** The user's claims, from the ID token or, if that does not say whether its email is verified, from UserInfo. */
  profile(): Promise<Profile>;
}

export interface Profile {
  /** Normalised; set only if the provider says that it is verified. */
  readonly verifiedEmail: string | undefined;
  readonly name: string | undefined;
}

/**
 * OpenID Connect with one provider: authorization code with PKCE. Throws SSO_PROVIDER_UNREACHABLE if the provider is
 * unreachable or returns invalid metadata.
 */
export interface SsoProtocol {
  /** The URL to redirect the browser to. */
  authorizationUrl(handshake: Handshake): Promise<string>;
  /** `parameters` are those of the callback. Throws SsoRefusal if they or the provider's tokens are invalid. */
  complete(handshake: Handshake, parameters: Readonly<Record<string, string>>): Promise<Assertion>;
}

/** The provider refused, or its response is invalid. `reason` is a code for the audit. */
export class SsoRefusal extends Error {
  override readonly name = 'SsoRefusal';

  constructor(
    readonly reason: string,
    options?: ErrorOptions,
  ) {
    super(`single sign-on refused: ${reason}`, options);
  }
}

export function createSsoProtocol({
  provider,
  outbound,
  clock,
}: {
  provider: SsoProvider;
  outbound: Outbound;
  clock: Clock;
}): SsoProtocol {
  let known: { readonly at: number; readonly configuration: Promise<Configuration> } | undefined;

  /** Discovered on first use, and again after `FRESH_MS`; failures are not cached. */
  const configuration = async (): Promise<Configuration> => {
    const now = clock.now();
    if (!known || now - known.at > FRESH_MS) known = { at: now, configuration: discover(provider, outbound) };
    const asked = known;
    try {
      return await asked.configuration;
    } catch (error) {
      if (known === asked) known = undefined;
      throw unreachable(provider, error);
    }
  };

  return {
    authorizationUrl: async ({ redirectUri, state, nonce, codeVerifier }) => {
      const config = await configuration();
      const code_challenge = await calculatePKCECodeChallenge(codeVerifier);
      return buildAuthorizationUrl(config, {
        redirect_uri: redirectUri,
        scope: provider.scopes.join(' '),
        state,
        nonce,
        code_challenge,
        code_challenge_method: 'S256',
      }).href;
    },

    complete: async ({ redirectUri, state, nonce, codeVerifier }, parameters) => {
      const config = await configuration();
      const came = new URL(redirectUri);
      for (const [name, value] of Object.entries(parameters)) came.searchParams.set(name, value);
      const tokens = await withRefusals(
        provider,
        authorizationCodeGrant(config, came, {
          expectedState: state,
          expectedNonce: nonce,
          pkceCodeVerifier: codeVerifier,
          idTokenExpected: true,
        }),
      );
      const claims = tokens.claims();
      if (!claims) throw new SsoRefusal('no_id_token');
      const subject = claims.sub;
      return {
        issuer: claims.iss,
        subject,
        profile: async () => {
          const claimed = profileOf(claims);
          const hasUserInfo =
            claims['email_verified'] !== false && config.serverMetadata().userinfo_endpoint !== undefined;
          if (claimed.verifiedEmail !== undefined || !hasUserInfo) return claimed;
          // Both values from the same source: a verified flag in one does not apply to the email in the other.
          return profileOf(await withRefusals(provider, fetchUserInfo(config, tokens.access_token, subject)));
        },
      };
    },
  };
}

/** Providers rotate keys often, which the library handles, but rarely change their endpoints. */
const FRESH_MS = 3_600_000;

async function discover(
  { issuer, clientId, clientSecret, clientAuth }: SsoProvider,
  outbound: Outbound,
): Promise<Configuration> {
  const authentication = clientAuth === 'post' ? ClientSecretPost(clientSecret) : ClientSecretBasic(clientSecret);
  // The library trusts a token received over TLS; we also check its signature. The outbound guard decides whether http
  // is allowed.
  const execute = [enableNonRepudiationChecks, ...(issuer.startsWith('http:') ? [allowInsecureRequests] : [])];
  return discovery(new URL(issuer), clientId, {}, authentication, { execute, [customFetch]: fetchThrough(outbound) });
}

/** Rejects with a failure that distinguishes an unreachable provider from a refusal. */
async function withRefusals<T>(provider: SsoProvider, work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    throw isUnreachable(error) ? unreachable(provider, error) : new SsoRefusal(refusalOf(error), { cause: error });
  }
}

const unreachable = ({ id }: SsoProvider, cause: unknown) =>
  fail('SSO_PROVIDER_UNREACHABLE', { provider: id }, { cause });

function profileOf(claims: Readonly<Record<string, unknown>>): Profile {
  const { email, email_verified: verified, name } = claims;
  // Some providers send the flag as a string.
  const isVerified = verified === true || verified === 'true';
  const checked = checkEmail(email);
  return {
    verifiedEmail: isVerified && checked.ok ? checked.value : undefined,
    name: typeof name === 'string' ? name : undefined,
  };
}

/** The same check as for invitations. */
const checkEmail = checker(s.email());
