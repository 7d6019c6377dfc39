import type { Parsed } from '../../data-plane-agent/base/config.js';
import { isLoopback } from '../../data-plane-agent/base/loopback.js';
import { s } from '../../data-plane-agent/base/schema.js';
import { checker } from '../../data-plane-agent/base/validation.js';
import { OWNER } from '../tenants/roles.js';

/** An OpenID Connect provider for signing in. */
export interface SsoProvider {
  /** Part of the callback URL: `/auth/sso/<id>/callback`. */
  readonly id: string;
  readonly name: string;
  /** As in its discovery document. */
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret: string;
  /** How the client secret is sent to the token endpoint. */
  readonly clientAuth: 'basic' | 'post';
  /** Includes `openid`. */
  readonly scopes: readonly string[];
  /**
   * Slugs of the organisations that the provider serves, or `*` alone for all. `null` means not configured, which also
   * serves all.
   */
  readonly tenants: readonly string[] | null;
  /**
   * Lower-cased email domains for which the provider's verified addresses are trusted, to link members and, with
   * `autoProvisionRoleCode`, to create them. An empty list allows all domains.
   */
  readonly allowedDomains: readonly string[];
  readonly autoProvisionRoleCode: string | null;
}

export const MAX_PROVIDERS = 5;

const EVERY_TENANT = '*';

/**
 * Whether the provider serves the organisation. For others it does not exist: it could claim any address as verified.
 */
export const signsInTo = ({ tenants }: Pick<SsoProvider, 'tenants'>, tenantSlug: string): boolean =>
  tenants === null || tenants.includes(EVERY_TENANT) || tenants.includes(tenantSlug);

/** Whether the provider's addresses of this domain are trusted. `email` is lower-cased. */
export const vouchesFor = ({ allowedDomains }: Pick<SsoProvider, 'allowedDomains'>, email: string): boolean =>
  allowedDomains.length === 0 || allowedDomains.includes(email.slice(email.lastIndexOf('@') + 1));

/** Returns the ids of providers without configured organisations, if there are several providers. */
export const withoutTenants = (providers: readonly SsoProvider[]): string[] =>
  providers.length > 1 ? providers.filter(({ tenants }) => tenants === null).map(({ id }) => id) : [];

const Written = s.object({
  id: s.text({ max: 32, pattern: '^[A-Za-z0-9][A-Za-z0-9._-]*$' }),
  name: s.name({ max: 80 }),
  issuer: s.text(),
  clientId: s.verbatim({ max: 500 }),
  clientSecret: s.verbatim({ max: 2_000 }),
  clientAuth: s.optional(s.enum(['basic', 'post'])),
  scopes: s.optional(s.list(s.text({ max: 100, pattern: '^[\\x21\\x23-\\x5B\\x5D-\\x7E]+$' }), 20)),
  allowedDomains: s.optional(s.list(s.text({ max: 253, pattern: '^[A-Za-z0-9.-]+$' }), 100)),
  autoProvisionRoleCode: s.optional(s.text({ max: 64 })),
  tenants: s.optional(s.list(s.text({ max: 64, pattern: '^(\\*|[a-z0-9][a-z0-9-]*)$' }), 1_000)),
});
const List = checker(s.object({ providers: s.list(Written, MAX_PROVIDERS) }));

/**
 * Parses the value of `SSO_PROVIDERS`. A problem names the provider by its index and contains no value, since a value
 * might be a secret.
 */
export function parseSsoProviders(value: unknown): Parsed<readonly SsoProvider[]> {
  if (!Array.isArray(value)) return { ok: false, problem: 'must be a list of providers' };
  if (value.length > MAX_PROVIDERS)
    return { ok: false, problem: `must have at most ${MAX_PROVIDERS} providers, not ${value.length}` };
  const checked = List({ providers: value });
  if (!checked.ok)
    return {
      ok: false,
      problem: `is not valid: ${checked.issues.map(({ path, problem }) => `${path} ${problem}`).join('; ')}`,
    };
  const providers = checked.value.providers.map((written): SsoProvider => ({
    ...written,
    clientAuth: written.clientAuth ?? 'basic',
    scopes: [...new Set(['openid', ...(written.scopes ?? ['email', 'profile'])])],
    allowedDomains: (written.allowedDomains ?? []).map((domain) => domain.toLowerCase()),
    autoProvisionRoleCode: written.autoProvisionRoleCode ?? null,
    tenants: written.tenants ?? null,
  }));
  const faults = providers.flatMap((provider, index) =>
    faultsOf(provider, providers.slice(0, index)).map((fault) => `providers[${index}].${fault}`),
  );
  return faults.length === 0
    ? { ok: true, value: providers }
    : { ok: false, problem: `is not valid: ${faults.join('; ')}` };
}

function faultsOf(
  { id, issuer, autoProvisionRoleCode, allowedDomains, tenants }: SsoProvider,
  before: readonly SsoProvider[],
): string[] {
  const address = URL.canParse(issuer) ? new URL(issuer) : undefined;
  const plain = address !== undefined && address.search === '' && address.hash === '' && address.username === '';
  const faults: string[] = [];
  if (before.some((other) => other.id === id)) faults.push('id is already used by another provider');
  if (!plain || !(address.protocol === 'https:' || (address.protocol === 'http:' && isLoopback(issuer))))
    faults.push('issuer must be an https URL, or an http URL on this machine, without query and fragment');
  if (autoProvisionRoleCode === OWNER) faults.push('autoProvisionRoleCode must not be owner');
  // Anyone can have an account at a public provider: without a list, all of its users would be admitted.
  if (autoProvisionRoleCode !== null && allowedDomains.length === 0)
    faults.push('allowedDomains is required with autoProvisionRoleCode');
  if (tenants !== null && (tenants.length === 0 || (tenants.includes(EVERY_TENANT) && tenants.length > 1)))
    faults.push('tenants must be slugs of organisations, or "*" alone');
  return faults;
}
