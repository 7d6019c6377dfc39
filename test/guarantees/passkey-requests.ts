import {
  softwareAuthenticator,
  type Attestation,
  type CreationOptions,
  type RequestOptions,
  type SoftwareAuthenticator,
} from '../support/authenticator.js';
import { makeMember, signIn } from '../support/accounts.js';
import type { Organisation } from './organisations.js';
import type { Sample } from './requests.js';

/** Created with a software authenticator. They must be sent by the client that created them. */
export const PASSKEY_REQUESTS: Readonly<Record<string, (org: Organisation) => Sample | Promise<Sample>>> = {
  'GET /auth/passkeys': () => ({}),
  'POST /auth/passkeys/register/options': async (org) => {
    await withoutPasskeys(org);
    return {};
  },
  'POST /auth/passkeys/register/verify': async (org) => ({
    body: { response: await attestation(org, authenticatorOf(org)), label: org.marker },
  }),
  'DELETE /auth/passkeys/:id': async (org) => ({ params: { id: await register(org, authenticatorOf(org)) } }),
  'POST /auth/passkeys/login/options': ({ tenant, owner }) => ({
    body: { tenantSlug: tenant.slug, email: owner.email },
  }),
  'POST /auth/passkeys/login/verify': async (org) => {
    const { server, tenant } = org;
    const authenticator = authenticatorOf(org);
    // A separate member: a new passkey ends the other sessions of its owner.
    const member = await makeMember(server.services, org);
    const { client } = await signIn(server.client, { tenant, member });
    await register({ ...org, client }, authenticator);
    const {
      body: { flowId, options },
    } = await server.client.post<{ flowId: string; options: RequestOptions }>('/auth/passkeys/login/options', {
      tenantSlug: tenant.slug,
      email: member.email,
    });
    return { body: { flowId, response: authenticator.get(options) } };
  },
};

const authenticatorOf = ({ server }: Organisation): SoftwareAuthenticator =>
  softwareAuthenticator({ origin: new URL(server.config.publicUrl).origin });

async function attestation(org: Organisation, authenticator: SoftwareAuthenticator): Promise<Attestation> {
  await withoutPasskeys(org);
  const {
    body: { options },
  } = await org.client.post<{ options: CreationOptions }>('/auth/passkeys/register/options');
  return authenticator.create(options);
}

async function register(org: Organisation, authenticator: SoftwareAuthenticator): Promise<string> {
  const { status, body, text } = await org.client.post<{ id: string }>('/auth/passkeys/register/verify', {
    response: await attestation(org, authenticator),
  });
  if (status !== 201) throw new Error(`registering a passkey answered ${status}: ${text}`);
  return body.id;
}

/** Deletes old passkeys, because a member can have at most ten. */
async function withoutPasskeys({ client }: Organisation): Promise<void> {
  for (const { id } of (await client.get<{ id: string }[]>('/auth/passkeys')).body)
    await client.delete(`/auth/passkeys/${id}`);
}
