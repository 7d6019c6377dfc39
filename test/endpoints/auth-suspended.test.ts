import { expect } from 'chai';
import {
  countedArgon2,
  makeMember,
  makeTenant,
  OPERATOR,
  PASSWORD,
  serveIdentity,
  signIn,
  startIdentity,
  uniqueSlug,
  type MadeTenant,
  type TestIdentity,
} from '../support/accounts.js';
import { codeOf } from '../support/authenticator-app.js';
import { forEachDatabase } from '../support/database.js';
import type { DomainError, FrameworkError } from '../support/http.js';
import type { LittleApp } from '../support/little-app.js';

describe('a suspended organisation', () => {
  forEachDatabase((_kind, fresh) => {
    const argon2 = countedArgon2();
    let identity: TestIdentity;
    let app: LittleApp;
    let org: MadeTenant;
    before(async () => {
      identity = await startIdentity((await fresh()).database, { argon2, loginFailuresPerIp: 0, mailConfigured: true });
      app = await serveIdentity(identity);
    });
    after(() => app.stop());
    beforeEach(async () => {
      org = await makeTenant(identity);
    });

    const setStatus = (status: 'active' | 'suspended') =>
      identity.tenants.operator.setStatus({ slug: org.tenant.slug, status }, OPERATOR);
    const login = (email: string, password: string, tenantSlug = org.tenant.slug) =>
      app.client.post<DomainError & FrameworkError>('/auth/login', { tenantSlug, email, password });

    it('is reported to an active member with the right password, until it is resumed', async () => {
      const member = await makeMember(identity, org);
      await setStatus('suspended');
      for (const { email } of [org.owner, member]) {
        const { status, body } = await login(email, PASSWORD);
        expect(status).to.equal(403);
        expect(body.error).to.deep.include({ code: 'TENANT_SUSPENDED', details: {} });
        expect(body.error.message).to.contain('duebook tenants resume');
      }
      await setStatus('active');
      expect((await login(member.email, PASSWORD)).status).to.equal(200);
    });

    it('is not reported for any other credentials, which get the same answer after the same work as in other organisations', async () => {
      const [member, disabled] = [await makeMember(identity, org), await makeMember(identity, org)];
      await identity.tenants.members.setStatus(
        { tenantId: org.tenant.id, memberId: disabled.id, status: 'disabled' },
        OPERATOR,
      );
      await setStatus('suspended');
      for (const [reason, [email, password, slug]] of Object.entries({
        'a wrong password': [member.email, 'wrong-password', org.tenant.slug],
        'a disabled member': [disabled.email, PASSWORD, org.tenant.slug],
        'an unknown email': [`nobody@${org.tenant.slug}.test`, PASSWORD, org.tenant.slug],
        'an unknown organisation': [member.email, PASSWORD, uniqueSlug()],
      } as const)) {
        const hashes = argon2.calls;
        const { status, text } = await login(email, password, slug);
        expect([status, text], reason).to.deep.equal([
          401,
          '{"statusCode":401,"message":"Invalid credentials","error":"Unauthorized"}',
        ]);
        expect(argon2.calls - hashes, reason).to.equal(1);
      }
      const hashes = argon2.calls;
      expect((await login(member.email, PASSWORD)).status).to.equal(403);
      expect(argon2.calls - hashes).to.equal(1);
    });

    it('is reported without a second factor, and sends no code by mail', async () => {
      const { client } = await signIn(app.client, { tenant: org.tenant, member: org.owner });
      const { secret } = (await client.post<{ secret: string }>('/auth/mfa/enroll/start')).body;
      await client.post('/auth/mfa/enroll/confirm', { secret, code: codeOf({ secret, at: identity.clock.now() }) });
      const account = { tenantSlug: org.tenant.slug, email: org.owner.email };
      const ask = (password: string) => app.client.post('/auth/login/mfa/email', { ...account, password });
      await setStatus('suspended');
      expect((await login(org.owner.email, PASSWORD)).body.error.code).to.equal('TENANT_SUSPENDED');
      expect((await ask(PASSWORD)).text).to.equal((await ask('wrong-password')).text);
      const codes = await identity.database.read({ tenantId: null }, (tx) =>
        tx.all("SELECT id FROM mail_outbox WHERE tenant_id = ? AND template = 'login_code'", [org.tenant.id]),
      );
      expect(codes).to.deep.equal([]);
    });

    it('neither counts as a failed sign-in nor clears the count, and is not reported during a lock', async () => {
      await setStatus('suspended');
      const { email } = org.owner;
      for (let failure = 1; failure <= 9; failure++)
        expect((await login(email, 'wrong-password')).status).to.equal(401);
      for (let time = 1; time <= 3; time++) expect((await login(email, PASSWORD)).status).to.equal(403);
      expect((await login(email, 'wrong-password')).status, 'the tenth').to.equal(401);
      expect((await login(email, PASSWORD)).status, 'locked').to.equal(429);
    });

    it('has the reason in the audit, and its sessions are refused until it is resumed', async () => {
      const { client } = await signIn(app.client, { tenant: org.tenant, member: org.owner });
      await setStatus('suspended');
      await login(org.owner.email, PASSWORD);
      const rows = await identity.database.read({ tenantId: null }, (tx) =>
        tx.all("SELECT changes FROM audit_log WHERE record_id = ? AND action = 'login_failed'", [org.owner.id]),
      );
      expect(rows.map(({ changes }) => String(changes))).to.deep.equal(['{"reason":"tenant_suspended"}']);
      expect((await client.get('/auth/me')).status).to.equal(401);
      await setStatus('active');
      expect((await client.get('/auth/me')).status).to.equal(200);
    });
  });
});
