import { expect } from 'chai';
import type { EmailFallback } from '../../server/auth/email-code.js';
import { createLoginLimits } from '../../server/auth/limits.js';
import { createMemberAccess } from '../../server/auth/member-access.js';
import { createPasswords } from '../../server/credentials/passwords.js';
import {
  makeMember,
  makeTenant,
  onceArgon2,
  OPERATOR,
  PASSWORD,
  signIn,
  type MadeTenant,
} from '../support/accounts.js';
import { codeOf } from '../support/authenticator-app.js';
import type { FakeClock } from '../support/clock.js';
import type { Client, DomainError } from '../support/http.js';
import { startMailingServer } from '../support/mailing-server.js';
import { needsPostgres } from '../support/postgres.js';
import { enrol, type Account, type LoginAnswer } from '../support/second-factor.js';
import { startServer, type TestServer } from '../support/server.js';
import { lastTokenTo, startMailServer, type MailServer } from '../support/smtp.js';

const DAY_MS = 24 * 3_600_000;
const NEW_PASSWORD = 'Another-Horse-43';

/** The requests of an attacker who reads the mailbox of an account with an authenticator, and has no other access. */
for (const kind of ['sqlite', 'postgres'] as const) {
  describe(`access to the mailbox does not count as both factors, on ${kind}`, () => {
    if (kind === 'postgres') needsPostgres();
    let server: TestServer;
    let smtp: MailServer;
    let clock: FakeClock;
    let stop: (() => Promise<void>) | undefined;
    let org: MadeTenant;
    let owner: Client;
    before(async () => {
      ({ server, smtp, clock, stop } = await startMailingServer(kind));
    });
    after(() => stop?.());
    beforeEach(async () => {
      org = await makeTenant(server.services);
      owner = (await signIn(server.client, { tenant: org.tenant, member: org.owner })).client;
    });

    const victim = async (roleCode = 'viewer') => {
      const account: Account = { tenant: org.tenant, member: await makeMember(server.services, org, { roleCode }) };
      return { account, ...(await enrol(server.client, account, { at: clock.now() })) };
    };
    const deliver = async (): Promise<void> => {
      await server.schedules.run('mail');
      await server.schedules.run('mail');
    };
    const logIn = (email: string, shown: object = {}, password = NEW_PASSWORD): Promise<LoginAnswer> =>
      server.client.post('/auth/login', { tenantSlug: org.tenant.slug, email, password, ...shown });
    const askCode = (email: string, password = NEW_PASSWORD) =>
      server.client.post('/auth/login/mfa/email', { tenantSlug: org.tenant.slug, email, password });
    const mailedCodes = async (email: string): Promise<string[]> => {
      await deliver();
      return smtp.mails
        .filter(({ to, parsed }) => to.includes(email) && parsed.subject?.startsWith('Your sign-in code'))
        .map(({ parsed }) => /\b\d{6}\b/.exec(parsed.text ?? '')?.[0] ?? '');
    };
    const reset = async (email: string): Promise<void> => {
      await server.client.post('/auth/password-reset/request', { tenantSlug: org.tenant.slug, email });
      await deliver();
      const { status, text } = await server.client.post('/auth/password-reset/confirm', {
        token: lastTokenTo(email, smtp.mails),
        tenantSlug: org.tenant.slug,
        password: NEW_PASSWORD,
      });
      expect(status, text).to.equal(200);
    };
    const stopped = async (email: string): Promise<void> => {
      const asked = await logIn(email);
      expect(asked.body).to.include({ mfaRequired: true, enrollmentRequired: false, emailFallbackAvailable: false });
      const sent = (await mailedCodes(email)).length;
      expect((await askCode(email)).body).to.deep.equal({ ok: true, deliveryStatus: 'queued' });
      expect(await mailedCodes(email)).to.have.length(sent);
    };

    it('for a day after a reset: codes are neither offered, sent nor accepted, while the authenticator works', async () => {
      const {
        account: { member },
        secret,
      } = await victim();
      await reset(member.email);
      await stopped(member.email);
      clock.advance(DAY_MS - 1);
      await stopped(member.email);
      expect((await logIn(member.email, { mfaCode: codeOf({ secret, at: clock.now() }) })).status).to.equal(200);
      clock.advance(1);
      expect((await logIn(member.email)).body.emailFallbackAvailable).to.equal(true);
      await askCode(member.email);
      const [emailCode] = await mailedCodes(member.email);
      expect((await logIn(member.email, { emailCode })).status).to.equal(200);
    });

    it('with a code that was sent before the reset', async () => {
      const {
        account: { member },
      } = await victim();
      await askCode(member.email, PASSWORD);
      const [emailCode] = await mailedCodes(member.email);
      expect(emailCode).to.match(/^\d{6}$/);
      await reset(member.email);
      const answer = await logIn(member.email, { emailCode });
      expect([answer.status, answer.body.error.code]).to.deep.equal([401, 'MFA_CODE_INVALID']);
    });

    it('after a second reset, which starts the day again', async () => {
      const {
        account: { member },
      } = await victim();
      await reset(member.email);
      clock.advance(DAY_MS - 60_000);
      await reset(member.email);
      clock.advance(DAY_MS - 1);
      await stopped(member.email);
    });

    it('for a day after any member changed the address', async () => {
      const {
        account: { member },
      } = await victim();
      const email = `moved-${member.email}`;
      expect((await owner.patch(`/tenant-admin/members/${member.id}`, { email })).status).to.equal(200);
      await reset(email);
      await stopped(email);
      clock.advance(DAY_MS - 1);
      await stopped(email);
      clock.advance(1);
      expect((await logIn(email)).body.emailFallbackAvailable).to.equal(true);

      const { account: own, client } = await victim('admin');
      const ownNew = `moved-${own.member.email}`;
      expect((await client.patch(`/tenant-admin/members/${own.member.id}`, { email: ownNew })).status).to.equal(200);
      const asked = await logIn(ownNew, {}, PASSWORD);
      expect(asked.body).to.include({ mfaRequired: true, emailFallbackAvailable: false });
    });

    it('for a day after an operator has set the password', async () => {
      const {
        account: { member },
      } = await victim();
      await askCode(member.email, PASSWORD);
      const [emailCode] = await mailedCodes(member.email);
      const database = server.foundation.platform;
      const limits = createLoginLimits({ database, clock, failuresPerAccount: 10, failuresPerIp: 0 });
      const access = createMemberAccess({
        database,
        clock,
        passwords: await createPasswords({ cores: 1, argon2: onceArgon2 }),
        policy: () => Promise.resolve(),
        limits,
      });
      await access.resetPassword(
        { tenantSlug: org.tenant.slug, email: member.email, password: NEW_PASSWORD },
        OPERATOR,
      );
      expect((await logIn(member.email, { emailCode })).status).to.equal(401);
      await stopped(member.email);
    });
  });
}

