import { expect } from 'chai';
import { generateKeyRingText } from '../../data-plane-agent/base/secrets.js';
import {
  countedArgon2,
  makeMember,
  makeTenant,
  serveIdentity,
  signIn,
  startIdentity,
  uniqueSlug,
  type TestIdentity,
} from '../support/accounts.js';
import { codeOf, wrongCode } from '../support/authenticator-app.js';
import { forEachDatabase } from '../support/database.js';
import type { LittleApp } from '../support/little-app.js';
import { startServer } from '../support/server.js';
import { auditedOf, enrol, logIn, type Account } from '../support/second-factor.js';

const STEP_MS = 30_000;

describe('signing in with a second factor', () => {
  forEachDatabase((kind, fresh) => {
    const argon2 = countedArgon2();
    let identity: TestIdentity;
    let app: LittleApp;
    before(async () => {
      identity = await startIdentity((await fresh()).database, {
        argon2,
        mfaRequiredForAdmins: true,
        productName: 'Duebook Test',
        loginFailuresPerAccount: 10,
        loginFailuresPerIp: 0,
      });
      app = await serveIdentity(identity);
    });
    after(() => app.stop());

    const now = () => identity.clock.now();
    const account = async (roleCode = 'viewer'): Promise<Account> => {
      const made = await makeTenant(identity);
      return { tenant: made.tenant, member: await makeMember(identity, made, { roleCode }) };
    };
    /** Enrolled one time step ago, so the current code is unused. */
    const enrolled = async () => {
      const user = await account();
      const factor = await enrol(app.client, user, { at: now() });
      identity.clock.advance(2 * STEP_MS);
      return { who: user, ...factor, code: (steps = 0) => codeOf({ secret: factor.secret, at: now(), steps }) };
    };

    describe('an authenticator', () => {
      it('is required after the right password, and only then', async () => {
        const { who: user } = await enrolled();
        const asked = await logIn(app.client, user);
        expect(asked.status).to.equal(200);
        expect(asked.body).to.deep.include({
          mfaRequired: true,
          enrollmentRequired: false,
          emailFallbackAvailable: false,
        });
        expect(Object.keys(asked.body)).to.not.include.members(['secret', 'otpauthUrl', 'accessToken']);
        expect(asked.headers.getSetCookie()).to.deep.equal([]);
        expect((await logIn(app.client, user, { password: 'wrong-password' })).status).to.equal(401);
        expect(await auditedOf(identity, user)).to.include.members(['login_mfa_required', 'login_failed']);
      });

      it('accepts the current code, and those one step early or late', async () => {
        for (const steps of [-1, 0, 1]) {
          const { who: user, code } = await enrolled();
          const answer = await logIn(app.client, user, { mfaCode: code(steps) });
          expect(answer.status, `${steps}`).to.equal(200);
          expect(answer.body.user.email).to.equal(user.member.email);
          expect(Object.keys(answer.body).toSorted()).to.deep.equal([
            'accessToken',
            'expiresIn',
            'refreshToken',
            'tenant',
            'user',
          ]);
        }
      });

      it('refuses a code two steps early or late', async () => {
        for (const steps of [-2, 2]) {
          const { who: user, code } = await enrolled();
          const answer = await logIn(app.client, user, { mfaCode: code(steps) });
          expect(answer.status, `${steps}`).to.equal(401);
          expect(answer.body.error).to.deep.include({ code: 'MFA_CODE_INVALID', details: {} });
          expect(answer.headers.get('www-authenticate')).to.equal('Bearer');
        }
      });

      it('replayed: a code is valid once', async () => {
        const { who: user, code } = await enrolled();
        const mfaCode = code();
        expect((await logIn(app.client, user, { mfaCode })).status).to.equal(200);
        expect((await logIn(app.client, user, { mfaCode })).status).to.equal(401);
      });

      it('replayed: an older code is refused after a newer one', async () => {
        const { who: user, code } = await enrolled();
        expect((await logIn(app.client, user, { mfaCode: code() })).status).to.equal(200);
        expect((await logIn(app.client, user, { mfaCode: code(-1) })).status).to.equal(401);
        expect((await logIn(app.client, user, { mfaCode: code(1) })).status).to.equal(200);
      });

      it('replayed: the code that enrolled it does not sign in', async () => {
        const user = await account();
        const { secret } = await enrol(app.client, user, { at: now() });
        expect((await logIn(app.client, user, { mfaCode: codeOf({ secret, at: now() }) })).status).to.equal(401);
      });

      it('signs in one of eight concurrent logins with one code', async () => {
        const { who: user, code } = await enrolled();
        const mfaCode = code();
        const answers = await Promise.all(Array.from({ length: 8 }, () => logIn(app.client, user, { mfaCode })));
        expect(answers.filter(({ status }) => status === 200)).to.have.length(1);
        expect(answers.filter(({ status }) => status === 401)).to.have.length(7);
      });

      it('refuses malformed codes without an internal error', async () => {
        const { who: user } = await enrolled();
        for (const mfaCode of ['12345', '1234567', 'abcdef', '１２３４５６', '0x1234', '-12345', '12 345', '💶💶💶'])
          expect((await logIn(app.client, user, { mfaCode })).status, mfaCode).to.equal(401);
        expect((await logIn(app.client, user, { mfaCode: '9'.repeat(65) })).status).to.equal(400);
      });

      it("guessed in parallel: the account's limit counts wrong codes, also those beside the right password", async () => {
        const { who: user, secret, code } = await enrolled();
        const wrong = wrongCode({ secret, at: now() });
        const answers = await Promise.all(
          Array.from({ length: 30 }, () => logIn(app.client, user, { mfaCode: wrong })),
        );
        expect(answers.filter(({ status }) => status === 401)).to.have.length(10);
        expect(answers.filter(({ status }) => status === 429)).to.have.length(20);
        const locked = await logIn(app.client, user, { mfaCode: code() });
        expect(locked.status).to.equal(429);
        identity.clock.advance(Number(locked.headers.get('retry-after')) * 1_000);
        expect((await logIn(app.client, user, { mfaCode: code() })).status).to.equal(200);
      });

      it('guessed repeatedly: the right password alone does not reset the count', async () => {
        const { who: user, secret } = await enrolled();
        const statuses: number[] = [];
        for (let guess = 1; guess <= 11; guess++) {
          statuses.push((await logIn(app.client, user, { mfaCode: wrongCode({ secret, at: now() }) })).status);
          await logIn(app.client, user);
        }
        expect(statuses).to.deep.equal([...Array.from({ length: 10 }, () => 401), 429]);
      });

      it('does not confirm the right password when it is the last of fifty concurrent guesses', async () => {
        const { who: user } = await enrolled();
        const guesses = Array.from({ length: 50 }, () => logIn(app.client, user, { password: 'wrong-password' }));
        const right = await logIn(app.client, user);
        await Promise.all(guesses);
        expect(right.status).to.equal(429);
      });

      it('computes one hash for every combination of factors', async () => {
        const { who: user, secret, code } = await enrolled();
        for (const shown of [
          {},
          { mfaCode: wrongCode({ secret, at: now() }) },
          { emailCode: '123456' },
          { mfaCode: 'x' },
          { mfaSetupSecret: secret, mfaCode: code() },
          { mfaCode: code() },
        ]) {
          const before = argon2.calls;
          await logIn(app.client, user, shown);
          expect(argon2.calls - before, JSON.stringify(shown)).to.equal(1);
        }
      });

      it('cannot be bypassed with an email code if there is no mail server', async () => {
        const { who: user } = await enrolled();
        expect((await logIn(app.client, user, { emailCode: '123456' })).status).to.equal(401);
      });

      it('cannot be replaced with the password alone: a secret in the request is refused, also one that the server issued to another member', async () => {
        const { who: user, code } = await enrolled();
        const admin = await account('admin');
        const { secret } = (await logIn(app.client, admin)).body;
        for (const mfaSetupSecret of [secret, 'JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP']) {
          expect(
            (
              await logIn(app.client, user, {
                mfaSetupSecret,
                mfaCode: codeOf({ secret: mfaSetupSecret ?? '', at: now() }),
              })
            ).status,
          ).to.equal(401);
        }
        expect((await logIn(app.client, user, { mfaCode: code() })).status).to.equal(200);
      });

      it('does not sign in a member of another tenant with the same email', async () => {
        const { who: user, code } = await enrolled();
        const other = await makeTenant(identity);
        const twin = await makeMember(identity, other, { email: user.member.email });
        const answer = await logIn(app.client, { tenant: other.tenant, member: twin });
        expect(answer.body.accessToken).to.be.a('string');
        expect((await logIn(app.client, user, { mfaCode: code() })).status).to.equal(200);
      });
    });

    describe('a recovery code', () => {
      it('replaces a code, once, in any spelling', async () => {
        const { who: user, recoveryCodes } = await enrolled();
        const [first = '', second = ''] = recoveryCodes;
        expect(recoveryCodes).to.have.length(10);
        expect(new Set(recoveryCodes).size).to.equal(10);
        expect((await logIn(app.client, user, { mfaCode: first })).status).to.equal(200);
        expect((await logIn(app.client, user, { mfaCode: first })).status).to.equal(401);
        const { status, body } = await logIn(app.client, user, {
          mfaCode: ` ${second.toUpperCase().replaceAll('-', '')} `,
        });
        expect(status).to.equal(200);
        expect(
          (await app.client.as(body.accessToken).get<{ recoveryCodesLeft: number }>('/auth/mfa/status')).body
            .recoveryCodesLeft,
        ).to.equal(8);
      });

      it('signs in one of eight concurrent logins', async () => {
        const {
          who: user,
          recoveryCodes: [mfaCode],
        } = await enrolled();
        const answers = await Promise.all(Array.from({ length: 8 }, () => logIn(app.client, user, { mfaCode })));
        expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).to.deep.equal([
          200,
          ...Array.from({ length: 7 }, () => 401),
        ]);
      });

      it('of another member is refused', async () => {
        const [mine, theirs] = [await enrolled(), await enrolled()];
        expect((await logIn(app.client, mine.who, { mfaCode: theirs.recoveryCodes[0] })).status).to.equal(401);
        expect((await logIn(app.client, theirs.who, { mfaCode: theirs.recoveryCodes[0] })).status).to.equal(200);
      });
    });

    describe('a first login if the policy requires a second factor', () => {
      it('returns a secret, and enrols it with the login that sends it back', async () => {
        const user = await account('admin');
        const offered = await logIn(app.client, user);
        expect(offered.status).to.equal(200);
        expect(offered.body).to.deep.include({
          mfaRequired: true,
          enrollmentRequired: true,
          emailFallbackAvailable: false,
        });
        const { secret = '', otpauthUrl = '' } = offered.body;
        expect(secret).to.match(/^[A-Z2-7]{32}$/);
        const url = new URL(otpauthUrl);
        expect([url.protocol, url.searchParams.get('secret'), url.searchParams.get('issuer')]).to.deep.equal([
          'otpauth:',
          secret,
          'Duebook Test',
        ]);
        expect(decodeURIComponent(url.pathname)).to.contain(user.member.email);

        const entered = await logIn(app.client, user, {
          mfaSetupSecret: secret,
          mfaCode: codeOf({ secret, at: now() }),
        });
        expect(entered.status).to.equal(200);
        expect(entered.body.accessToken).to.be.a('string');
        expect(entered.body.recoveryCodes).to.have.length(10);
        identity.clock.advance(STEP_MS);
        expect((await logIn(app.client, user)).body).to.deep.include({ mfaRequired: true, enrollmentRequired: false });
        expect((await logIn(app.client, user, { mfaCode: codeOf({ secret, at: now() }) })).status).to.equal(200);
        expect(await auditedOf(identity, user)).to.include('mfa_enrolled');
      });

      it('requires it only for roles with admin (edit)', async () => {
        expect((await logIn(app.client, await account('manager'))).body.accessToken).to.be.a('string');
        const made = await makeTenant(identity);
        expect((await logIn(app.client, { ...made, member: made.owner })).body.enrollmentRequired).to.equal(true);
      });

      it('requires it of a new administrator from the next login', async () => {
        const user = await account('viewer');
        expect((await logIn(app.client, user)).body.accessToken).to.be.a('string');
        await identity.database.write({ tenantId: null }, (tx) =>
          tx.run("UPDATE members SET role_code = 'admin' WHERE id = ?", [user.member.id]),
        );
        expect((await logIn(app.client, user)).body.enrollmentRequired).to.equal(true);
      });

      it('refuses a secret chosen by the attacker', async () => {
        const user = await account('admin');
        await logIn(app.client, user);
        const secret = 'JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP';
        const answer = await logIn(app.client, user, {
          mfaSetupSecret: secret,
          mfaCode: codeOf({ secret, at: now() }),
        });
        expect(answer.status).to.equal(401);
        expect(answer.body.error.code).to.equal('MFA_CODE_INVALID');
        expect((await logIn(app.client, user)).body.enrollmentRequired).to.equal(true);
      });

      it('refuses a secret issued to another member', async () => {
        const [user, other] = [await account('admin'), await account('admin')];
        const secret = (await logIn(app.client, other)).body.secret ?? '';
        expect(
          (await logIn(app.client, user, { mfaSetupSecret: secret, mfaCode: codeOf({ secret, at: now() }) })).status,
        ).to.equal(401);
      });

      it('accepts the secret for ten minutes', async () => {
        for (const [minutes, status] of [
          [9.9, 200],
          [10, 401],
        ] as const) {
          const user = await account('admin');
          const secret = (await logIn(app.client, user)).body.secret ?? '';
          identity.clock.advance(minutes * 60_000);
          expect(
            (await logIn(app.client, user, { mfaSetupSecret: secret, mfaCode: codeOf({ secret, at: now() }) })).status,
            `${minutes}`,
          ).to.equal(status);
        }
      });

      it('counts wrong codes, and allows further attempts with the secret', async () => {
        const user = await account('admin');
        const secret = (await logIn(app.client, user)).body.secret ?? '';
        for (let guess = 1; guess <= 3; guess++)
          expect(
            (await logIn(app.client, user, { mfaSetupSecret: secret, mfaCode: wrongCode({ secret, at: now() }) }))
              .status,
          ).to.equal(401);
        expect((await logIn(app.client, user, { mfaSetupSecret: secret })).status).to.equal(401);
        expect(
          (await logIn(app.client, user, { mfaSetupSecret: secret, mfaCode: codeOf({ secret, at: now() }) })).status,
        ).to.equal(200);
      });

      it('enrols one of several concurrent requests, with one secret or with several', async () => {
        const user = await account('admin');
        const secrets: string[] = [];
        for (let offer = 1; offer <= 3; offer++) secrets.push((await logIn(app.client, user)).body.secret ?? '');
        const answers = await Promise.all(
          [...secrets, ...secrets].map((secret) =>
            logIn(app.client, user, { mfaSetupSecret: secret, mfaCode: codeOf({ secret, at: now() }) }),
          ),
        );
        expect(answers.filter(({ status }) => status === 200)).to.have.length(1);
        expect(answers.filter(({ status }) => status === 401)).to.have.length(5);
      });

      it('stores no secret in plain text', async () => {
        const user = await account('admin');
        const secret = (await logIn(app.client, user)).body.secret ?? '';
        const entered = await logIn(app.client, user, {
          mfaSetupSecret: secret,
          mfaCode: codeOf({ secret, at: now() }),
        });
        const rows: unknown[] = [];
        await identity.database.read({ tenantId: null }, async (tx) => {
          for (const table of ['mfa_totp', 'mfa_offered_secrets', 'mfa_recovery_codes', 'audit_log'])
            rows.push(await tx.all(`SELECT * FROM ${table}`));
        });
        expect(entered.body.recoveryCodes).to.have.length(10);
        for (const value of [secret, ...(entered.body.recoveryCodes ?? [])])
          expect(JSON.stringify(rows)).to.not.contain(value);
      });

      if (kind === 'sqlite') {
        it('is required at the first login after the registration of an organisation, which itself opens a session', async () => {
          const slug = uniqueSlug();
          const answer = await app.client.post('/auth/register', {
            tenantName: 'Acme',
            tenantSlug: slug,
            adminName: 'Ada',
            email: `ada@${slug}.test`,
            password: 'Correct-Horse-42',
          });
          expect(answer.status).to.equal(201);
          const login = await app.client.post<{ enrollmentRequired: boolean }>('/auth/login', {
            tenantSlug: slug,
            email: `ada@${slug}.test`,
            password: 'Correct-Horse-42',
          });
          expect(login.body.enrollmentRequired).to.equal(true);
        });

        it('ignores a submitted secret if no second factor is required', async () => {
          const user = await account('viewer');
          await signIn(app.client, user);
          expect(
            (
              await logIn(app.client, user, {
                mfaCode: '000000',
                emailCode: '000000',
                mfaSetupSecret: 'JBSWY3DPEHPK3PXP',
              })
            ).body.accessToken,
          ).to.be.a('string');
        });
      }
    });
  });
});

describe('a server in production', () => {
  it('starts without settings for second factors, and requires one of admins at their first login', async () => {
    const server = await startServer({
      env: {
        NODE_ENV: 'production',
        PUBLIC_URL: 'https://book.example.test',
        SECRET_KEYS: generateKeyRingText(),
        SSO_PROVIDERS: '',
        FILE_SCAN_MODE: 'off',
      },
    });
    try {
      const made = await makeTenant(server.services);
      const offered = await logIn(server.client, { ...made, member: made.owner });
      expect(offered.body).to.deep.include({ mfaRequired: true, enrollmentRequired: true });
      const { secret = '' } = offered.body;
      const entered = await logIn(
        server.client,
        { ...made, member: made.owner },
        { mfaSetupSecret: secret, mfaCode: codeOf({ secret, at: Date.now() }) },
      );
      expect(entered.status).to.equal(200);
      expect(JSON.stringify(server.logged)).to.not.contain(secret);
    } finally {
      await server.stop();
    }
  });
});
