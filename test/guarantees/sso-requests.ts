import { beginSso, sharedOidc } from '../support/oidc.js';
import type { Organisation } from './organisations.js';
import type { Sample } from './requests.js';

const params = { provider: 'corp' };

/** The owner signs in with the provider that every server of a run has. */
export const SSO_REQUESTS: Readonly<Record<string, (org: Organisation) => Sample | Promise<Sample>>> = {
  'GET /auth/sso/providers': () => ({}),
  'GET /auth/sso/:provider/start': ({ tenant }) => ({
    params,
    query: { tenantSlug: tenant.slug, next: '/in', client: 'web' },
  }),
  'GET /auth/sso/:provider/callback': async (org) => {
    const { back, cookie } = await begin(org);
    return { params, query: Object.fromEntries(back.searchParams), headers: { Cookie: cookie } };
  },
  'POST /auth/sso/exchange': async (org) => {
    const { finish, cookie } = await begin(org);
    const location = (await finish()).headers.get('location') ?? '';
    return {
      body: { code: new URLSearchParams(location.slice(location.indexOf('?'))).get('code') },
      headers: { Cookie: cookie },
    };
  },
};

async function begin({ server, tenant, owner }: Organisation) {
  const provider = await sharedOidc();
  provider.account = { sub: owner.id, email: owner.email, email_verified: true };
  return beginSso(server.client, { provider, query: { tenantSlug: tenant.slug } });
}
