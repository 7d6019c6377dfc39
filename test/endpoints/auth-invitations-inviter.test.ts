import { expect } from 'chai';
import type { AuthLoginResult } from '../../server/auth/auth.schemas.js';
import { makeMember, makeTenant, PASSWORD, signIn, type MadeTenant } from '../support/accounts.js';
import type { Answer, Client, DomainError } from '../support/http.js';
import { startServer, type TestServer } from '../support/server.js';
import { needsPostgres } from '../support/postgres.js';

interface Invitation {
  readonly id: string;
  readonly invitedBy: string;
  /** Without a mail server the link is passed on manually. */
  readonly inviteLink: string | null;
}

for (const kind of ['sqlite', 'postgres'] as const) {
  describe(`the inviter of a member, on ${kind}`, () => {
    if (kind === 'postgres') needsPostgres();
    let server: TestServer;
    let org: MadeTenant;
    let owner: Client;
    /** An administrator who invites a member to the role `finance`. */
    let inviter: { readonly id: string; readonly client: Client };
    let invitation: Invitation;
    let token: string;

    before(async () => {
      server = await startServer({ database: kind });
    });
    after(() => server.stop());
    beforeEach(async () => {
      org = await makeTenant(server.services);
      owner = (await signIn(server.client, { tenant: org.tenant, member: org.owner })).client;
      const member = await makeMember(server.services, org, { roleCode: 'admin' });
      inviter = { id: member.id, client: (await signIn(server.client, { tenant: org.tenant, member })).client };
      invitation = await done(
        inviter.client.post<Invitation>('/tenant-admin/invitations', {
          email: `ann@${org.tenant.slug}.test`,
          roleCode: 'finance',
        }),
      );
      token = tokenOf(invitation);
    });

    const done = async <T>(asked: Promise<Answer<T>>): Promise<T> => {
      const { status, text, body } = await asked;
      expect(status, text).to.be.within(200, 201);
      return body;
    };
    const tokenOf = ({ inviteLink }: Invitation): string =>
      new URLSearchParams(new URL(inviteLink ?? '').hash.slice(1)).get('token') ?? '';
    const accept = (given = token): Promise<Answer<AuthLoginResult & DomainError>> =>
      server.client.post('/auth/invitations/accept', { token: given, name: 'Ann Able', password: PASSWORD });
    const expectRefused = async (why: string): Promise<void> => {
      const { status, body } = await accept();
      expect([status, body.error?.code], why).to.deep.equal([422, 'TOKEN_INVALID']);
    };
    const setInviter = (patch: object) => done(owner.patch(`/tenant-admin/members/${inviter.id}`, patch));
    const setRole = (code: string, permissions: object) =>
      done(owner.patch(`/tenant-admin/roles/${code}/permissions`, { permissions }));
    const resends = () =>
      server.foundation.platform.read({ tenantId: null }, (tx) =>
        tx.all("SELECT changes FROM audit_log WHERE tenant_id = ? AND action = 'invitation_resent'", [org.tenant.id]),
      );

    it('is checked on acceptance: while they are disabled or may not invite, it is refused without being used up', async () => {
      await setInviter({ status: 'disabled' });
      await expectRefused('disabled');
      await setInviter({ status: 'active' });
      await setInviter({ roleCode: 'finance' });
      await expectRefused('of another role');
      await setInviter({ roleCode: 'admin' });
      await setRole('admin', { admin: 'view' });
      await expectRefused('whose role was lowered');
      await setRole('admin', { admin: 'edit' });
      expect((await accept()).status).to.equal(201);
    });

    it('who may not invite any more cannot give a role that has since become an administrator role', async () => {
      await setInviter({ roleCode: 'viewer' });
      await setRole('finance', { admin: 'edit' });
      await expectRefused('the role has grown, the inviter has not');
      await setInviter({ roleCode: 'finance' });
      expect((await accept()).body.user.roleCode, 'by the current rights of the inviter').to.equal('finance');
    });

    it('who was offboarded leaves no invitation that can be accepted', async () => {
      await done(owner.post(`/tenant-admin/members/${inviter.id}/offboard`, { successorUserId: org.owner.id }));
      await expectRefused('offboarded');
    });

    it('is replaced by the member who sends the invitation again', async () => {
      await setInviter({ status: 'disabled' });
      const again = await done(owner.post<Invitation>(`/tenant-admin/invitations/${invitation.id}/resend`));
      expect(again.invitedBy).to.equal(org.owner.id);
      expect((await done(owner.get<Invitation[]>('/tenant-admin/invitations')))[0]).to.include({
        id: invitation.id,
        invitedBy: org.owner.id,
      });
      await expectRefused('the token before');
      expect((await accept(tokenOf(again))).status).to.equal(201);
      expect((await resends()).map((row) => JSON.parse(String(row['changes'])) as unknown)).to.deep.equal([
        { email: `ann@${org.tenant.slug}.test`, invitedBy: { from: inviter.id, to: org.owner.id } },
      ]);
    });

    it('does not change if a member without the right tries to resend the invitation', async () => {
      await done(owner.post<Invitation>(`/tenant-admin/invitations/${invitation.id}/resend`));
      await setInviter({ roleCode: 'viewer' });
      expect((await inviter.client.post(`/tenant-admin/invitations/${invitation.id}/resend`)).status).to.equal(403);
      expect((await done(owner.get<Invitation[]>('/tenant-admin/invitations')))[0]).to.include({
        invitedBy: org.owner.id,
      });
    });
  });
}
