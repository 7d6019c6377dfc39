import { expect } from 'chai';
import type { AuthLoginResult } from '../../server/auth/auth.schemas.js';
import { makeMember, makeTenant, OPERATOR, PASSWORD, type MadeTenant } from '../support/accounts.js';
import { softwareAuthenticator, type CreationOptions } from '../support/authenticator.js';
import { codeOf } from '../support/authenticator-app.js';
import type { FakeClock } from '../support/clock.js';
import type { Answer, Client, DomainError } from '../support/http.js';
import { startMailingServer } from '../support/mailing-server.js';
import { needsPostgres } from '../support/postgres.js';
import type { TestServer } from '../support/server.js';
import type { MailServer } from '../support/smtp.js';

const MINUTE_MS = 60_000;

type Member = MadeTenant['owner'];
interface SignedIn {
  readonly client: Client;
  readonly refreshToken: string;
}
/** A change of a member's sign-in methods, ready to be made by any session of the test. */
interface Prepared {
  /** The member whose sessions end. */
  readonly member: Member;
  change(client: Client): Promise<Answer<unknown>>;
  /** The recipient and the content of the notice. */
  readonly reported: { readonly to: string; readonly subject: RegExp; readonly says: string };
  /** The factors beside the password for signing in again. */
  readonly shown?: () => object;
}

