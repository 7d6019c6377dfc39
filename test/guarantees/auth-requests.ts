import { MfaStore } from '../../server/store/mfa.js';
import { PASSWORD } from '../support/accounts.js';
import { codeOf } from '../support/authenticator-app.js';
import type { Organisation } from './organisations.js';
import type { Sample } from './requests.js';
import { OWN_BATCHES } from './contract-import-requests.js';
import { OWN_VIEWS } from './saved-view-requests.js';

/** Requests for records of the caller: the samples are created by `client` and must be sent by the same client. */
export const AUTH_REQUESTS: Readonly<Record<string, (org: Organisation) => Sample | Promise<Sample>>> = {
  'POST /auth/login/resolve': ({ owner }) => ({ body: { email: owner.email } }),
  'POST /auth/login/mfa/email': ({ tenant, owner }) => ({
    body: { tenantSlug: tenant.slug, email: owner.email, password: PASSWORD },
  }),
  'PATCH /auth/preferences': () => ({ body: { language: 'zh-CN', timezone: 'Asia/Shanghai', firstDayOfWeek: 0 } }),
  'PATCH /auth/profile': ({ marker }) => ({
    body: { name: marker, nameProfile: { givenName: 'Wei', nameOrder: 'family_first' } },
  }),
  'GET /auth/mfa/status': () => ({}),
  'POST /auth/mfa/enroll/start': async (org) => {
    await withoutFactor(org);
    return {};
  },
  'POST /auth/mfa/enroll/confirm': async (org) => ({ body: await confirmation(org) }),
  'POST /auth/mfa/disable': async (org) => {
    const { body, status, text } = await org.client.post<{ recoveryCodes: string[] }>(
      '/auth/mfa/enroll/confirm',
      await confirmation(org),
    );
    if (status !== 200) throw new Error(`enrolment answered ${status}: ${text}`);
    return { body: { code: body.recoveryCodes[0] ?? '' } };
  },
  'POST /auth/password': () => ({ body: { currentPassword: PASSWORD, newPassword: 'Another-Horse-43' } }),
  'GET /auth/sessions': () => ({}),
  'DELETE /auth/sessions': () => ({}),
  'DELETE /auth/sessions/:id': async (org) => ({ params: { id: await anotherSession(org) } }),
};

/**
 * Requests that change or end how the caller signs in, or their sessions: tests send them as a caller that no other
 * test uses.
 */
export const CHANGES_CALLER: ReadonlySet<string> = new Set([
  'POST /auth/logout',
  'POST /auth/mfa/enroll/start',
  'POST /auth/mfa/enroll/confirm',
  'POST /auth/mfa/disable',
  'POST /auth/password',
  'DELETE /auth/sessions',
  'DELETE /auth/sessions/:id',
  'POST /auth/passkeys/register/verify',
  'DELETE /auth/passkeys/:id',
  'POST /tenant-admin/owner-transfer',
  ...OWN_VIEWS,
  ...OWN_BATCHES,
]);

async function confirmation(org: Organisation): Promise<{ secret: string; code: string }> {
  await withoutFactor(org);
  const {
    body: { secret },
  } = await org.client.post<{ secret: string }>('/auth/mfa/enroll/start');
  return { secret, code: codeOf({ secret, at: Date.now() }) };
}

async function caller({ client }: Organisation): Promise<{ id: string; email: string }> {
  return (await client.get<{ user: { id: string; email: string } }>('/auth/me')).body.user;
}

async function withoutFactor(org: Organisation): Promise<void> {
  const { id } = await caller(org);
  await org.server.foundation.platform.write(
    { tenantId: null },
    async (tx) => void (await new MfaStore(tx, org.tenant.id).remove(id)),
  );
}

async function anotherSession(org: Organisation): Promise<string> {
  const { email } = await caller(org);
  await withoutFactor(org);
  await org.server.client.post('/auth/login', { tenantSlug: org.tenant.slug, email, password: PASSWORD });
  const { body } = await org.client.get<{ id: string; current: boolean }[]>('/auth/sessions');
  return body.find(({ current }) => !current)?.id ?? '';
}
