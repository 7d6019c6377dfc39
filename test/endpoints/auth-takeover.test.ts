import { expect } from 'chai';
import { makeMember, makeTenant, OPERATOR, PASSWORD, signIn, type MadeTenant } from '../support/accounts.js';
import { fakeClock, type FakeClock } from '../support/clock.js';
import type { Answer, Client, DomainError } from '../support/http.js';
import { needsPostgres } from '../support/postgres.js';
import { enrol, type LoginAnswer } from '../support/second-factor.js';
import { startServer, type TestServer } from '../support/server.js';
import { startMailServer, type MailServer } from '../support/smtp.js';

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;

type Member = MadeTenant['owner'];

/** An administrator who wants to take over the account of another, or an attacker with an administrator's session. */
for (const kind of ['sqlite', 'postgres'] as const) {
  describe(`an administrator who tries to take over another, on ${kind}`, () => {
    if (kind === 'postgres') needsPostgres();
    let server: TestServer;
    let smtp: MailServer;
    let clock: FakeClock;
    let org: MadeTenant;
    let takeoverAdmin: Member;
    let victim: Member;
    before(async () => {
      clock = fakeClock();
      smtp = await startMailServer();
      server = await startServer({
        database: kind,
        clock,
        env: {
          SMTP_URL: smtp.url,
          MAIL_FROM: 'duebook@book.example.test',
          LOGIN_FAILURES_PER_IP: '0',
          MFA_EMAIL_FALLBACK: 'members',
        },
      });
    });
    after(async () => {
      await server.stop();
      await smtp.stop();
    });
    beforeEach(async () => {
      org = await makeTenant(server.services);
      takeoverAdmin = await makeMember(server.services, org, { roleCode: 'admin' });
      victim = await makeMember(server.services, org, { roleCode: 'admin' });
    });

    const logIn = async (member: Member): Promise<Client> =>
      (await signIn(server.client, { tenant: org.tenant, member })).client;
    const patch = (client: Client, { id }: Pick<Member, 'id'>, body: object) =>
      client.patch<DomainError & { email: string; roleCode: string }>(`/tenant-admin/members/${id}`, body);
    const level = (client: Client, role: string, admin: string) =>
      client.patch<DomainError>(`/tenant-admin/roles/${role}/permissions`, { permissions: { admin } });
    const done = async (answer: Promise<Answer<unknown>>): Promise<void> => {
      const { status, text } = await answer;
      expect(status, text).to.be.oneOf([200, 201]);
    };
    const refusedAs = async (
      answer: Promise<Answer<unknown>>,
      expected: readonly [status: number, code: string],
    ): Promise<void> => {
      const { status, body } = await answer;
      expect([status, (body as DomainError).error.code]).to.deep.equal(expected);
    };
    const FORBIDDEN = [409, 'EMAIL_CHANGE_FORBIDDEN'] as const;
    const deliver = async (): Promise<void> => {
      await server.schedules.run('mail');
      await server.schedules.run('mail');
    };
    const subjectsSentTo = async (email: string): Promise<(string | undefined)[]> => {
      await deliver();
      return smtp.mails.filter(({ to }) => to.includes(email)).map(({ parsed }) => parsed.subject);
    };
    const lost = () => `You may no longer administer ${org.tenant.name}`;
    const gained = () => `You may now administer ${org.tenant.name}`;

    /** Ways to remove admin (edit) from the victim, each with its reversal. */
    const DEMOTIONS: Readonly<
      Record<string, readonly [demote: (client: Client) => Promise<void>, promote: (client: Client) => Promise<void>]>
    > = {
      'by another role': [
        (client) => done(patch(client, victim, { roleCode: 'viewer' })),
        (client) => done(patch(client, victim, { roleCode: 'admin' })),
      ],
      'by lowering the rights of their role': [
        (client) => done(level(client, 'admin', 'view')),
        (client) => done(level(client, 'admin', 'edit')),
      ],
    };

    for (const [how, [demote, promote]] of Object.entries(DEMOTIONS)) {
      it(`cannot set their address after demoting them ${how}, for seven days; they are notified of both steps`, async () => {
        // The victim gets another role than the lowered one, as members cannot lower their own.
        await done(level(await logIn(org.owner), 'manager', 'edit'));
        const attacker = await makeMember(server.services, org, { roleCode: 'manager' });
        let client = await logIn(attacker);
        await demote(client);
        await refusedAs(patch(client, victim, { email: 'taken-over@example.test' }), FORBIDDEN);
        expect(await subjectsSentTo(victim.email)).to.deep.equal([lost()]);
        clock.advance(7 * DAY_MS - 1);
        client = await logIn(attacker);
        await refusedAs(patch(client, victim, { email: 'taken-over@example.test' }), FORBIDDEN);
        await promote(client);
        expect(await subjectsSentTo(victim.email)).to.deep.equal([lost(), gained()]);
        await demote(client);
        clock.advance(1);
        await refusedAs(patch(client, victim, { email: 'taken-over@example.test' }), FORBIDDEN);
        clock.advance(7 * DAY_MS - 1);
        await done(patch(await logIn(attacker), victim, { email: `new-${victim.email}` }));
      });

      it(`cannot prevent the owner from setting the address of a member who was demoted ${how}`, async () => {
        const client = await logIn(org.owner);
        await demote(client);
        await done(patch(client, victim, { email: `new-${victim.email}` }));
      });
    }

    it('cannot enable a disabled administrator with an unattended session', async () => {
      await done(patch(await logIn(org.owner), victim, { status: 'disabled' }));
      const stolen = await logIn(takeoverAdmin);
      clock.advance(10 * MINUTE_MS + 1);
      await refusedAs(patch(stolen, victim, { status: 'active' }), [403, 'RECENT_LOGIN_REQUIRED']);
      const viewer = await makeMember(server.services, org);
      await done(patch(stolen, viewer, { status: 'disabled' }));
      await done(patch(stolen, viewer, { status: 'active' }));
      await done(patch(await logIn(takeoverAdmin), victim, { status: 'active' }));
    });

    it('cannot by disabling them first, nor by both at once', async () => {
      const client = await logIn(takeoverAdmin);
      await done(patch(client, victim, { status: 'disabled', roleCode: 'viewer' }));
      await refusedAs(patch(client, victim, { email: 'taken-over@example.test', status: 'active' }), FORBIDDEN);
      const attempts = await Promise.all([
        patch(client, takeoverAdmin, { name: 'Mallory' }),
        patch(client, victim, { email: 'taken-over@example.test' }),
        patch(client, victim, { email: 'taken-over@example.test', roleCode: 'admin' }),
      ]);
      expect(attempts.map(({ status }) => status)).to.deep.equal([200, 409, 409]);
    });

    it('cannot if the former owner becomes an admin through a role without administration', async () => {
      const owner = await logIn(org.owner);
      await done(level(owner, 'manager', 'edit'));
      await done(level(owner, 'admin', 'view'));
      const heir = await makeMember(server.services, org);
      const attacker = await makeMember(server.services, org, { roleCode: 'manager' });
      await done(owner.post('/tenant-admin/owner-transfer', { newOwnerId: heir.id }));
      await refusedAs(patch(await logIn(attacker), org.owner, { email: 'taken-over@example.test' }), FORBIDDEN);
    });

    it('notifies no member whose administration rights remain: another role with them, another level below them, other modules', async () => {
      const client = await logIn(org.owner);
      await done(level(client, 'manager', 'edit'));
      await done(patch(client, victim, { roleCode: 'manager' }));
      await done(patch(client, victim, { roleCode: 'admin' }));
      await done(client.patch('/tenant-admin/roles/admin/permissions', { permissions: { contract_delete: 'none' } }));
      const viewer = await makeMember(server.services, org);
      await done(level(client, 'viewer', 'view'));
      expect([...(await subjectsSentTo(victim.email)), ...(await subjectsSentTo(viewer.email))]).to.deep.equal([]);
      await done(patch(client, viewer, { email: `new-${viewer.email}` }));
    });

    it('notifies each holder of a role in their own language', async () => {
      await done((await logIn(victim)).patch('/auth/preferences', { language: 'zh-CN' }));
      await done(level(await logIn(org.owner), 'admin', 'none'));
      expect(await subjectsSentTo(victim.email)).to.deep.equal([`您已不能再管理${org.tenant.name}`]);
      expect(await subjectsSentTo(takeoverAdmin.email)).to.deep.equal([lost()]);
    });

    describe('with a session older than ten minutes', () => {
      let old: Client;
      let invitationId: string;
      beforeEach(async () => {
        await done(level(await logIn(org.owner), 'legal', 'edit'));
        const {
          client,
          result: { refreshToken },
        } = await signIn(server.client, { tenant: org.tenant, member: takeoverAdmin });
        invitationId = (
          await client.post<{ id: string }>('/tenant-admin/invitations', {
            email: `asked@${org.tenant.slug}.test`,
            roleCode: 'admin',
          })
        ).body.id;
        clock.advance(DAY_MS);
        old = server.client.as(
          (await server.client.post<{ accessToken: string }>('/auth/refresh', { refreshToken })).body.accessToken,
        );
      });
      const disabled = async (roleCode: string) => {
        const member = await makeMember(server.services, org, { roleCode });
        await server.services.tenants.members.setStatus(
          { tenantId: org.tenant.id, memberId: member.id, status: 'disabled' },
          OPERATOR,
        );
        return member;
      };
      const RIGHTS_THAT_GIVE: Readonly<Record<string, (client: Client) => Promise<Answer<unknown>>>> = {
        'an invitation to a role with admin (edit)': (client) =>
          client.post('/tenant-admin/invitations', { email: `evil@${org.tenant.slug}.test`, roleCode: 'legal' }),
        'resending such an invitation': (client) => client.post(`/tenant-admin/invitations/${invitationId}/resend`),
        "a member's change to such a role": async (client) =>
          patch(client, await makeMember(server.services, org), { roleCode: 'admin' }),
        'enabling a disabled administrator': async (client) =>
          patch(client, await disabled('admin'), { status: 'active' }),
        'enabling a disabled member as an administrator': async (client) =>
          patch(client, await disabled('viewer'), { status: 'active', roleCode: 'admin' }),
        'admin (edit) for a role': (client) => level(client, 'viewer', 'edit'),
        'another level of admin for a role': (client) => level(client, 'legal', 'view'),
      };
      for (const [what, ask] of Object.entries(RIGHTS_THAT_GIVE)) {
        it(`is refused, and allowed after a sign-in: ${what}`, async () => {
          await refusedAs(ask(old), [403, 'RECENT_LOGIN_REQUIRED']);
          await done(ask(await logIn(takeoverAdmin)));
        });
      }

      it('may still make changes that give nobody admin (edit)', async () => {
        const {
          body: { id },
        } = await old.post<{ id: string }>('/tenant-admin/invitations', {
          email: `colleague@${org.tenant.slug}.test`,
          roleCode: 'sales',
        });
        await done(old.post(`/tenant-admin/invitations/${id}/resend`));
        await done(patch(old, await makeMember(server.services, org), { roleCode: 'finance' }));
        await done(patch(old, victim, { roleCode: 'admin', name: 'Vic' }));
        await done(patch(old, await disabled('finance'), { status: 'active' }));
        await done(patch(old, await makeMember(server.services, org, { roleCode: 'admin' }), { status: 'disabled' }));
        await done(patch(old, await disabled('admin'), { status: 'active', roleCode: 'sales' }));
        await done(
          old.patch('/tenant-admin/roles/viewer/permissions', {
            permissions: { admin: 'none', contract_view: 'edit' },
          }),
        );
      });
    });

    describe('MFA_EMAIL_FALLBACK=members', () => {
      const byEmailCode = async (member: Member): Promise<{ client: Client; refreshToken: string }> => {
        await enrol(server.client, { tenant: org.tenant, member }, { at: clock.now() });
        const credentials = { tenantSlug: org.tenant.slug, email: member.email, password: PASSWORD };
        await server.client.post('/auth/login/mfa/email', credentials);
        await deliver();
        // Beside the mail with the code, one about the authenticator is sent at the same time.
        const texts = smtp.mails.filter(({ to }) => to.includes(member.email)).map(({ parsed }) => parsed.text ?? '');
        const emailCode = /\b\d{6}\b/.exec(texts.join('\n'))?.[0];
        const { status, text, body }: LoginAnswer = await server.client.post('/auth/login', {
          ...credentials,
          emailCode,
        });
        expect(status, text).to.equal(200);
        expect(body.accessToken, text).to.be.a('string');
        return { client: server.client.as(body.accessToken), refreshToken: body.refreshToken };
      };
      const statusOf = async (client: Client): Promise<number> => (await client.get('/auth/me')).status;

      it('refuses a session opened by a code while its member is an administrator, by role or rights', async () => {
        const member = await makeMember(server.services, org);
        const owner = await logIn(org.owner);
        const { client, refreshToken } = await byEmailCode(member);
        expect(await statusOf(client)).to.equal(200);
        await done(patch(owner, member, { roleCode: 'admin' }));
        expect([
          await statusOf(client),
          (await client.get('/tenant-admin/settings')).status,
          (await server.client.post('/auth/refresh', { refreshToken })).status,
        ]).to.deep.equal([401, 401, 401]);
        await done(patch(owner, member, { roleCode: 'viewer' }));
        expect(await statusOf(client)).to.equal(200);
        await done(level(owner, 'viewer', 'edit'));
        expect(await statusOf(client)).to.equal(401);
        await done(level(owner, 'viewer', 'none'));
        expect((await server.client.post('/auth/refresh', { refreshToken })).status).to.equal(200);
      });

      it('refuses it at once after a change on another server, but no session opened by the authenticator', async () => {
        const member = await makeMember(server.services, org);
        const { client } = await byEmailCode(member);
        const colleague = await makeMember(server.services, org);
        const { client: enrolled } = await enrol(
          server.client,
          { tenant: org.tenant, member: colleague },
          { at: clock.now() },
        );
        expect([await statusOf(client), await statusOf(enrolled)]).to.deep.equal([200, 200]);
        // As another replica does it.
        await server.foundation.platform.write({ tenantId: null }, (tx) =>
          tx.run("UPDATE members SET role_code = 'admin' WHERE tenant_id = ? AND role_code = 'viewer'", [
            org.tenant.id,
          ]),
        );
        expect([await statusOf(client), await statusOf(enrolled)]).to.deep.equal([401, 200]);
      });
    });

    it('also apply after an operator has changed the role, without a sign-in', async () => {
      await server.services.tenants.members.setRole(
        { tenantId: org.tenant.id, memberId: victim.id, roleCode: 'viewer' },
        OPERATOR,
      );
      await refusedAs(patch(await logIn(takeoverAdmin), victim, { email: 'taken-over@example.test' }), FORBIDDEN);
      await server.services.tenants.members.setRole(
        { tenantId: org.tenant.id, memberId: victim.id, roleCode: 'admin' },
        OPERATOR,
      );
      expect(await subjectsSentTo(victim.email)).to.deep.equal([lost(), gained()]);
    });
  });
}