/** An attacker with a stolen session who tries to establish permanent access. */
for (const kind of ['sqlite', 'postgres'] as const) {
  describe(`a change of sign-in methods, on ${kind}`, () => {
    if (kind === 'postgres') needsPostgres();
    let server: TestServer;
    let smtp: MailServer;
    let clock: FakeClock;
    let stop: (() => Promise<void>) | undefined;
    let org: MadeTenant;
    before(async () => {
      ({ server, smtp, clock, stop } = await startMailingServer(kind));
    });
    after(() => stop?.());
    beforeEach(async () => {
      org = await makeTenant(server.services);
    });

    const logIn = async ({ email }: Pick<Member, 'email'>, shown: object = {}): Promise<SignedIn> => {
      const { status, text, body } = await server.client.post<AuthLoginResult>('/auth/login', {
        tenantSlug: org.tenant.slug,
        email,
        password: PASSWORD,
        ...shown,
      });
      if (status !== 200 || !('accessToken' in body)) throw new Error(`sign-in answered ${status}: ${text}`);
      return { client: server.client.as(body.accessToken), refreshToken: body.refreshToken };
    };
    /** Refreshes the session, as the attacker or the owner would to keep it alive. */
    const refreshed = async ({ refreshToken }: SignedIn): Promise<SignedIn> => {
      const { status, text, body } = await server.client.post<AuthLoginResult>('/auth/refresh', { refreshToken });
      if (status !== 200) throw new Error(`refresh answered ${status}: ${text}`);
      return { client: server.client.as(body.accessToken), refreshToken: body.refreshToken };
    };
    const deliver = async (): Promise<void> => {
      await server.schedules.run('mail');
      await server.schedules.run('mail');
    };
    const offer = async (client: Client): Promise<string> =>
      (await client.post<{ secret: string }>('/auth/mfa/enroll/start')).body.secret;
    const confirm = (client: Client, secret: string) =>
      client.post<{ recoveryCodes: string[] }>('/auth/mfa/enroll/confirm', {
        secret,
        code: codeOf({ secret, at: clock.now() }),
      });
    const question = async (client: Client): Promise<CreationOptions> =>
      (await client.post<{ options: CreationOptions }>('/auth/passkeys/register/options')).body.options;
    const answerTo = (client: Client, options: CreationOptions) =>
      client.post<{ id: string }>('/auth/passkeys/register/verify', {
        response: softwareAuthenticator({ origin: new URL(server.config.publicUrl).origin }).create(options),
      });

    const SUBJECT = /^Your sign-in method for Org .* was changed$/;
    const CHANGES: Readonly<Record<string, () => Promise<Prepared>>> = {
      'the password is changed': async () => {
        const member = await makeMember(server.services, org);
        return {
          member,
          reported: { to: member.email, subject: SUBJECT, says: 'The password was changed for' },
          change: (client) =>
            client.post('/auth/password', { currentPassword: PASSWORD, newPassword: 'Another-Horse-43' }),
        };
      },
      'an authenticator is added': async () => {
        const member = await makeMember(server.services, org);
        const secret = await offer((await logIn(member)).client);
        return {
          member,
          reported: { to: member.email, subject: SUBJECT, says: 'An authenticator app was added to' },
          change: (client) => confirm(client, secret),
        };
      },
      'an authenticator is removed': async () => {
        const member = await makeMember(server.services, org);
        const { client } = await logIn(member);
        const {
          body: { recoveryCodes },
        } = await confirm(client, await offer(client));
        await deliver();
        return {
          member,
          reported: { to: member.email, subject: SUBJECT, says: 'The authenticator app was removed from' },
          change: (by) => by.post('/auth/mfa/disable', { code: recoveryCodes[0] }),
          shown: () => ({ mfaCode: recoveryCodes.pop() }),
        };
      },
      'a passkey is removed': async () => {
        const member = await makeMember(server.services, org);
        const { client } = await logIn(member);
        const {
          body: { id },
        } = await answerTo(client, await question(client));
        await deliver();
        return {
          member,
          reported: { to: member.email, subject: SUBJECT, says: 'A passkey was removed from' },
          change: (by) => by.delete(`/auth/passkeys/${id}`),
        };
      },
      'an administrator changes their own address': async () => {
        const member = await makeMember(server.services, org, { roleCode: 'admin' });
        return {
          member,
          reported: { to: member.email, subject: SUBJECT, says: 'The email address was changed for' },
          change: (client) => client.patch(`/tenant-admin/members/${member.id}`, { email: `moved-${member.email}` }),
        };
      },
      'the owner changes their own address': async () => {
        const member = org.owner;
        return {
          member,
          reported: { to: member.email, subject: SUBJECT, says: 'The email address was changed for' },
          change: (client) => client.patch(`/tenant-admin/members/${member.id}`, { email: `moved-${member.email}` }),
        };
      },
      'the ownership is transferred': async () => {
        const newOwner = await makeMember(server.services, org, { roleCode: 'admin' });
        return {
          member: org.owner,
          reported: { to: org.owner.email, subject: /^Org .* has a new owner$/, says: 'The ownership of' },
          change: (client) => client.post('/tenant-admin/owner-transfer', { newOwnerId: newOwner.id }),
        };
      },
    };

    for (const [what, prepare] of Object.entries(CHANGES)) {
      it(`is refused to a session that is older than ten minutes, even if it was just refreshed: ${what}`, async () => {
        const { member, change, shown } = await prepare();
        const old = await logIn(member, shown?.());
        clock.advance(10 * MINUTE_MS + 1);
        const { client } = await refreshed(old);
        const answer = await change(client);
        expect([answer.status, answer.body]).to.deep.include.members([403]);
        expect((answer.body as DomainError).error).to.deep.include({
          code: 'RECENT_LOGIN_REQUIRED',
          details: { maxAgeSeconds: 600 },
        });
        expect((await client.get('/auth/me')).status).to.equal(200);
      });

      it(`is made by a recent session, which continues while all others end, and is notified to the previous address: ${what}`, async () => {
        const { member, change, reported, shown } = await prepare();
        const attacker = await logIn(member, shown?.());
        const other = await logIn(member, shown?.());
        for (const { client } of [attacker, other]) expect((await client.get('/auth/me')).status).to.equal(200);
        clock.advance(10 * MINUTE_MS - 1);
        const { client, refreshToken } = await logIn(member, shown?.());
        const already = smtp.mails.length;
        const answer = await change(client);
        // The offered secret is valid for ten minutes, which have almost passed.
        expect(answer.status, answer.text).to.equal(200);
        expect((await client.get('/auth/me')).status).to.equal(200);
        expect((await server.client.post('/auth/refresh', { refreshToken })).status).to.equal(200);
        for (const ended of [attacker, other]) {
          expect((await ended.client.get('/auth/me')).status).to.equal(401);
          expect((await server.client.post('/auth/refresh', { refreshToken: ended.refreshToken })).status).to.equal(
            401,
          );
        }
        await deliver();
        const notices = smtp.mails.slice(already).filter(({ to }) => to.includes(reported.to));
        expect(notices.map(({ parsed }) => parsed.subject))
          .to.have.length(1)
          .and.to.satisfy(([subject]: string[]) => reported.subject.test(subject ?? ''));
        expect(notices[0]?.parsed.text).to.contain(reported.says);
      });
    }

    it('is refused if completed too late: a secret, and the challenge for a passkey', async () => {
      const member = await makeMember(server.services, org);
      const { client } = await logIn(member);
      clock.advance(9 * MINUTE_MS);
      const [secret, options] = [await offer(client), await question(client)];
      clock.advance(MINUTE_MS + 1);
      for (const answer of [
        await confirm(client, secret),
        await answerTo(client, options),
        await client.post('/auth/mfa/enroll/start'),
        await client.post('/auth/passkeys/register/options'),
      ]) {
        expect([answer.status, (answer.body as unknown as DomainError).error.code]).to.deep.equal([
          403,
          'RECENT_LOGIN_REQUIRED',
        ]);
      }
      expect((await client.get<{ enrolled: boolean }>('/auth/mfa/status')).body.enrolled).to.equal(false);
      expect((await client.get('/auth/passkeys')).body).to.deep.equal([]);
    });

    it('counts a wrong code against the account only if it was verified', async () => {
      const member = await makeMember(server.services, org);
      const old = await logIn(member);
      clock.advance(10 * MINUTE_MS + 1);
      for (let guess = 1; guess <= 12; guess += 1)
        expect((await old.client.post('/auth/mfa/disable', { code: '000000' })).status).to.equal(403);
      const { body } = await server.client.post<{ accessToken?: string }>('/auth/login', {
        tenantSlug: org.tenant.slug,
        email: member.email,
        password: PASSWORD,
      });
      expect(body.accessToken).to.be.a('string');
    });

    it('ends sessions and notifies also when a passkey is added', async () => {
      const member = await makeMember(server.services, org);
      const attacker = await logIn(member);
      const { client } = await logIn(member);
      expect((await answerTo(client, await question(client))).status).to.equal(201);
      expect([(await attacker.client.get('/auth/me')).status, (await client.get('/auth/me')).status]).to.deep.equal([
        401, 200,
      ]);
      await deliver();
      expect(smtp.last(member.email).parsed.text).to.contain('A passkey was added to your account');
    });

    it('is refused to a session that another server ended a moment ago', async () => {
      const member = await makeMember(server.services, org);
      const { client } = await logIn(member);
      const options = await question(client);
      const secret = await offer(client);
      // As another replica ends it.
      await server.foundation.platform.write({ tenantId: null }, (tx) =>
        tx.run('UPDATE sessions SET revoked_at = ? WHERE member_id = ?', [clock.now(), member.id]),
      );
      for (const answer of [
        await client.get('/auth/me'),
        await confirm(client, secret),
        await answerTo(client, options),
        await client.post('/auth/mfa/enroll/start'),
        await client.delete('/auth/sessions'),
      ])
        expect(answer.status).to.equal(401);
    });

    describe('changing an address', () => {
      const change = (client: Client, { id }: Pick<Member, 'id'>, body: object) =>
        client.patch<DomainError & { email: string }>(`/tenant-admin/members/${id}`, body);

      it("is allowed to any administrator for other members, soon after a sign-in, and ends all of the member's sessions", async () => {
        const admin = await makeMember(server.services, org, { roleCode: 'admin' });
        const member = await makeMember(server.services, org, { roleCode: 'manager' });
        const old = await logIn(admin);
        clock.advance(10 * MINUTE_MS + 1);
        const refused = await change(old.client, member, { email: `new-${member.email}` });
        expect([refused.status, refused.body.error.code]).to.deep.equal([403, 'RECENT_LOGIN_REQUIRED']);
        // Resending the current address has no requirements.
        expect(
          (await change(old.client, member, { email: member.email.toUpperCase(), name: 'Mia Manager' })).status,
        ).to.equal(200);
        const { client } = await logIn(admin);
        const theirs = await logIn(member);
        expect((await change(client, member, { email: `new-${member.email}` })).body.email).to.equal(
          `new-${member.email}`,
        );
        expect((await theirs.client.get('/auth/me')).status).to.equal(401);
        expect((await old.client.get('/auth/me')).status, "the administrator's own sessions continue").to.equal(200);
        await deliver();
        expect(smtp.last(member.email).parsed.text).to.contain('The email address was changed for your account');
        expect(() => smtp.last(`new-${member.email}`)).to.throw();
      });

      it('is refused to others for an administrator, for a member who becomes one by the same request, and for the owner', async () => {
        const [admin, other] = [
          await makeMember(server.services, org, { roleCode: 'admin' }),
          await makeMember(server.services, org, { roleCode: 'admin' }),
        ];
        const member = await makeMember(server.services, org);
        const [{ client }, { client: owner }] = [await logIn(admin), await logIn(org.owner)];
        const email = 'taken-over@example.test';
        const attempts = [
          change(client, other, { email }),
          change(client, other, { email, roleCode: 'viewer' }),
          change(client, member, { email, roleCode: 'admin' }),
          change(owner, other, { email }),
        ];
        for (const { status, body } of await Promise.all(attempts))
          expect([status, body.error.code]).to.deep.equal([409, 'EMAIL_CHANGE_FORBIDDEN']);
        const ofOwner = await change(client, org.owner, { email });
        expect([ofOwner.status, ofOwner.body.error.code]).to.deep.equal([409, 'LAST_OWNER']);
        const emails = (await owner.get<{ email: string }[]>('/tenant-admin/members')).body.map((one) => one.email);
        expect(emails).to.have.members([org.owner.email, admin.email, other.email, member.email]);
      });

      it('is refused to others for a member whose role gained admin (edit)', async () => {
        const member = await makeMember(server.services, org, { roleCode: 'manager' });
        await server.services.tenants.roles.setPermissions(
          { tenantId: org.tenant.id, code: 'manager', permissions: { admin: 'edit' } },
          OPERATOR,
        );
        const { client } = await logIn(org.owner);
        expect((await change(client, member, { email: 'taken-over@example.test' })).body.error.code).to.equal(
          'EMAIL_CHANGE_FORBIDDEN',
        );
      });

      it('under an idempotency key succeeds once after another sign-in, even if it was refused before', async () => {
        const member = await makeMember(server.services, org);
        const old = await logIn(org.owner);
        clock.advance(10 * MINUTE_MS + 1);
        const send = ({ client }: SignedIn) =>
          client.patch<DomainError & { email: string }>(
            `/tenant-admin/members/${member.id}`,
            { email: `new-${member.email}` },
            { headers: { 'Idempotency-Key': `address-${member.id}` } },
          );
        expect((await send(old)).status).to.equal(403);
        const recent = await logIn(org.owner);
        expect((await send(recent)).body.email).to.equal(`new-${member.email}`);
        const again = await send(recent);
        expect([again.status, again.headers.get('idempotency-replayed')]).to.deep.equal([200, 'true']);
        await deliver();
        expect(smtp.mails.filter(({ to }) => to.includes(member.email))).to.have.length(1);
      });

      it("is notified in the member's language", async () => {
        const admin = await makeMember(server.services, org, { roleCode: 'admin' });
        const { client } = await logIn(admin);
        await client.patch('/auth/preferences', { language: 'zh-CN' });
        await change(client, admin, { email: `new-${admin.email}` });
        await deliver();
        expect(smtp.last(admin.email).parsed.subject).to.match(/^您在Org .*的登录方式已更改$/);
        expect(smtp.last(admin.email).parsed.text).to.contain('的邮箱地址已更改');
      });
    });

    it("is not part of a transfer of ownership: the new owner's sessions continue with the new role", async () => {
      const newOwner = await makeMember(server.services, org, { roleCode: 'admin' });
      const theirs = [await logIn(newOwner), await logIn(newOwner)];
      const { client } = await logIn(org.owner);
      expect((await client.post('/tenant-admin/owner-transfer', { newOwnerId: newOwner.id })).status).to.equal(200);
      for (const { client: one } of theirs)
        expect((await one.get<{ user: { roleCode: string } }>('/auth/me')).body.user.roleCode).to.equal('owner');
    });
  });
}
