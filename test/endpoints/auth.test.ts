import { expect } from 'chai';
import { BUILT_IN_ROLES } from '../../server/tenants/roles.js';
import { s } from '../../data-plane-agent/base/schema.js';
import type { AuthLoginResult, Session } from '../../server/auth/auth.schemas.js';
import { edit } from '../../server/access/permissions.js';
import { endpoint } from '../../server/http/endpoint.js';
import {
  cookieOf,
  makeMember,
  makeTenant,
  OPERATOR,
  PASSWORD,
  PUBLIC_URL,
  serveIdentity,
  signIn,
  startIdentity,
  uniqueSlug,
  type TestIdentity,
} from '../support/accounts.js';
import { forEachDatabase } from '../support/database.js';
import type { DomainError, FrameworkError } from '../support/http.js';
import type { LittleApp } from '../support/little-app.js';

const probes = {
  adminOnly: endpoint('POST /probe/admin', {
    summary: 'Probe',
    needs: edit('admin'),
    returns: s.object({}),
    fails: [],
    run: async () => ({}),
  }),
};

const registration = (slug = uniqueSlug()) => ({
  tenantName: 'Acme Ltd',
  tenantSlug: slug,
  adminName: 'Ada Admin',
  email: ` Ada@${slug}.Test `,
  password: PASSWORD,
});

