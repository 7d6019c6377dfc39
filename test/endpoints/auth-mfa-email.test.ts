import { expect } from 'chai';
import {
  countedArgon2,
  makeMember,
  makeTenant,
  OPERATOR,
  PASSWORD,
  serveIdentity,
  startIdentity,
  uniqueSlug,
  type TestIdentity,
} from '../support/accounts.js';
import { forEachDatabase } from '../support/database.js';
import type { LittleApp } from '../support/little-app.js';
import { auditedOf, enrol, logIn, mailedCodes, type Account } from '../support/second-factor.js';

const MINUTE_MS = 60_000;
const QUEUED = { ok: true, deliveryStatus: 'queued' };

describe('codes by mail', () => {
  forEachDatabase((_kind, fresh) => {
    const argon2 = countedArgon2();
    let identity: TestIdentity;
    let app: LittleApp;
    before(async () => {
      identity = await startIdentity((await fresh()).database, {
        argon2,
        mailConfigured: true,
        mfaRequiredForAdmins: true,
        loginFailuresPerAccount: 10,
        loginFailuresPerIp: 0,
      });
      app = await serveIdentity(identity);
    });
    after(() => app.stop());

    const account = async (roleCode = 'viewer'): Promise<Account> => {
      const made = await makeTenant(identity);
      return { tenant: made.tenant, member: await makeMember(identity, made, { roleCode }) };
    };
    const enrolled = async (): Promise<Account> => {
      const user = await account();
      await enrol(app.client, user, { at: identity.clock.now() });
      return user;
    };
    const ask = ({ tenant, member }: Account, given: Readonly<Record<string, unknown>> = {}) =>
      app.client.post('/auth/login/mfa/email', {
        tenantSlug: tenant.slug,
        email: member.email,
        password: PASSWORD,
        ...given,
      });
    const sent = async (user: Account): Promise<string> => {
      expect((await ask(user)).body).to.deep.equal(QUEUED);
      return (await mailedCodes(identity, user)).at(-1) ?? '';
    };
    const other = (code: string): string => String((Number(code) + 1) % 1_000_000).padStart(6, '0');

    it('are accepted once, together with the password', async () => {
      const user = await enrolled();
      expect((await logIn(app.client, user)).body.emailFallbackAvailable).to.equal(true);
      const emailCode = await sent(user);
      expect(emailCode).to.match(/^\d{6}$/);
      const answer = await logIn(app.client, user, { emailCode });
      expect(answer.status).to.equal(200);
      expect(answer.body.accessToken).to.be.a('string');
      expect((await logIn(app.client, user, { emailCode })).status).to.equal(401);
      expect(await auditedOf(identity, user)).to.include('login_code_queued');
    });

    it("are refused without the password, and as an authenticator's code", async () => {
      const user = await enrolled();
      const code = await sent(user);
      expect((await logIn(app.client, user, { password: 'wrong-password', emailCode: code })).body).to.include({
        message: 'Invalid credentials',
      });
      expect((await logIn(app.client, user, { mfaCode: code })).status).to.equal(401);
      // If both are sent, only the authenticator's code is verified: one attempt is one guess.
      expect((await logIn(app.client, user, { mfaCode: other(code), emailCode: code })).status).to.equal(401);
      expect((await logIn(app.client, user, { emailCode: code })).status).to.equal(200);
    });

    it('are valid for ten minutes', async () => {
      for (const [ms, status] of [
        [10 * MINUTE_MS - 1, 200],
        [10 * MINUTE_MS, 401],
      ] as const) {
        const user = await enrolled();
        const emailCode = await sent(user);
        identity.clock.advance(ms);
        expect((await logIn(app.client, user, { emailCode })).status, `${ms}`).to.equal(status);
      }
    });

    it('are valid for five attempts, also in parallel', async () => {
      const user = await enrolled();
      const code = await sent(user);
      for (let guess = 1; guess <= 5; guess++)
        expect((await logIn(app.client, user, { emailCode: other(code) })).status).to.equal(401);
      expect((await logIn(app.client, user, { emailCode: code })).status).to.equal(401);

      const second = await enrolled();
      const secondCode = await sent(second);
      await Promise.all(Array.from({ length: 8 }, () => logIn(app.client, second, { emailCode: other(secondCode) })));
      const [row] = await identity.database.read({ tenantId: null }, (tx) =>
        tx.all('SELECT tries FROM login_codes WHERE member_id = ?', [second.member.id]),
      );
      expect(row?.['tries']).to.equal(5);
      expect((await logIn(app.client, second, { emailCode: secondCode })).status).to.equal(401);
    });

    it('let one in of eight concurrent logins with the right code', async () => {
      const user = await enrolled();
      const emailCode = await sent(user);
      const answers = await Promise.all(Array.from({ length: 8 }, () => logIn(app.client, user, { emailCode })));
      expect(answers.filter(({ status }) => status === 200)).to.have.length(1);
    });

    it('are replaced by the next one', async () => {
      const user = await enrolled();
      const first = await sent(user);
      identity.clock.advance(MINUTE_MS);
      let second = await sent(user);
      // With a probability of one in a million both codes are equal, and the test could not distinguish them.
      if (second === first) {
        identity.clock.advance(MINUTE_MS);
        second = await sent(user);
      }
      expect((await logIn(app.client, user, { emailCode: first })).status).to.equal(401);
      expect((await logIn(app.client, user, { emailCode: second })).status).to.equal(200);
    });

    it('are sent at most once a minute, also in eight concurrent requests, and five times an hour, with the same answer', async () => {
      const user = await enrolled();
      const count = async () => {
        const [row] = await identity.database.read({ tenantId: null }, (tx) =>
          tx.all('SELECT sends FROM login_codes WHERE member_id = ?', [user.member.id]),
        );
        return (JSON.parse(String(row?.['sends'])) as number[]).length;
      };
      for (const answer of await Promise.all(Array.from({ length: 8 }, () => ask(user))))
        expect(answer.body).to.deep.equal(QUEUED);
      expect(await count()).to.equal(1);
      identity.clock.advance(MINUTE_MS - 1);
      await ask(user);
      expect(await count()).to.equal(1);
      identity.clock.advance(1);
      for (let round = 2; round <= 8; round++) {
        expect((await ask(user)).body).to.deep.equal(QUEUED);
        expect(await count()).to.equal(Math.min(round, 5));
        identity.clock.advance(MINUTE_MS);
      }
      identity.clock.advance(60 * MINUTE_MS);
      const emailCode = await sent(user);
      expect((await logIn(app.client, user, { emailCode })).status).to.equal(200);
    });

    it('are requested with the same answer and one hash, whether or not they are sent', async () => {
      const user = await enrolled();
      const disabled = await enrolled();
      await identity.tenants.members.setStatus(
        { tenantId: disabled.tenant.id, memberId: disabled.member.id, status: 'disabled' },
        OPERATOR,
      );
      const notEnrolled = await account();
      const seen = new Set<string>();
      for (const attempt of [
        () => ask(user),
        () => ask(user, { password: 'wrong-password' }),
        () => ask(disabled),
        () => ask(notEnrolled),
        () => ask(user, { tenantSlug: uniqueSlug() }),
        () => ask(user, { email: 'ghost@nowhere.test' }),
      ]) {
        const before = argon2.calls;
        const { status, text, headers } = await attempt();
        const kept = [...headers].filter(
          ([name]) => !['date', 'x-request-id', 'connection', 'keep-alive'].includes(name),
        );
        seen.add(JSON.stringify([status, text, kept]));
        expect(argon2.calls - before).to.equal(1);
      }
      expect(seen.size).to.equal(1);
      expect(await mailedCodes(identity, user)).to.have.length(1);
      expect([...(await mailedCodes(identity, disabled)), ...(await mailedCodes(identity, notEnrolled))]).to.deep.equal(
        [],
      );
      expect(await auditedOf(identity, notEnrolled)).to.include('login_code_not_sent');
    });

    it("do not bypass the account's limit, nor allow guessing passwords", async () => {
      const user = await enrolled();
      for (let guess = 1; guess <= 10; guess++)
        expect((await ask(user, { password: 'wrong-password' })).status).to.equal(200);
      expect((await ask(user)).status).to.equal(429);
      expect((await logIn(app.client, user)).status).to.equal(429);
    });

    it('do not sign in a member who must enrol an authenticator first', async () => {
      const user = await account('admin');
      expect((await ask(user)).body).to.deep.equal(QUEUED);
      expect(await mailedCodes(identity, user)).to.deep.equal([]);
      expect((await logIn(app.client, user, { emailCode: '000000' })).body.enrollmentRequired).to.equal(true);
    });

    it('are deleted with the authenticator that they replace', async () => {
      const user = await account();
      const { client, recoveryCodes } = await enrol(app.client, user, { at: identity.clock.now() });
      const emailCode = await sent(user);
      expect((await client.post('/auth/mfa/disable', { code: recoveryCodes[0] })).status).to.equal(200);
      identity.clock.advance(MINUTE_MS);
      await enrol(app.client, user, { at: identity.clock.now() });
      expect((await logIn(app.client, user, { emailCode })).status).to.equal(401);
    });

    it('are stored encrypted', async () => {
      const user = await enrolled();
      const code = await sent(user);
      const [row] = await identity.database.read({ tenantId: null }, (tx) =>
        tx.all('SELECT code_sealed FROM login_codes WHERE member_id = ?', [user.member.id]),
      );
      expect(row?.['code_sealed']).to.match(/^v1\./).and.not.contain(code);
    });

    it('are reported as unavailable without a mail server', async () => {
      const { mail: _, ...options } = identity.options;
      const silent = await serveIdentity(await startIdentity(identity.database, options));
      try {
        const user = await enrolled();
        const answer = await silent.client.post('/auth/login/mfa/email', {
          tenantSlug: user.tenant.slug,
          email: user.member.email,
          password: PASSWORD,
        });
        expect(answer.body).to.deep.equal({ ok: true, deliveryStatus: 'not_sent' });
        expect((await logIn(silent.client, user)).body.emailFallbackAvailable).to.equal(false);
      } finally {
        await silent.stop();
      }
    });
  });
});
