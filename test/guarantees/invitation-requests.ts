import { randomBytes } from 'node:crypto';
import { newToken } from '../../server/auth/single-use.js';
import { accountHash } from '../../server/auth/password-reset.js';
import { PasswordResetStore } from '../../server/store/password-resets.js';
import { makeMember, PASSWORD } from '../support/accounts.js';
import type { Organisation } from './organisations.js';
import type { Sample } from './requests.js';

/**
 * Without a mail server the link of an invitation is in the answer; the token of a reset is stored directly in the
 * database.
 */
export const INVITATION_REQUESTS: Readonly<Record<string, (org: Organisation) => Sample | Promise<Sample>>> = {
  'POST /auth/invitations/accept': async (org) => ({
    body: {
      token: tokenOf((await invitation(org)).inviteLink),
      tenantSlug: org.tenant.slug,
      name: 'Ann Able',
      password: PASSWORD,
    },
  }),
  'POST /auth/password-reset/request': ({ tenant, owner }) => ({
    body: { tenantSlug: tenant.slug, email: owner.email },
  }),
  'POST /auth/password-reset/confirm': async (org) => ({
    body: { token: await resetToken(org), tenantSlug: org.tenant.slug, password: 'Another-Horse-43' },
  }),
  'POST /tenant-admin/invitations': (org) => ({ body: newInvitation(org) }),
  'GET /tenant-admin/invitations': async (org) => {
    await invitation(org);
    return {};
  },
  'POST /tenant-admin/invitations/:id/resend': async (org) => ({ params: { id: (await invitation(org)).id } }),
  'DELETE /tenant-admin/invitations/:id': async (org) => ({ params: { id: (await invitation(org)).id } }),
};

const newInvitation = ({ marker, subjectId }: Organisation) => ({
  email: `${randomBytes(6).toString('hex')}@${marker}.test`,
  roleCode: 'viewer',
  subjectScope: [subjectId],
});

async function invitation(org: Organisation): Promise<{ id: string; inviteLink: string }> {
  const { status, body, text } = await org.client.post<{ id: string; inviteLink: string }>(
    '/tenant-admin/invitations',
    newInvitation(org),
  );
  if (status !== 201) throw new Error(`inviting answered ${status}: ${text}`);
  return body;
}

const tokenOf = (link: string): string => new URLSearchParams(new URL(link).hash.slice(1)).get('token') ?? '';

async function resetToken(org: Organisation): Promise<string> {
  const member = await makeMember(org.server.services, org);
  const { token, tokenHash } = newToken();
  const at = Date.now();
  await org.server.foundation.platform.write({ tenantId: null }, (tx) =>
    new PasswordResetStore(tx).put({
      accountHash: accountHash({ tenantSlug: org.tenant.slug, email: member.email }),
      tokenHash,
      member: { tenantId: org.tenant.id, memberId: member.id },
      expiresAt: at + 3_600_000,
      at,
    }),
  );
  return token;
}
