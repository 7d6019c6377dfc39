import { expect } from 'chai';
import type { MemberRecord } from '../../server/store/members.js';
import { makeMember, makeTenant, OPERATOR, PASSWORD, signIn, type MadeTenant } from '../support/accounts.js';
import type { FakeClock } from '../support/clock.js';
import type { Answer, Client, DomainError, FrameworkError } from '../support/http.js';
import { startMailingServer } from '../support/mailing-server.js';
import { needsPostgres } from '../support/postgres.js';
import type { TestServer } from '../support/server.js';
import { tokenIn, type MailServer } from '../support/smtp.js';

const NEW_PASSWORD = 'Another-Horse-43';

for (const kind of ['sqlite', 'postgres'] as const) {
  describe(`a change of one's own password on ${kind}`, () => {
    if (kind === 'postgres') needsPostgres();
    let server: TestServer;
    let smtp: MailServer;
    let clock: FakeClock;
    let stop: (() => Promise<void>) | undefined;
    let org: MadeTenant;
    let member: MemberRecord;
    let client: Client;
    before(async () => {
      ({ server, smtp, clock, stop } = await startMailingServer(kind));
    });
    after(() => stop?.());
    beforeEach(async () => {
      org = await makeTenant(server.services);
      member = await makeMember(server.services, org);
      ({ client } = await signIn(server.client, { tenant: org.tenant, member }));
    });

    const change = (by: Client, body: object = {}): Promise<Answer<unknown>> =>
      by.post('/auth/password', { currentPassword: PASSWORD, newPassword: NEW_PASSWORD, ...body });
    const login = (password: string) =>
      server.client.post('/auth/login', { tenantSlug: org.tenant.slug, email: member.email, password });
    const refusalOf = ({ status, body }: Answer<unknown>) => [status, (body as DomainError).error.code];
    const deliver = async (): Promise<void> => {
      await server.schedules.run('mail');
      await server.schedules.run('mail');
    };

    it('sets the new password, keeps the session and ends all others', async () => {
      const { client: other } = await signIn(server.client, { tenant: org.tenant, member });
      const answer = await change(client);
      expect([answer.status, answer.body]).to.deep.equal([200, { ok: true }]);
      expect((await client.get('/auth/me')).status, 'this session').to.equal(200);
      expect((await other.get('/auth/me')).status, 'the other session').to.equal(401);
      expect((await login(PASSWORD)).status).to.equal(401);
      expect((await login(NEW_PASSWORD)).status).to.equal(200);
      await deliver();
      const { subject, text } = smtp.last(member.email).parsed;
      expect(subject).to.equal(`Your sign-in method for Org ${org.tenant.slug} was changed`);
      expect(text).to.contain('The password was changed for your account');
    });

    it('is refused with a wrong current password, which counts as a failed sign-in until the account is locked', async () => {
      for (let failure = 1; failure <= 10; failure++)
        expect(refusalOf(await change(client, { currentPassword: 'wrong-password' })), `failure ${failure}`).to.eql([
          422,
          'CURRENT_PASSWORD_WRONG',
        ]);
      const locked = await change(client);
      expect([locked.status, locked.headers.get('retry-after')]).to.deep.equal([429, '30']);
      expect((await login(PASSWORD)).status, 'a sign-in').to.equal(429);
      clock.advance(30_000);
      expect((await change(client)).status).to.equal(200);
    });

    it('counts with failed sign-ins, and does not clear them', async () => {
      for (let failure = 1; failure <= 9; failure++) expect((await login('wrong-password')).status).to.equal(401);
      expect((await change(client)).status).to.equal(200);
      expect((await change(client)).status, 'the tenth failure').to.equal(422);
      expect((await login(NEW_PASSWORD)).status).to.equal(429);
    });

    it('answers at most ten of thirty concurrent guesses, also with a new password that is too weak', async () => {
      const answers = await Promise.all(
        Array.from({ length: 30 }, () =>
          change(client, { currentPassword: 'wrong-password', newPassword: 'password' }),
        ),
      );
      expect(answers.filter(({ status }) => status === 422)).to.have.length(10);
      expect(answers.filter(({ status }) => status === 429)).to.have.length(20);
      expect((await change(client, { newPassword: 'password' })).status).to.equal(429);
    });

    it('is refused to a member without a password', async () => {
      await server.foundation.platform.write(
        { tenantId: null },
        async (tx) => void (await tx.run('UPDATE members SET password_hash = NULL WHERE id = ?', [member.id])),
      );
      expect(refusalOf(await change(client))).to.deep.equal([409, 'PASSWORD_NOT_SET']);
      // Signing in again would not help.
      clock.advance(11 * 60_000);
      expect(refusalOf(await change(client))).to.deep.equal([409, 'PASSWORD_NOT_SET']);
    });

    it('is refused when the new password is weak or the current one, and then changes nothing', async () => {
      for (const newPassword of ['password123', org.tenant.slug, PASSWORD])
        expect(refusalOf(await change(client, { newPassword })), newPassword).to.deep.equal([422, 'PASSWORD_TOO_WEAK']);
      expect((await login(PASSWORD)).status).to.equal(200);
    });

    it('names the bad field', async () => {
      for (const [body, field] of [
        [{ newPassword: 'short' }, 'newPassword'],
        [{ newPassword: `long-enough${'\u0301'.repeat(40)}` }, 'newPassword'],
        [{ currentPassword: `a${'\u0301'.repeat(40)}` }, 'currentPassword'],
        [{ currentPassword: null }, 'currentPassword'],
        [{ password: NEW_PASSWORD }, 'password'],
      ] as const) {
        const { status, body: refusal } = await change(client, body);
        expect(status, field).to.equal(400);
        expect((refusal as FrameworkError).message[0]).to.match(new RegExp(`^${field} `));
      }
    });

    it('requires a recent session before the current password is checked', async () => {
      expect((await change(server.client)).status).to.equal(401);
      clock.advance(10 * 60_000 + 1);
      for (let attempt = 1; attempt <= 12; attempt++)
        expect(refusalOf(await change(client, { currentPassword: 'wrong-password' }))).to.deep.equal([
          403,
          'RECENT_LOGIN_REQUIRED',
        ]);
      expect((await login(PASSWORD)).status, 'nothing was counted').to.equal(200);
    });

    it('invalidates a pending reset', async () => {
      await server.client.post('/auth/password-reset/request', { tenantSlug: org.tenant.slug, email: member.email });
      await deliver();
      const token = tokenIn(smtp.last(member.email));
      expect((await change(client)).status).to.equal(200);
      const reset = await server.client.post('/auth/password-reset/confirm', {
        token,
        tenantSlug: org.tenant.slug,
        password: 'Third-Horse-44',
      });
      expect(refusalOf(reset)).to.deep.equal([422, 'TOKEN_INVALID']);
    });

    it('is made once when two are sent at the same time', async () => {
      const answers = await Promise.all([
        change(client, { newPassword: NEW_PASSWORD }),
        change(client, { newPassword: 'Third-Horse-44' }),
      ]);
      expect(answers.map(({ status }) => status)).to.have.members([200, 422]);
      const valid = answers[0]?.status === 200 ? NEW_PASSWORD : 'Third-Horse-44';
      expect((await login(valid)).status).to.equal(200);
    });

    it('is in the audit, without either password; so is a refused one', async () => {
      await signIn(server.client, { tenant: org.tenant, member });
      await change(client, { currentPassword: 'wrong-password' });
      await change(client);
      const rows = await server.foundation.platform.read({ tenantId: null }, (tx) =>
        tx.all("SELECT action, changes FROM audit_log WHERE record_id = ? AND action LIKE 'password%' ORDER BY id", [
          member.id,
        ]),
      );
      expect(rows.map(({ action, changes }) => [action, JSON.parse(String(changes))])).to.deep.equal([
        ['password_change_refused', {}],
        ['password_changed', { sessionsRevoked: 1 }],
      ]);
    });

    it('is possible for the owner, and not for a disabled member', async () => {
      const { client: owner } = await signIn(server.client, { tenant: org.tenant, member: org.owner });
      expect((await change(owner)).status).to.equal(200);
      await server.services.tenants.members.setStatus(
        { tenantId: org.tenant.id, memberId: member.id, status: 'disabled' },
        OPERATOR,
      );
      expect((await change(client)).status, 'a disabled member').to.equal(401);
    });
  });
}
