import { expect } from 'chai';
import { randomBytes } from 'node:crypto';
import type { AuthLoginResult, MfaLoginRequired, TokenPair } from '../../server/auth/auth.schemas.js';
import { memberEndpoints } from '../../server/endpoints/tenant-admin/members.js';
import {
  makeMember,
  makeTenant,
  OPERATOR,
  PASSWORD,
  serveIdentity,
  signIn,
  startIdentity,
  uniqueSlug,
  type MadeTenant,
} from '../support/accounts.js';
import { softwareAuthenticator, type CreationOptions, type RequestOptions } from '../support/authenticator.js';
import { codeOf } from '../support/authenticator-app.js';
import { fakeClock, type FakeClock } from '../support/clock.js';
import { forEachDatabase } from '../support/database.js';
import type { Answer, Client, DomainError } from '../support/http.js';
import { beginSso, startOidc, SERVER_URL, type TestProvider } from '../support/oidc.js';
import { needsPostgres } from '../support/postgres.js';
import { startServer, type TestServer } from '../support/server.js';

/** A member who must have a second factor and has none, and tries to continue without. */
for (const kind of ['sqlite', 'postgres'] as const) {
  describe(`required second factors for administrators, on ${kind}`, () => {
    if (kind === 'postgres') needsPostgres();
    let server: TestServer;
    let clock: FakeClock;
    let provider: TestProvider;
    before(async () => {
      clock = fakeClock();
      provider = await startOidc({ publicUrl: SERVER_URL });
      server = await startServer({
        database: kind,
        clock,
        env: {
          MFA_REQUIRED_FOR_ADMINS: 'true',
          PUBLIC_REGISTRATION_ENABLED: 'true',
          LOGIN_FAILURES_PER_IP: '0',
          SSO_PROVIDERS: JSON.stringify([provider.settings()]),
        },
      });
    });
    after(async () => {
      await server.stop();
      await provider.stop();
    });

    const account = (slug = uniqueSlug()) => ({
      tenantName: 'Acme',
      tenantSlug: slug,
      adminName: 'Ann Admin',
      email: `ann@${slug}.test`,
      password: PASSWORD,
    });
    const opened = ({ status, body, text }: Answer<AuthLoginResult>): Client => {
      if (status >= 300) throw new Error(`${status}: ${text}`);
      return server.client.as(body.accessToken);
    };
    const register = async () => opened(await server.client.post('/auth/register', account()));
    /** Several kinds of requests, both reads and writes. */
    const requestsBeyondAuth = (client: Client): Promise<Answer<DomainError>>[] => [
      client.get('/contracts'),
      client.get('/tenant-admin/members'),
      client.post('/tenant-admin/invitations', { email: 'friend@example.test', roleCode: 'admin' }),
      client.get('/audit'),
      client.get('/payments/stats'),
      client.get('/contracts/export'),
    ];
    const expectLimited = async (client: Client, why = ''): Promise<void> => {
      for (const answer of await Promise.all(requestsBeyondAuth(client)))
        expect([answer.status, answer.body.error.code], why).to.deep.equal([403, 'MFA_ENROLMENT_REQUIRED']);
      expect((await client.get('/auth/me')).status, why).to.equal(200);
      expect((await client.get('/auth/mfa/status')).body, why).to.deep.include({ enrolled: false, required: true });
    };
    const expectOpen = async (client: Client): Promise<void> => {
      for (const { status, text } of await Promise.all(requestsBeyondAuth(client)))
        expect(status, text).to.be.oneOf([200, 201, 409]);
    };
    const enrolIn = async (client: Client): Promise<string> => {
      const {
        body: { secret },
      } = await client.post<{ secret: string }>('/auth/mfa/enroll/start');
      const { status, text } = await client.post('/auth/mfa/enroll/confirm', {
        secret,
        code: codeOf({ secret, at: clock.now() }),
      });
      expect(status, text).to.equal(200);
      return secret;
    };

    it('limit a newly registered owner to /auth until they have enrolled, in the same session', async () => {
      const client = await register();
      await expectLimited(client);
      await enrolIn(client);
      await expectOpen(client);
    });

    it('cannot be bypassed by a refresh, another sign-in without a code, or an idempotency key', async () => {
      const given = account();
      const { body } = await server.client.post<AuthLoginResult>('/auth/register', given);
      const { body: next } = await server.client.post<TokenPair>('/auth/refresh', { refreshToken: body.refreshToken });
      await expectLimited(server.client.as(next.accessToken));
      const login = await server.client.post<MfaLoginRequired>('/auth/login', {
        tenantSlug: given.tenantSlug,
        email: given.email,
        password: PASSWORD,
      });
      expect(login.body).to.include({ mfaRequired: true, enrollmentRequired: true });
      const keyed = () =>
        server.client
          .as(next.accessToken)
          .post<DomainError>(
            '/tenant-admin/subjects',
            { name: 'Another' },
            { headers: { 'Idempotency-Key': 'before-enrolment' } },
          );
      expect([(await keyed()).status, (await keyed()).body.error.code]).to.deep.equal([403, 'MFA_ENROLMENT_REQUIRED']);
      await enrolIn(server.client.as(next.accessToken));
      expect((await keyed()).status, 'nothing was stored under the key').to.equal(201);
    });

    it('limit a member who redeems a code to /auth', async () => {
      const [issued] = await server.services.codes.issue({ planCode: 'business', count: 1, expiresAt: null }, OPERATOR);
      const client = opened(await server.client.post('/auth/redeem', { ...account(), code: issued?.code }));
      await expectLimited(client);
      await enrolIn(client);
      await expectOpen(client);
    });

    it('limit a member who accepts an invitation as an administrator, and no other', async () => {
      const owner = await register();
      await enrolIn(owner);
      const join = async (roleCode: string): Promise<Client> => {
        const { body } = await owner.post<{ inviteLink: string }>('/tenant-admin/invitations', {
          email: `${roleCode}-${randomBytes(3).toString('hex')}@example.test`,
          roleCode,
        });
        const token = new URLSearchParams(new URL(body.inviteLink).hash.slice(1)).get('token');
        return opened(
          await server.client.post('/auth/invitations/accept', { token, name: 'Ann Able', password: PASSWORD }),
        );
      };
      const admin = await join('admin');
      await expectLimited(admin);
      await enrolIn(admin);
      await expectOpen(admin);
      expect((await (await join('finance')).get('/contracts')).status).to.equal(200);
    });

    const viewerWithSession = async (made: MadeTenant) => {
      const member = await makeMember(server.services, made, { roleCode: 'viewer' });
      return { member, client: (await signIn(server.client, { ...made, member })).client };
    };

    it('limit a member whose role gains administration from the next request, without a sign-out', async () => {
      const made = await makeTenant(server.services);
      const { member, client } = await viewerWithSession(made);
      expect((await client.get('/contracts')).status).to.equal(200);
      const setRole = (roleCode: string) =>
        server.services.tenants.members.setRole({ tenantId: made.tenant.id, memberId: member.id, roleCode }, OPERATOR);
      await setRole('manager');
      expect((await client.get('/contracts')).status, 'a manager has no administration rights').to.equal(200);
      await setRole('admin');
      await expectLimited(client);
      await setRole('viewer');
      expect((await client.get('/contracts')).status, 'and the session is open again without the role').to.equal(200);
      await setRole('admin');
      await enrolIn(client);
      await expectOpen(client);
    });

    it('limit all members of a role that gets admin (edit)', async () => {
      const made = await makeTenant(server.services);
      const { client } = await viewerWithSession(made);
      await server.services.tenants.roles.setPermissions(
        { tenantId: made.tenant.id, code: 'viewer', permissions: { admin: 'view' } },
        OPERATOR,
      );
      expect((await client.get('/contracts')).status, 'a role with read access needs none').to.equal(200);
      await server.services.tenants.roles.setPermissions(
        { tenantId: made.tenant.id, code: 'viewer', permissions: { admin: 'edit' } },
        OPERATOR,
      );
      await expectLimited(client);
    });

    it('require a new sign-in and an enrolment of a member with an old session, which then ends', async () => {
      const made = await makeTenant(server.services);
      const { member, client } = await viewerWithSession(made);
      clock.advance(10 * 60_000 + 1);
      await server.services.tenants.members.setRole(
        { tenantId: made.tenant.id, memberId: member.id, roleCode: 'admin' },
        OPERATOR,
      );
      await expectLimited(client);
      const start = await client.post<DomainError>('/auth/mfa/enroll/start');
      expect([start.status, start.body.error.code]).to.deep.equal([403, 'RECENT_LOGIN_REQUIRED']);
      const credentials = { tenantSlug: made.tenant.slug, email: member.email, password: PASSWORD };
      const {
        body: { secret = '' },
      } = await server.client.post<MfaLoginRequired>('/auth/login', credentials);
      const enrolled = opened(
        await server.client.post('/auth/login', {
          ...credentials,
          mfaSetupSecret: secret,
          mfaCode: codeOf({ secret, at: clock.now() }),
        }),
      );
      await expectOpen(enrolled);
      expect((await client.get('/auth/me')).status, 'another factor ends the other sessions').to.equal(401);
    });

    it('let an owner created by the command line enrol at the first sign-in, which opens all endpoints', async () => {
      const { tenant, owner } = await makeTenant(server.services);
      const credentials = { tenantSlug: tenant.slug, email: owner.email, password: PASSWORD };
      const {
        body: { secret = '' },
      } = await server.client.post<MfaLoginRequired>('/auth/login', credentials);
      await expectOpen(
        opened(
          await server.client.post('/auth/login', {
            ...credentials,
            mfaSetupSecret: secret,
            mfaCode: codeOf({ secret, at: clock.now() }),
          }),
        ),
      );
    });

    it('are met by a session opened by a passkey, but not by the session that registered it', async () => {
      const given = account();
      const client = opened(await server.client.post('/auth/register', given));
      const authenticator = softwareAuthenticator({ origin: SERVER_URL });
      const {
        body: { options },
      } = await client.post<{ options: CreationOptions }>('/auth/passkeys/register/options');
      expect(
        (await client.post('/auth/passkeys/register/verify', { response: authenticator.create(options) })).status,
      ).to.equal(201);
      await expectLimited(client);
      const { body: asked } = await server.client.post<{ flowId: string; options: RequestOptions }>(
        '/auth/passkeys/login/options',
        { tenantSlug: given.tenantSlug, email: given.email },
      );
      const { body } = await server.client.post<TokenPair>('/auth/passkeys/login/verify', {
        flowId: asked.flowId,
        response: authenticator.get(asked.options),
      });
      await expectOpen(server.client.as(body.accessToken));
      const { body: next } = await server.client.post<TokenPair>('/auth/refresh', { refreshToken: body.refreshToken });
      await expectOpen(server.client.as(next.accessToken));
    });

    it('are left to the provider with single sign-on', async () => {
      const made = await makeTenant(server.services);
      provider.account = {
        sub: `sub-${randomBytes(6).toString('hex')}`,
        email: made.owner.email,
        email_verified: true,
      };
      const begun = await beginSso(server.client, {
        provider,
        id: 'corp',
        query: { tenantSlug: made.tenant.slug, client: 'cli', next: 'http://127.0.0.1:9/done' },
      });
      const end = new URL((await begun.finish()).headers.get('location') ?? '', SERVER_URL);
      const { status, text, body } = await server.client.post<TokenPair>('/auth/sso/exchange', {
        code: end.searchParams.get('code') ?? '',
      });
      expect(status, text).to.equal(200);
      await expectOpen(server.client.as(body.accessToken));
    });

    it('treat a session without a recorded method of sign-in as the weakest', async () => {
      const made = await makeTenant(server.services);
      const { member, client } = await viewerWithSession(made);
      await server.foundation.platform.write({ tenantId: null }, (tx) =>
        tx.run('UPDATE sessions SET way = NULL WHERE member_id = ?', [member.id]),
      );
      expect((await client.get('/contracts')).status).to.equal(200);
      await server.services.tenants.members.setRole(
        { tenantId: made.tenant.id, memberId: member.id, roleCode: 'admin' },
        OPERATOR,
      );
      await expectLimited(client);
    });
  });
}

