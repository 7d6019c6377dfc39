import { expect } from 'chai';
import { randomBytes } from 'node:crypto';
import { parseSsoProviders } from '../../server/auth/sso-providers.js';
import type { Session, TokenPair } from '../../server/auth/auth.schemas.js';
import { ssoEndpoints } from '../../server/endpoints/sso.js';
import {
  cookieOf,
  makeMember,
  makeTenant,
  OPERATOR,
  PUBLIC_URL,
  serveIdentity,
  startIdentity,
  type MadeTenant,
  type TestIdentity,
} from '../support/accounts.js';
import { forEachDatabase } from '../support/database.js';
import type { DomainError } from '../support/http.js';
import type { LittleApp } from '../support/little-app.js';
import { beginSso, exchangeSso, startOidc, type Account, type TestProvider } from '../support/oidc.js';

describe('single sign-on', () => {
  forEachDatabase((_kind, fresh) => {
    let provider: TestProvider;
    let posting: TestProvider;
    let identity: TestIdentity;
    let app: LittleApp;
    let org: MadeTenant;
    before(async () => {
      provider = await startOidc({ publicUrl: PUBLIC_URL });
      posting = await startOidc({ publicUrl: PUBLIC_URL, claimsInIdToken: true, clientAuth: 'client_secret_post' });
      const read = parseSsoProviders([
        provider.settings(),
        posting.settings({ id: 'post', name: 'Posting', clientAuth: 'post' }),
        provider.settings({
          id: 'auto',
          name: 'Auto',
          allowedDomains: ['Corp.Example'],
          autoProvisionRoleCode: 'sales',
        }),
      ]);
      if (!read.ok) throw new Error(read.problem);
      identity = await startIdentity((await fresh()).database, { ssoProviders: read.value });
      app = await serveIdentity(identity, { more: ssoEndpoints });
      org = await makeTenant(identity);
    });
    after(async () => {
      await app.stop();
      await provider.stop();
      await posting.stop();
    });

    const accountWith = (more: Partial<Account> = {}): Account => ({
      sub: `sub-${randomBytes(6).toString('hex')}`,
      email_verified: true,
      name: 'Sam Single',
      ...more,
    });
    /** Signs in at the provider, and returns the final address of the browser. */
    const come = async (
      account: Account | null,
      {
        id = 'corp',
        at = provider,
        tenant = org,
        next,
      }: { id?: string; at?: TestProvider; tenant?: MadeTenant; next?: string } = {},
    ) => {
      at.account = account;
      const begun = await beginSso(app.client, {
        provider: at,
        id,
        query: { tenantSlug: tenant.tenant.slug, ...(next === undefined ? {} : { next }) },
      });
      const answer = await begun.finish();
      expect(answer.status, answer.text).to.equal(302);
      const end = new URL(answer.headers.get('location') ?? '', PUBLIC_URL);
      return { ...begun, answer, end, code: end.searchParams.get('code') ?? '', error: end.searchParams.get('error') };
    };
    const exchange = <T = TokenPair>(code: string) => exchangeSso<T>(app.client, code);
    const meOf = async (code: string): Promise<Session> =>
      (await app.client.as((await exchange(code)).body.accessToken).get<Session>('/auth/me')).body;
    const auditOf = (action: string) =>
      identity.database.read({ tenantId: null }, (tx) =>
        tx.all('SELECT record_id, changes FROM audit_log WHERE tenant_id = ? AND action = ? ORDER BY id', [
          org.tenant.id,
          action,
        ]),
      );

    it('lists its providers with id and name only', async () => {
      expect((await app.client.get('/auth/sso/providers')).body).to.deep.equal([
        { id: 'corp', name: 'Corp Login' },
        { id: 'post', name: 'Posting' },
        { id: 'auto', name: 'Auto' },
      ]);
    });

    it('redirects the browser to the provider with state, nonce and an S256 challenge, and sets a cookie', async () => {
      const answer = await app.client.get('/auth/sso/corp/start', { query: { tenantSlug: org.tenant.slug } });
      expect([answer.status, answer.text]).to.deep.equal([302, '']);
      const to = new URL(answer.headers.get('location') ?? '');
      expect(to.origin).to.equal(provider.issuer);
      const asked = Object.fromEntries(to.searchParams);
      expect(asked).to.include({
        response_type: 'code',
        client_id: 'duebook',
        redirect_uri: `${PUBLIC_URL}/api/v1/auth/sso/corp/callback`,
        scope: 'openid email profile',
        code_challenge_method: 'S256',
      });
      for (const name of ['state', 'nonce', 'code_challenge']) expect(asked[name], name).to.have.length(43);
      expect(answer.headers.getSetCookie()).to.have.length(1);
      expect(answer.headers.getSetCookie()[0]).to.match(
        /^service_tenant_sso=[\w-]{43}; Path=\/api\/v1\/auth\/sso; Max-Age=600; HttpOnly; SameSite=Lax$/,
      );
      expect(answer.headers.get('cache-control')).to.equal('no-store');
    });

    it('signs an active member in by a verified email, without a password, and returns tokens once', async () => {
      const member = await makeMember(identity, org, { roleCode: 'finance' });
      const { code, cookie, end, answer } = await come(accountWith({ email: member.email.toUpperCase() }), {
        next: '/inbox?tab=due#top',
      });
      expect(`${end.pathname}${end.search.replace(code, 'CODE')}${end.hash}`).to.equal('/inbox?tab=due&code=CODE#top');
      expect(answer.headers.get('location')).to.match(/^\/inbox/);
      expect(answer.headers.getSetCookie()[0]).to.equal(
        `${cookie}; Path=/api/v1/auth/sso; Max-Age=120; HttpOnly; SameSite=Lax`,
      );
      expect(Buffer.from(code, 'base64url')).to.have.length(32);
      const tokens = await exchange(code);
      expect(tokens.status, tokens.text).to.equal(200);
      expect(Object.keys(tokens.body)).to.deep.equal(['accessToken', 'refreshToken', 'expiresIn']);
      expect(cookieOf(tokens)).to.contain(`service_tenant_refresh=${tokens.body.refreshToken};`);
      const me = await app.client.as(tokens.body.accessToken).get<Session>('/auth/me');
      expect(me.body.user).to.include({ id: member.id, email: member.email, roleCode: 'finance' });
      expect((await app.client.post('/auth/refresh', { refreshToken: tokens.body.refreshToken })).status).to.equal(200);
    });

    it('redirects to / without next', async () => {
      const member = await makeMember(identity, org);
      const { answer, code } = await come(accountWith({ email: member.email }));
      expect(answer.headers.get('location')).to.equal(`/?code=${code}`);
    });

    it("redirects to an allowed origin, and with client=cli to the user's own machine", async () => {
      const member = await makeMember(identity, org);
      const account = accountWith({ email: member.email });
      expect(
        (await come(account, { next: 'https://partner.example.test/done?x=1' })).answer.headers.get('location'),
      ).to.match(/^https:\/\/partner\.example\.test\/done\?x=1&code=/);
      provider.account = account;
      const begun = await beginSso(app.client, {
        provider,
        query: { tenantSlug: org.tenant.slug, client: 'cli', next: 'http://127.0.0.1:7777/done' },
      });
      expect((await begun.finish()).headers.get('location')).to.match(/^http:\/\/127\.0\.0\.1:7777\/done\?code=/);
    });

    it('recognises a linked member by issuer and subject, even after the email has changed', async () => {
      const member = await makeMember(identity, org);
      const account = accountWith({ email: member.email });
      await come(account);
      for (const changed of [
        { ...account, email: 'new-name@corp.example' },
        { ...account, email_verified: false },
        { sub: account.sub },
      ])
        expect((await meOf((await come(changed)).code)).user.id).to.equal(member.id);
      expect((await auditOf('sso_linked')).filter((row) => row['record_id'] === member.id)).to.have.length(1);
    });

    it('also accepts the email in the id_token, and sends its secret in the body if configured', async () => {
      const member = await makeMember(identity, org);
      const { code } = await come(accountWith({ email: member.email }), { id: 'post', at: posting });
      expect((await meOf(code)).user.id).to.equal(member.id);
    });

    it("keeps one person's memberships of two organisations separate", async () => {
      const other = await makeTenant(identity);
      const member = await makeMember(identity, org);
      const there = await makeMember(identity, other, { email: member.email });
      const account = accountWith({ email: member.email });
      expect((await meOf((await come(account)).code)).user.id).to.equal(member.id);
      const session = await meOf((await come(account, { tenant: other })).code);
      expect([session.user.id, session.tenant.id]).to.deep.equal([there.id, other.tenant.id]);
    });

    it('creates a member for a verified email of an allowed domain, and of no other', async () => {
      const account = accountWith({
        email: `Nia-${randomBytes(3).toString('hex')}@corp.example`,
        name: '  Nia\u0007 New  ',
      });
      const first = await come(account, { id: 'auto' });
      const session = await meOf(first.code);
      expect(session.user).to.include({
        email: account.email?.toLowerCase(),
        name: 'Nia New',
        roleCode: 'sales',
        status: 'active',
        subjectScope: null,
      });
      expect(session.subjects.map(({ id }) => id)).to.deep.equal([org.subjectId]);
      expect((await meOf((await come(account, { id: 'auto' })).code)).user.id).to.equal(session.user.id);
      expect((await auditOf('member_added')).filter((row) => row['record_id'] === session.user.id)).to.have.length(1);
      const outside = [
        'x@elsewhere.example',
        'x@sub.corp.example',
        'x@notcorp.example',
        'x@corp.example.evil.test',
        '"x@corp.example"@evil.test',
      ];
      for (const email of outside)
        expect((await come(accountWith({ email }), { id: 'auto' })).error, email).to.equal('not_a_member');
      expect(
        (await come(accountWith({ email: 'y@corp.example', email_verified: false }), { id: 'auto' })).error,
      ).to.equal('not_a_member');
      // The other entry of the same provider creates no member.
      expect((await come(accountWith({ email: 'z@corp.example' }))).error).to.equal('not_a_member');
    });

    it('creates one member when the browser returns in eight tabs at once', async () => {
      provider.account = accountWith({ email: `tabs-${randomBytes(3).toString('hex')}@corp.example` });
      const tabs = [];
      for (let count = 0; count < 8; count += 1)
        tabs.push(await beginSso(app.client, { provider, id: 'auto', query: { tenantSlug: org.tenant.slug } }));
      const ends = await Promise.all(tabs.map(({ finish }) => finish()));
      const codes = ends.map(
        ({ headers }) => new URL(headers.get('location') ?? '', PUBLIC_URL).searchParams.get('code') ?? '',
      );
      const members = new Set<string>();
      for (const code of codes) members.add((await meOf(code)).user.id);
      expect(members.size).to.equal(1);
      const count = async (table: string) =>
        (
          await identity.database.read({ tenantId: null }, (tx) =>
            tx.all(
              `SELECT 1 AS x FROM ${table} WHERE tenant_id = ? AND ${table === 'members' ? 'id' : 'member_id'} = ?`,
              [org.tenant.id, [...members][0] ?? ''],
            ),
          )
        ).length;
      expect([await count('members'), await count('sso_identities')]).to.deep.equal([1, 1]);
    });

    it('redirects with error=not_a_member when there is no member, and with access_denied after a refusal, keeping the query of next', async () => {
      const otherTenant = await come(accountWith({ email: 'nobody@corp.example' }), { next: '/in?code=old&x=1' });
      expect(otherTenant.answer.headers.get('location')).to.equal('/in?code=old&x=1&error=not_a_member');
      expect(otherTenant.answer.headers.getSetCookie()[0]).to.match(
        /^service_tenant_sso=; Path=\/api\/v1\/auth\/sso; Max-Age=0;/,
      );
      const unknown = await come(accountWith());
      expect(unknown.answer.headers.get('location')).to.equal('/?error=not_a_member');
      expect((await come(null)).answer.headers.get('location')).to.equal('/?error=access_denied');
      const reasons = (await auditOf('sso_refused')).map(
        (row) => (JSON.parse(String(row['changes'])) as { reason: string }).reason,
      );
      expect(reasons.slice(-3)).to.deep.equal(['not_a_member', 'no_verified_email', 'access_denied']);
    });

    it("refuses a disabled member: at the provider's redirect, before the exchange, and permanently", async () => {
      const member = await makeMember(identity, org);
      const account = accountWith({ email: member.email });
      const { code } = await come(account);
      const { code: unused } = await come(account);
      const { body } = await exchange(code);
      await identity.tenants.members.setStatus(
        { tenantId: org.tenant.id, memberId: member.id, status: 'disabled' },
        OPERATOR,
      );
      expect((await app.client.as(body.accessToken).get('/auth/me')).status).to.equal(401);
      expect((await exchange<DomainError>(unused)).body.error.code).to.equal('TOKEN_INVALID');
      expect((await come(account)).error).to.equal('not_a_member');
      expect((await come(accountWith({ email: member.email }), { id: 'auto' })).error).to.equal('not_a_member');
    });

    it('answers 404 for an unknown provider or organisation', async () => {
      const query = { tenantSlug: org.tenant.slug };
      for (const path of [
        '/auth/sso/nowhere/start',
        '/auth/sso/CORP/start',
        '/auth/sso/__proto__/start',
        '/auth/sso/constructor/start',
      ])
        expect((await app.client.get(path, { query })).status, path).to.equal(404);
      expect(
        (await app.client.get('/auth/sso/nowhere/callback', { query: { state: 'x', code: 'y' } })).status,
      ).to.equal(404);
      expect((await app.client.get('/auth/sso/corp/start', { query: { tenantSlug: 'no-such-org' } })).status).to.equal(
        404,
      );
      expect((await app.client.get('/auth/sso/corp/start')).status).to.equal(400);
    });

    it('accepts a code for two minutes, and a state for ten', async () => {
      const member = await makeMember(identity, org);
      const account = accountWith({ email: member.email });
      const { code } = await come(account);
      identity.clock.advance(2 * 60_000);
      expect((await exchange<DomainError>(code)).body.error.code).to.equal('TOKEN_INVALID');
      provider.account = account;
      const begun = await beginSso(app.client, { provider, query: { tenantSlug: org.tenant.slug } });
      identity.clock.advance(10 * 60_000);
      const late = await begun.finish();
      expect([late.status, (late.body as DomainError).error.code]).to.deep.equal([422, 'TOKEN_INVALID']);
    });

    it('stores nothing in the database that could be used to sign in', async () => {
      const member = await makeMember(identity, org);
      provider.account = accountWith({ email: member.email });
      const begun = await beginSso(app.client, { provider, query: { tenantSlug: org.tenant.slug } });
      const state = begun.back.searchParams.get('state') ?? '';
      const dump = (): Promise<string> =>
        identity.database.read({ tenantId: null }, async (tx) => {
          let text = '';
          for (const table of ['sso_flows', 'sso_codes', 'sso_identities', 'audit_log'])
            text += JSON.stringify(await tx.all(`SELECT * FROM ${table}`));
          return text;
        });
      const before = await dump();
      for (const secret of [state, begun.cookie.split('=')[1] ?? '', provider.settings().clientSecret])
        expect(secret !== '' && before.includes(secret)).to.equal(false);
      const code =
        new URL((await begun.finish()).headers.get('location') ?? '', PUBLIC_URL).searchParams.get('code') ?? '';
      expect(code).to.have.length(43);
      expect(await dump()).not.to.contain(code);
    });
  });
});
