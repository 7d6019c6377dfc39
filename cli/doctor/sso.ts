import type { Clock } from '../../data-plane-agent/base/clock.js';
import { OutboundError } from '../../data-plane-agent/base/outbound.js';
import { createSsoProtocol } from '../../server/auth/sso-protocol.js';
import type { SsoProvider } from '../../server/auth/sso-providers.js';
import { createOutbounds } from '../../server/outbounds.js';
import type { LookedAt } from '../installation.js';
import { check, type Check } from './check.js';

/** The discovery document of each provider of single sign-on can be fetched and is that of its issuer. */
export async function ssoCheck(
  { values }: Pick<LookedAt, 'values'>,
  { clock, production }: { readonly clock: Clock; readonly production: boolean },
): Promise<Check> {
  const providers = values.ssoProviders ?? [];
  if (providers.length === 0) return check.ok('sso', 'none: members sign in here (SSO_PROVIDERS)');
  const outbound = createOutbounds({ outboundAllowPrivate: values.outboundAllowPrivate, production }).forOperator;
  const problems = await Promise.all(
    providers.map(async (provider) => {
      try {
        // Building this URL fetches and validates the discovery document. The URL itself is not requested.
        await createSsoProtocol({ provider, outbound, clock }).authorizationUrl(handshake(values.publicUrl, provider));
        return [];
      } catch (error) {
        return [problemOf(provider, error)];
      }
    }),
  );
  const found = problems.flat();
  const ids = providers.map(({ id }) => id).join(', ');
  if (found.length === 0) return check.ok('sso', `${ids}: discovery answers`);
  return check.fail(
    'sso',
    found.map(({ detail }) => detail).join('; '),
    [...new Set(found.map(({ fix }) => fix))].join('; '),
  );
}

const handshake = (publicUrl: string, { id }: SsoProvider) => ({
  redirectUri: `${publicUrl}/api/v1/auth/sso/${id}/callback`,
  state: 'doctor',
  nonce: 'doctor',
  codeVerifier: 'doctor'.repeat(8),
});

function problemOf({ id, issuer }: SsoProvider, error: unknown): { detail: string; fix: string } {
  const causes = causesOf(error);
  const outbound = causes.find((cause) => cause instanceof OutboundError);
  if (outbound?.code === 'ADDRESS_REFUSED')
    return {
      detail: `${id}: ${issuer} has a private address that may not be used`,
      fix: 'add its address range to OUTBOUND_ALLOW_PRIVATE',
    };
  const reason = outbound ? deepest(causesOf(outbound)) : deepest(causes);
  return outbound
    ? {
        detail: `${id}: ${issuer} cannot be reached (${reason})`,
        fix: 'check that the issuer in SSO_PROVIDERS is correct, reachable from here, and has a certificate that is trusted here',
      }
    : {
        detail: `${id}: ${issuer} has no valid discovery document (${reason})`,
        fix: 'set the issuer in SSO_PROVIDERS exactly as "issuer" in <issuer>/.well-known/openid-configuration',
      };
}

function causesOf(error: unknown): Error[] {
  const found: Error[] = [];
  for (let at = error; at instanceof Error && found.length < 10; at = at.cause) found.push(at);
  return found;
}

const deepest = (causes: readonly Error[]): string => causes.at(-1)?.message ?? '';