describe('a missing second factor, on several servers', () => {
  forEachDatabase((_kind, fresh) => {
    it('is required at once after the change of rights, and no longer once it exists', async () => {
      const { database, again } = await fresh();
      const one = await startIdentity(database, { mfaRequiredForAdmins: true });
      const second = await again();
      const other = await startIdentity(second, { ...one.options, database: second });
      const apps = [
        await serveIdentity(one, { more: memberEndpoints }),
        await serveIdentity(other, { more: memberEndpoints }),
      ] as const;
      try {
        const made = await makeTenant(one);
        const member = await makeMember(one, made, { roleCode: 'viewer' });
        const { result } = await signIn(apps[0].client, { ...made, member });
        const [here, there] = apps.map(({ client }) => client.as(result.accessToken)) as [Client, Client];
        expect([
          (await here.get('/tenant-admin/members')).status,
          (await there.get('/tenant-admin/members')).text,
        ]).to.deep.equal([
          403,
          '{"statusCode":403,"message":"admin (edit) is required; your role \\"viewer\\" has admin (none)","error":"Forbidden"}',
        ]);
        await one.tenants.members.setRole(
          { tenantId: made.tenant.id, memberId: member.id, roleCode: 'admin' },
          OPERATOR,
        );
        expect((await here.get<DomainError>('/tenant-admin/members')).body.error.code).to.equal(
          'MFA_ENROLMENT_REQUIRED',
        );
        expect((await there.get<DomainError>('/tenant-admin/members')).body.error.code).to.equal(
          'MFA_ENROLMENT_REQUIRED',
        );
        const {
          body: { secret },
        } = await here.post<{ secret: string }>('/auth/mfa/enroll/start');
        expect(
          (await here.post('/auth/mfa/enroll/confirm', { secret, code: codeOf({ secret, at: one.clock.now() }) }))
            .status,
        ).to.equal(200);
        // A member who has enrolled does not have to wait until the other server's cache expires.
        for (const client of [here, there]) expect((await client.get('/tenant-admin/members')).status).to.equal(200);
      } finally {
        for (const app of apps) await app.stop();
      }
    });
  });
});