describe('accounts and sessions', () => {
  forEachDatabase((_kind, fresh) => {
    let identity: TestIdentity;
    let app: LittleApp;
    before(async () => {
      identity = await startIdentity((await fresh()).database);
      app = await serveIdentity(identity, { more: probes });
    });
    after(() => app.stop());

    describe('register', () => {
      it('creates the organisation with its subject company and roles, and signs the owner in', async () => {
        const body = {
          ...registration(),
          subjectName: 'Acme Trading',
          nameProfile: { givenName: 'Ada', familyName: 'Admin', nameOrder: 'given_first' },
        };
        const answer = await app.client.post<AuthLoginResult>('/auth/register', body);
        expect(answer.status).to.equal(201);
        expect(answer.body.tenant).to.include({ slug: body.tenantSlug, name: 'Acme Ltd' });
        expect(answer.body.user).to.deep.include({
          email: `ada@${body.tenantSlug}.test`,
          name: 'Ada Admin',
          status: 'active',
          roleCode: 'owner',
          subjectScope: null,
        });
        expect(answer.body.user.nameProfile).to.deep.include({ givenName: 'Ada', nameOrder: 'given_first' });
        expect(answer.body.expiresIn).to.equal('15m');
        const me = await app.client.as(answer.body.accessToken).get<Session>('/auth/me');
        expect(me.status).to.equal(200);
        expect(me.body.subjects.map(({ name }) => name)).to.deep.equal(['Acme Trading']);
        expect(me.body.permissions).to.deep.equal(BUILT_IN_ROLES[0]?.permissions);
        expect(me.body.featureFlags).to.deep.equal({
          apiAccess: true,
          workflowAutomation: false,
          customFields: false,
          aiGateway: false,
        });
        expect(me.body.tenant).to.deep.equal({ ...answer.body.tenant, edition: 'self_hosted' });
        expect(me.body.settings).to.deep.include({
          timezone: 'UTC',
          reminderLeadDays: 7,
          reminderHour: 9,
          reminderEscalationDays: 7,
          ownerScopeEnabled: false,
        });
        expect(me.body.settings.preferences).to.deep.include({
          language: 'en',
          locale: 'en',
          currency: 'CNY',
          firstDayOfWeek: 1,
        });
      });

      it('stores the refresh token in a cookie that pages cannot read', async () => {
        const answer = await app.client.post<AuthLoginResult>('/auth/register', registration());
        expect(cookieOf(answer)).to.equal(
          `service_tenant_refresh=${answer.body.refreshToken}; Path=/api/v1/auth; Max-Age=2592000; HttpOnly; SameSite=Strict`,
        );
      });

      it('refuses a slug that is taken, and creates nothing', async () => {
        const body = registration();
        await app.client.post('/auth/register', body);
        const again = await app.client.post<DomainError>('/auth/register', { ...body, email: 'other@else.test' });
        expect(again.status).to.equal(409);
        expect(again.body.error).to.deep.include({
          code: 'TENANT_SLUG_TAKEN',
          details: { tenantSlug: body.tenantSlug },
        });
      });

      it('accepts one of several concurrent registrations of one slug', async () => {
        const body = registration();
        const answers = await Promise.all(Array.from({ length: 6 }, () => app.client.post('/auth/register', body)));
        expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).to.deep.equal([
          201, 409, 409, 409, 409, 409,
        ]);
      });

      for (const [field, value] of Object.entries({
        tenantName: 'x',
        tenantSlug: '-bad-',
        adminName: 'y'.repeat(81),
        email: 'nobody',
        password: 'seven77',
        planCode: 'business',
      })) {
        it(`refuses a bad ${field} and reports it`, async () => {
          const answer = await app.client.post<FrameworkError>('/auth/register', { ...registration(), [field]: value });
          expect(answer.status).to.equal(400);
          expect(answer.body.message).to.have.length(1);
          expect(answer.body.message[0]).to.match(new RegExp(`^${field} `));
        });
      }

      it('accepts the password unchanged, including spaces', async () => {
        const body = { ...registration(), password: '  spaces  round  ' };
        await app.client.post('/auth/register', body);
        const login = (password: string) =>
          app.client.post('/auth/login', { tenantSlug: body.tenantSlug, email: body.email, password });
        expect((await login('spaces  round')).status).to.equal(401);
        expect((await login('  spaces  round  ')).status).to.equal(200);
      });
    });

    describe('login', () => {
      it('returns the documented result and accepts the email in any case', async () => {
        const made = await makeTenant(identity);
        const { answer, result } = await signIn(app.client, {
          ...made,
          member: { email: made.owner.email.toUpperCase() },
        });
        expect(answer.status).to.equal(200);
        expect(Object.keys(result).toSorted()).to.deep.equal([
          'accessToken',
          'expiresIn',
          'refreshToken',
          'tenant',
          'user',
        ]);
        expect(cookieOf(answer)).to.include(result.refreshToken);
      });

      it('accepts the fields of the second factor, which a member without one does not need', async () => {
        const { tenant, owner } = await makeTenant(identity);
        const body = {
          tenantSlug: tenant.slug,
          email: owner.email,
          password: PASSWORD,
          mfaCode: '123456',
          emailCode: null,
          mfaSetupSecret: '',
          challengeToken: 'x',
        };
        expect((await app.client.post('/auth/login', body)).status).to.equal(200);
        expect((await app.client.post('/auth/login', { ...body, other: 1 })).status).to.equal(400);
      });

      it("marks sessions of the service's own pages", async () => {
        const { tenant, owner } = await makeTenant(identity);
        const body = { tenantSlug: tenant.slug, email: owner.email, password: PASSWORD };
        const principalOf = async (headers: Record<string, string>) => {
          const { body: result } = await app.client.post<AuthLoginResult>('/auth/login', body, { headers });
          return identity.authenticator.authenticate(result.accessToken, {
            id: 'r',
            ip: '::1',
            userAgent: undefined,
            origin: undefined,
            secFetchSite: undefined,
            cookies: {},
            ifMatch: undefined,
            receivedAt: 0,
          });
        };
        expect((await principalOf({ Origin: PUBLIC_URL })).ownPages).to.equal(true);
        expect((await principalOf({})).ownPages).to.equal(false);
        expect((await principalOf({ Origin: 'https://partner.example.test' })).ownPages).to.equal(false);
      });
    });

    describe('a change by an administrator', () => {
      it('refuses a disabled member from the next request, permanently', async () => {
        const made = await makeTenant(identity);
        const member = await makeMember(identity, made);
        const { client } = await signIn(app.client, { ...made, member });
        expect((await client.get('/auth/me')).status).to.equal(200);
        const change = { tenantId: made.tenant.id, memberId: member.id };
        await identity.tenants.members.setStatus({ ...change, status: 'disabled' }, OPERATOR);
        expect((await client.get('/auth/me')).status).to.equal(401);
        expect(
          (
            await app.client.post('/auth/login', {
              tenantSlug: made.tenant.slug,
              email: member.email,
              password: PASSWORD,
            })
          ).status,
        ).to.equal(401);
        await identity.tenants.members.setStatus({ ...change, status: 'active' }, OPERATOR);
        expect((await client.get('/auth/me')).status).to.equal(401);
      });

      it('applies a change of role to the next request with the same token', async () => {
        const made = await makeTenant(identity);
        const member = await makeMember(identity, made, { roleCode: 'admin' });
        const { client } = await signIn(app.client, { ...made, member });
        expect((await client.post('/probe/admin')).status).to.equal(200);
        await identity.tenants.members.setRole(
          { tenantId: made.tenant.id, memberId: member.id, roleCode: 'sales' },
          OPERATOR,
        );
        const refused = await client.post<FrameworkError>('/probe/admin');
        expect(refused.status).to.equal(403);
        expect(refused.body.message).to.equal('admin (edit) is required; your role "sales" has admin (none)');
        expect((await client.get<Session>('/auth/me')).body.user.roleCode).to.equal('sales');
      });

      it("shows only the subject companies in a member's scope, and none for an empty one", async () => {
        const made = await makeTenant(identity);
        const second = await identity.tenants.subjects.add({ tenantId: made.tenant.id, name: 'Second' }, OPERATOR);
        const member = await makeMember(identity, made, { subjectScope: [second.id] });
        const { client } = await signIn(app.client, { ...made, member });
        expect((await client.get<Session>('/auth/me')).body.subjects.map(({ name }) => name)).to.deep.equal(['Second']);
        await identity.tenants.members.setScope(
          { tenantId: made.tenant.id, memberId: member.id, subjectScope: [] },
          OPERATOR,
        );
        expect((await client.get<Session>('/auth/me')).body.subjects).to.deep.equal([]);
        await identity.tenants.members.setScope(
          { tenantId: made.tenant.id, memberId: member.id, subjectScope: null },
          OPERATOR,
        );
        expect((await client.get<Session>('/auth/me')).body.subjects).to.have.length(2);
      });

      it('accepts a member whose scope exceeds the header size that Node accepts by default', async () => {
        const made = await makeTenant(identity);
        const subjectScope: string[] = [];
        for (let i = 0; i < 350; i++)
          subjectScope.push(
            (await identity.tenants.subjects.add({ tenantId: made.tenant.id, name: `Company ${i}` }, OPERATOR)).id,
          );
        const { client, result } = await signIn(app.client, {
          ...made,
          member: await makeMember(identity, made, { subjectScope }),
        });
        expect(result.accessToken.length).to.be.greaterThan(16_384);
        expect((await client.get<Session>('/auth/me')).body.subjects).to.have.length(350);
      });

      it('applies a change of plan and settings at once', async () => {
        const made = await makeTenant(identity, { planCode: 'free' });
        const { client } = await signIn(app.client, { ...made, member: made.owner });
        await client.get('/auth/me');
        await identity.tenants.operator.setPlan({ slug: made.tenant.slug, planCode: 'pro' }, OPERATOR);
        await identity.tenants.updateSettings(
          { tenantId: made.tenant.id, settings: { timezone: 'Asia/Shanghai', reminderLeadDays: 14 } },
          OPERATOR,
        );
        const { body } = await client.get<Session>('/auth/me');
        expect(body.featureFlags).to.include({ workflowAutomation: true, customFields: true, aiGateway: false });
        expect(body.settings).to.include({ timezone: 'Asia/Shanghai', reminderLeadDays: 14 });
        expect(body.settings.preferences.timezone).to.equal('Asia/Shanghai');
      });
    });

    describe('logout', () => {
      it('ends the session with both of its tokens, clears the cookie, and keeps other sessions', async () => {
        const made = await makeTenant(identity);
        const first = await signIn(app.client, { ...made, member: made.owner });
        const second = await signIn(app.client, { ...made, member: made.owner });
        const answer = await first.client.post('/auth/logout');
        expect(answer.status).to.equal(200);
        expect(answer.body).to.deep.equal({ ok: true });
        expect(cookieOf(answer)).to.equal(
          'service_tenant_refresh=; Path=/api/v1/auth; Max-Age=0; HttpOnly; SameSite=Strict',
        );
        expect((await first.client.get('/auth/me')).status).to.equal(401);
        expect((await first.client.post('/auth/logout')).status).to.equal(401);
        expect((await app.client.post('/auth/refresh', { refreshToken: first.result.refreshToken })).status).to.equal(
          401,
        );
        expect((await second.client.get('/auth/me')).status).to.equal(200);
      });
    });

    describe('with registration switched off', () => {
      it('is 403, while redeeming continues', async () => {
        const closed = await startIdentity(identity.database, {
          ...identity.options,
          publicRegistrationEnabled: false,
        });
        const other = await serveIdentity(closed);
        try {
          const answer = await other.client.post<DomainError>('/auth/register', registration());
          expect(answer.status).to.equal(403);
          expect(answer.body.error.code).to.equal('REGISTRATION_DISABLED');
          const [issued] = await closed.codes.issue({ planCode: 'business', count: 1, expiresAt: null }, OPERATOR);
          expect((await other.client.post('/auth/redeem', { ...registration(), code: issued?.code })).status).to.equal(
            201,
          );
        } finally {
          await other.stop();
        }
      });
    });
  });
});
