import { expect } from 'chai';
import type { AuthLoginResult, Session } from '../../server/auth/auth.schemas.js';
import {
  OPERATOR,
  PASSWORD,
  serveIdentity,
  startIdentity,
  uniqueSlug,
  type TestIdentity,
} from '../support/accounts.js';
import { forEachDatabase } from '../support/database.js';
import type { DomainError } from '../support/http.js';
import type { LittleApp } from '../support/little-app.js';

describe('redeem codes', () => {
  forEachDatabase((_kind, fresh) => {
    let identity: TestIdentity;
    let app: LittleApp;
    before(async () => {
      identity = await startIdentity((await fresh()).database);
      app = await serveIdentity(identity);
    });
    after(() => app.stop());

    const issue = async (expiresAt: number | null = null) => {
      const [issued] = await identity.codes.issue({ planCode: 'business', count: 1, expiresAt }, OPERATOR);
      if (!issued) throw new Error('no code was issued');
      return issued;
    };
    const redeem = <T = DomainError>(code: string, more: object = {}) => {
      const slug = uniqueSlug();
      return app.client.post<T>('/auth/redeem', {
        code,
        tenantName: 'Acme',
        tenantSlug: slug,
        adminName: 'Ada',
        email: `ada@${slug}.test`,
        password: PASSWORD,
        ...more,
      });
    };

    it("give the organisation the code's plan", async () => {
      const { code } = await issue();
      expect(code).to.have.lengthOf.within(8, 80);
      const answer = await redeem<AuthLoginResult>(code);
      expect(answer.status).to.equal(201);
      const me = await app.client.as(answer.body.accessToken).get<Session>('/auth/me');
      expect(me.body.featureFlags).to.deep.equal({
        apiAccess: true,
        workflowAutomation: true,
        customFields: true,
        aiGateway: true,
      });
    });

    it('work once, also in eight concurrent requests', async () => {
      const { code, id } = await issue();
      const answers = await Promise.all(Array.from({ length: 8 }, () => redeem(code)));
      expect(answers.filter(({ status }) => status === 201)).to.have.length(1);
      expect(answers.filter(({ status }) => status === 422)).to.have.length(7);
      const record = (await identity.codes.list()).find((listed) => listed.id === id);
      expect(record?.usedAt).to.equal(identity.clock.now());
    });

    it('get the same answer if unknown, used, expired or revoked, and create no organisation', async () => {
      const used = await issue();
      await redeem(used.code);
      const expired = await issue(identity.clock.now() - 1);
      const revoked = await issue();
      await identity.codes.revoke(revoked, OPERATOR);
      const slug = uniqueSlug();
      const answers = await Promise.all(
        ['no-such-code', used.code, expired.code, revoked.code].map((code) => redeem(code, { tenantSlug: slug })),
      );
      expect(new Set(answers.map(({ status, text }) => `${status} ${text}`)).size).to.equal(1);
      expect(answers[0]?.status).to.equal(422);
      expect(answers[0]?.body.error.code).to.equal('REDEEM_CODE_INVALID');
      expect(await identity.tenants.bySlug(slug)).to.equal(undefined);
    });

    it('remain unused if the slug is taken', async () => {
      const { code } = await issue();
      const first = await redeem<AuthLoginResult>((await issue()).code);
      const refused = await redeem(code, { tenantSlug: first.body.tenant.slug });
      expect(refused.status).to.equal(409);
      expect((await redeem(code)).status).to.equal(201);
    });

    it('are not stored in a usable form in the database', async () => {
      const { code } = await issue();
      const rows = await identity.database.read({ tenantId: null }, async (tx) => [
        ...(await tx.all('SELECT * FROM redeem_codes')),
        ...(await tx.all('SELECT * FROM audit_log')),
      ]);
      expect(JSON.stringify(rows)).not.to.include(code);
    });

    it('cannot be combined with planCode', async () => {
      expect((await redeem((await issue()).code, { planCode: 'free' })).status).to.equal(400);
    });
  });
});
