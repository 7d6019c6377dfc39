import { expect } from 'chai';
import {
  makeMember,
  makeTenant,
  serveIdentity,
  signIn,
  startIdentity,
  type TestIdentity,
} from '../support/accounts.js';
import { codeOf, wrongCode } from '../support/authenticator-app.js';
import { forEachDatabase } from '../support/database.js';
import type { Client, DomainError } from '../support/http.js';
import type { LittleApp } from '../support/little-app.js';
import { auditedOf, enrol, logIn, type Account } from '../support/second-factor.js';

type Status = Readonly<Record<'enrolled' | 'required', boolean>> & { readonly recoveryCodesLeft: number };

describe('the enrolment of an authenticator', () => {
  forEachDatabase((_kind, fresh) => {
    let identity: TestIdentity;
    let app: LittleApp;
    before(async () => {
      identity = await startIdentity((await fresh()).database, {
        mfaRequiredForAdmins: true,
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
    const signedIn = async () => {
      const user = await account();
      return { user, client: (await signIn(app.client, user)).client };
    };
    const start = async (client: Client): Promise<string> =>
      (await client.post<{ secret: string }>('/auth/mfa/enroll/start')).body.secret;
    const confirm = (client: Client, secret: string, code = codeOf({ secret, at: now() })) =>
      client.post<DomainError & Status & { recoveryCodes: string[] }>('/auth/mfa/enroll/confirm', { secret, code });
    const status = async (client: Client) => (await client.get<Status>('/auth/mfa/status')).body;

    it('needs a code generated from the secret, and returns recovery codes once', async () => {
      const { user, client } = await signedIn();
      expect(await status(client)).to.deep.equal({ enrolled: false, required: false, recoveryCodesLeft: 0 });
      const offer = await client.post<{ secret: string; otpauthUrl: string }>('/auth/mfa/enroll/start');
      expect(offer.status).to.equal(200);
      expect(Object.keys(offer.body).toSorted()).to.deep.equal(['otpauthUrl', 'secret']);
      expect(await status(client)).to.include({ enrolled: false });
      expect((await logIn(app.client, user)).body.accessToken).to.be.a('string');
      const confirmed = await confirm(client, offer.body.secret);
      expect(confirmed.status).to.equal(200);
      expect(confirmed.body.recoveryCodes).to.have.length(10);
      expect(await status(client)).to.deep.equal({ enrolled: true, required: false, recoveryCodesLeft: 10 });
      expect((await logIn(app.client, user)).body.mfaRequired).to.equal(true);
      expect(await auditedOf(identity, user)).to.include('mfa_enrolled');
    });

    it('refuses a secret chosen by the attacker, issued to another member, or ten minutes old', async () => {
      const { client } = await signedIn();
      const { client: otherClient } = await signedIn();
      const own = await start(client);
      for (const secret of ['JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP', await start(otherClient), own.toLowerCase()]) {
        const answer = await confirm(client, secret, codeOf({ secret: secret.toUpperCase(), at: now() }));
        expect([answer.status, answer.body.error.code]).to.deep.equal([422, 'MFA_SECRET_UNKNOWN']);
      }
      identity.clock.advance(10 * 60_000);
      expect((await confirm(client, own)).status).to.equal(422);
      expect(await status(client)).to.include({ enrolled: false });
    });

    it('refuses a wrong code, which counts against the account', async () => {
      const { user, client } = await signedIn();
      const secret = await start(client);
      const wrong = wrongCode({ secret, at: now() });
      for (let guess = 1; guess <= 10; guess++) {
        const answer = await confirm(client, secret, wrong);
        expect([answer.status, answer.body.error.code]).to.deep.equal([401, 'MFA_CODE_INVALID']);
      }
      expect((await confirm(client, secret)).status).to.equal(429);
      expect((await logIn(app.client, user)).status).to.equal(429);
      for (const code of ['12345', '1234567', 'abcdef', ''])
        expect((await confirm(client, secret, code)).status, code).to.equal(400);
    });

    it('is refused if there is an authenticator, and of concurrent enrolments one succeeds', async () => {
      const { client } = await signedIn();
      const secrets = [await start(client), await start(client)];
      const answers = await Promise.all([...secrets, ...secrets].map((secret) => confirm(client, secret)));
      expect(answers.filter((answer) => answer.status === 200)).to.have.length(1);
      for (const answer of answers.filter(({ status: code }) => code !== 200))
        expect(answer.body.error.code).to.equal('MFA_ALREADY_ENROLLED');
      for (const answer of [
        await client.post<DomainError>('/auth/mfa/enroll/start'),
        await confirm(client, secrets[0] ?? ''),
      ]) {
        expect([answer.status, answer.body.error.code]).to.deep.equal([409, 'MFA_ALREADY_ENROLLED']);
      }
      expect((await status(client)).recoveryCodesLeft).to.equal(10);
    });

    it('is reverted only with a code of the authenticator, or a recovery code', async () => {
      for (const by of ['totp', 'recovery'] as const) {
        const user = await account();
        const { client, secret, recoveryCodes } = await enrol(app.client, user, { at: now() });
        const used = codeOf({ secret, at: now() });
        identity.clock.advance(30_000);
        for (const code of [used, wrongCode({ secret, at: now() })]) {
          const refused = await client.post<DomainError>('/auth/mfa/disable', { code });
          expect([refused.status, refused.body.error.code]).to.deep.equal([401, 'MFA_CODE_INVALID']);
        }
        for (const code of ['', '12345', 'abcdef', null])
          expect((await client.post('/auth/mfa/disable', { code })).status).to.equal(400);
        const answer = await client.post('/auth/mfa/disable', {
          code: by === 'totp' ? codeOf({ secret, at: now() }) : recoveryCodes[3],
        });
        expect(answer.status).to.equal(200);
        expect(answer.body).to.deep.equal({ enrolled: false, required: false, recoveryCodesLeft: 0 });
        expect((await logIn(app.client, user)).body.accessToken).to.be.a('string');
        expect(await auditedOf(identity, user)).to.include.members(['mfa_code_refused', 'mfa_disabled']);
        const again = await client.post<DomainError>('/auth/mfa/disable', { code: '123456' });
        expect([again.status, again.body.error.code]).to.deep.equal([409, 'MFA_NOT_ENROLLED']);
      }
    });

    it('guessed in parallel with a stolen session: ten guesses are evaluated', async () => {
      const { client, secret } = await enrol(app.client, await account(), { at: now() });
      identity.clock.advance(60_000);
      const code = wrongCode({ secret, at: now() });
      const answers = await Promise.all(Array.from({ length: 25 }, () => client.post('/auth/mfa/disable', { code })));
      expect(answers.filter((answer) => answer.status === 401)).to.have.length(10);
      expect(answers.filter((answer) => answer.status === 429)).to.have.length(15);
      expect((await client.post('/auth/mfa/disable', { code: codeOf({ secret, at: now() }) })).status).to.equal(429);
    });

    it('cannot be reverted if the policy requires a second factor', async () => {
      const user = await account('admin');
      const secret = (await logIn(app.client, user)).body.secret ?? '';
      const entered = await logIn(app.client, user, { mfaSetupSecret: secret, mfaCode: codeOf({ secret, at: now() }) });
      const client = app.client.as(entered.body.accessToken);
      expect(await status(client)).to.include({ enrolled: true, required: true });
      identity.clock.advance(30_000);
      const answer = await client.post<DomainError>('/auth/mfa/disable', { code: codeOf({ secret, at: now() }) });
      expect([answer.status, answer.body.error.code]).to.deep.equal([409, 'MFA_REQUIRED_BY_POLICY']);
      expect(await status(client)).to.include({ enrolled: true });
    });

    it('is bound to the account: its encrypted secret, copied to the row of another account, is invalid', async () => {
      const [one, other] = [await account(), await account()];
      await enrol(app.client, one, { at: now() });
      const { secret } = await enrol(app.client, other, { at: now() });
      identity.clock.advance(60_000);
      const sealed = await identity.database.read({ tenantId: null }, (tx) =>
        tx.get('SELECT secret_sealed FROM mfa_totp WHERE member_id = ?', [other.member.id]),
      );
      await identity.database.write({ tenantId: null }, (tx) =>
        tx.run('UPDATE mfa_totp SET secret_sealed = ? WHERE member_id = ?', [
          sealed?.['secret_sealed'] ?? null,
          one.member.id,
        ]),
      );
      expect((await logIn(app.client, one, { mfaCode: codeOf({ secret, at: now() }) })).status).to.equal(500);
    });
  });
});