describe('MFA_EMAIL_FALLBACK', () => {
  const CASES: readonly (readonly [fallback: EmailFallback, roleCode: string, available: boolean])[] = [
    ['all', 'viewer', true],
    ['all', 'admin', true],
    ['members', 'viewer', true],
    ['members', 'admin', false],
    ['off', 'viewer', false],
    ['off', 'admin', false],
  ];
  let smtp: MailServer;
  const servers = new Map<EmailFallback, TestServer>();
  before(async () => {
    smtp = await startMailServer();
    for (const fallback of ['all', 'members', 'off'] as const) {
      servers.set(
        fallback,
        await startServer({
          env: {
            MFA_EMAIL_FALLBACK: fallback,
            SMTP_URL: smtp.url,
            MAIL_FROM: 'duebook@book.example.test',
            LOGIN_FAILURES_PER_IP: '0',
          },
        }),
      );
    }
  });
  after(async () => {
    for (const server of servers.values()) await server.stop();
    await smtp.stop();
  });

  const start = async (fallback: EmailFallback, roleCode: string) => {
    const server = servers.get(fallback);
    if (!server) throw new Error(`there is no server for ${fallback}`);
    const made = await makeTenant(server.services);
    const account: Account = { tenant: made.tenant, member: await makeMember(server.services, made, { roleCode }) };
    await enrol(server.client, account, { at: Date.now() });
    const credentials = { tenantSlug: made.tenant.slug, email: account.member.email, password: PASSWORD };
    const codes = async (): Promise<string[]> => {
      await server.schedules.run('mail');
      await server.schedules.run('mail');
      return smtp.mails
        .filter(
          ({ to, parsed }) => to.includes(account.member.email) && parsed.subject?.startsWith('Your sign-in code'),
        )
        .map(({ parsed }) => /\b\d{6}\b/.exec(parsed.text ?? '')?.[0] ?? '');
    };
    return {
      server,
      account,
      credentials,
      codes,
      logIn: (shown: object = {}): Promise<LoginAnswer> =>
        server.client.post('/auth/login', { ...credentials, ...shown }),
      ask: () => server.client.post('/auth/login/mfa/email', credentials),
    };
  };

  for (const [fallback, roleCode, available] of CASES) {
    it(`${fallback} ${available ? 'allows' : 'does not allow'} the role ${roleCode} a code, and the answer is the same`, async () => {
      const { codes, logIn, ask } = await start(fallback, roleCode);
      expect((await logIn()).body.emailFallbackAvailable).to.equal(available);
      expect((await ask()).text).to.equal('{"ok":true,"deliveryStatus":"queued"}');
      const sent = await codes();
      expect(sent).to.have.length(available ? 1 : 0);
      expect((await logIn({ emailCode: sent[0] ?? '123456' })).status).to.equal(available ? 200 : 401);
    });
  }

  it('`members` refuses the code of a member who has become an administrator since it was sent', async () => {
    const { server, account, codes, logIn, ask } = await start('members', 'viewer');
    await ask();
    const [emailCode] = await codes();
    await server.services.tenants.members.setRole(
      { tenantId: account.tenant.id, memberId: account.member.id, roleCode: 'admin' },
      OPERATOR,
    );
    const answer: { status: number; body: DomainError } = await logIn({ emailCode });
    expect([answer.status, answer.body.error.code]).to.deep.equal([401, 'MFA_CODE_INVALID']);
  });
});
