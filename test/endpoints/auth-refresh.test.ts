import { expect } from 'chai';
import type { TokenPair } from '../../server/auth/auth.schemas.js';
import {
  cookieOf,
  makeMember,
  makeTenant,
  OPERATOR,
  PUBLIC_URL,
  serveIdentity,
  signIn,
  startIdentity,
  type TestIdentity,
} from '../support/accounts.js';
import { forEachDatabase } from '../support/database.js';
import type { FrameworkError } from '../support/http.js';
import type { LittleApp } from '../support/little-app.js';

const DAY_MS = 24 * 3_600_000;

describe('refresh', () => {
  forEachDatabase((_kind, fresh) => {
    let identity: TestIdentity;
    let app: LittleApp;
    before(async () => {
      identity = await startIdentity((await fresh()).database);
      app = await serveIdentity(identity);
    });
    after(() => app.stop());

    const enter = async () => {
      const made = await makeTenant(identity);
      return { ...made, ...(await signIn(app.client, { ...made, member: made.owner })) };
    };
    const byBody = (refreshToken: string) => app.client.post<TokenPair>('/auth/refresh', { refreshToken });
    const byCookie = (token: string, headers: Record<string, string> = {}) =>
      app.client.post<TokenPair>('/auth/refresh', undefined, {
        headers: { Cookie: `service_tenant_refresh=${token}`, ...headers },
      });
    const works = async ({ accessToken }: TokenPair) =>
      (await app.client.as(accessToken).get('/auth/me')).status === 200;

    it('returns a new pair of tokens of the same session, and a cookie with it', async () => {
      const { result } = await enter();
      identity.clock.advance(1_000);
      const answer = await byBody(result.refreshToken);
      expect(answer.status).to.equal(200);
      expect(Object.keys(answer.body).toSorted()).to.deep.equal(['accessToken', 'expiresIn', 'refreshToken']);
      expect(answer.body.refreshToken).not.to.equal(result.refreshToken);
      expect(cookieOf(answer)).to.equal(
        `service_tenant_refresh=${answer.body.refreshToken}; Path=/api/v1/auth; Max-Age=2592000; HttpOnly; SameSite=Strict`,
      );
      expect(await works(answer.body)).to.equal(true);
      expect(await works(result)).to.equal(true);
    });

    it('ends the whole session when a used token is sent again in the body', async () => {
      const { result } = await enter();
      const { body: next } = await byBody(result.refreshToken);
      expect((await byBody(result.refreshToken)).status).to.equal(401);
      expect((await byBody(next.refreshToken)).status).to.equal(401);
      expect(await works(next)).to.equal(false);
      const rows = await identity.database.read({ tenantId: null }, (tx) =>
        tx.all("SELECT action FROM audit_log WHERE action = 'refresh_token_reuse'"),
      );
      expect(rows.length).to.be.greaterThan(0);
    });

    it('leaves another session of the same member open when one is ended', async () => {
      const { result, tenant, owner } = await enter();
      const other = await signIn(app.client, { tenant, member: owner });
      await byBody(result.refreshToken);
      await byBody(result.refreshToken);
      expect((await byBody(other.result.refreshToken)).status).to.equal(200);
    });

    it('returns one and the same successor to twenty concurrent refreshes by cookie', async () => {
      const { result } = await enter();
      const answers = await Promise.all(Array.from({ length: 20 }, () => byCookie(result.refreshToken)));
      expect(answers.map(({ status }) => status)).to.deep.equal(Array.from({ length: 20 }, () => 200));
      expect(new Set(answers.map(({ body }) => body.refreshToken)).size).to.equal(1);
      expect((await byBody(answers[0]?.body.refreshToken ?? '')).status).to.equal(200);
    });

    it('accepts at most one of twenty concurrent refreshes by body, and ends the session', async () => {
      const { result } = await enter();
      const answers = await Promise.all(Array.from({ length: 20 }, () => byBody(result.refreshToken)));
      const [winner, ...more] = answers.filter(({ status }) => status === 200);
      expect(more).to.have.length(0);
      expect((await byBody(winner?.body.refreshToken ?? '')).status).to.equal(401);
    });

    it('accepts the previous token by cookie for ten seconds', async () => {
      const { result } = await enter();
      const { body: next } = await byCookie(result.refreshToken);
      identity.clock.advance(10_000);
      expect((await byCookie(result.refreshToken)).body.refreshToken).to.equal(next.refreshToken);
      identity.clock.advance(1);
      expect((await byCookie(result.refreshToken)).status).to.equal(401);
      expect((await byCookie(next.refreshToken)).status).to.equal(401);
    });

    it('never accepts the token before the previous one', async () => {
      const { result } = await enter();
      const { body: second } = await byCookie(result.refreshToken);
      const { body: third } = await byCookie(second.refreshToken);
      expect((await byCookie(result.refreshToken)).status).to.equal(401);
      expect((await byCookie(third.refreshToken)).status).to.equal(401);
    });

    it('prefers the token in the body to the cookie', async () => {
      const [mine, other] = [await enter(), await enter()];
      const answer = await app.client.post<TokenPair>(
        '/auth/refresh',
        { refreshToken: mine.result.refreshToken },
        { headers: { Cookie: `service_tenant_refresh=${other.result.refreshToken}` } },
      );
      const me = await app.client.as(answer.body.accessToken).get<{ user: { id: string } }>('/auth/me');
      expect(me.body.user.id).to.equal(mine.result.user.id);
    });

    it('refuses a cookie sent by another site, and accepts it from its own pages and from a script', async () => {
      const { result } = await enter();
      for (const headers of [
        { Origin: 'https://evil.example' },
        { Origin: 'null' },
        { 'Sec-Fetch-Site': 'cross-site' },
      ] satisfies Record<string, string>[]) {
        expect((await byCookie(result.refreshToken, headers)).status, JSON.stringify(headers)).to.equal(403);
      }
      const first = await byCookie(result.refreshToken, { Origin: PUBLIC_URL, 'Sec-Fetch-Site': 'same-origin' });
      expect(first.status).to.equal(200);
      const second = await byCookie(first.body.refreshToken, { Origin: 'https://partner.example.test' });
      expect(second.status).to.equal(200);
      expect((await byCookie(second.body.refreshToken)).status).to.equal(200);
    });

    it('refuses two cookies with the name in any order, and clears them where the browser allows it', async () => {
      const [mine, otherSession] = [await enter(), await enter()];
      const names = ([one, other]: readonly [string, string]) => ({
        Cookie: `service_tenant_refresh=${one}; theme=dark; service_tenant_refresh=${other}`,
        Host: 'book.eu.example.test:8443',
      });
      for (const pair of [
        [mine.result.refreshToken, otherSession.result.refreshToken],
        [otherSession.result.refreshToken, mine.result.refreshToken],
        [mine.result.refreshToken, ''],
        [mine.result.refreshToken, mine.result.refreshToken],
      ] as const) {
        const answer = await app.client.post<FrameworkError>('/auth/refresh', undefined, { headers: names(pair) });
        expect([answer.status, answer.body.message]).to.deep.equal([
          401,
          'More than one cookie service_tenant_refresh was sent, so none was accepted; sign in again',
        ]);
        const cleared = answer.headers.getSetCookie();
        expect(cleared)
          .to.include('service_tenant_refresh=; Path=/api/v1/auth; Max-Age=0; HttpOnly; SameSite=Strict')
          .and.include('service_tenant_refresh=; Path=/api/v1/auth/refresh; Max-Age=0; HttpOnly; SameSite=Strict');
        expect(cleared)
          .to.include('service_tenant_refresh=; Path=/; Max-Age=0; Domain=example.test')
          .and.include('service_tenant_refresh=; Path=/api/v1/auth; Max-Age=0; Domain=book.eu.example.test');
        expect(
          cleared.filter(
            (line) =>
              !/^service_tenant_refresh=; Path=\/[a-z0-9/]*; Max-Age=0(; HttpOnly; SameSite=Strict|; Domain=(book\.eu\.|eu\.)?example\.test)$/.test(
                line,
              ),
          ),
          'no other cookie is set',
        ).to.deep.equal([]);
      }
      // The refused request has not ended the session.
      expect((await byBody(mine.result.refreshToken)).status).to.equal(200);
      expect((await byCookie(otherSession.result.refreshToken)).status).to.equal(200);
      const both = await app.client.post(
        '/auth/refresh',
        { refreshToken: (await enter()).result.refreshToken },
        { headers: names(['a', 'b']) },
      );
      expect(both.status, 'a token in the body needs no cookie').to.equal(200);
    });

    it('uses only a valid host name from a proxy in the cookies that it clears', async () => {
      const behind = await serveIdentity(identity, { trustProxy: 1 });
      try {
        for (const host of ['evil.test; Path=/x', 'evil.test; Domain=b.test', 'a.b, evil.test; Path=/x', '<a.b>']) {
          const answer = await behind.client.post('/auth/refresh', undefined, {
            headers: { Cookie: 'service_tenant_refresh=a; service_tenant_refresh=b', 'X-Forwarded-Host': host },
          });
          expect(answer.status).to.equal(401);
          for (const line of answer.headers.getSetCookie())
            expect(line).to.match(
              /^service_tenant_refresh=; Path=\/[a-z0-9/]*; Max-Age=0(; HttpOnly; SameSite=Strict|; Domain=[a-z.]+)$/,
            );
        }
      } finally {
        await behind.stop();
      }
    });

    it('answers 401 without a token, with an empty one and with a malformed one', async () => {
      expect((await app.client.post('/auth/refresh')).status).to.equal(401);
      expect((await app.client.post('/auth/refresh', { refreshToken: '' })).status).to.equal(401);
      expect((await byBody('not.a.token')).status).to.equal(401);
      expect((await byCookie('not.a.token')).status).to.equal(401);
    });

    it('returns the current role, and refuses a disabled member', async () => {
      const made = await makeTenant(identity);
      const member = await makeMember(identity, made, { roleCode: 'sales' });
      const { result } = await signIn(app.client, { ...made, member });
      await identity.tenants.members.setRole(
        { tenantId: made.tenant.id, memberId: member.id, roleCode: 'finance' },
        OPERATOR,
      );
      const { body } = await byBody(result.refreshToken);
      expect(claimsOf(body.accessToken)).to.include({
        roleCode: 'finance',
        scope: 'tenant',
        tenantId: made.tenant.id,
        sub: member.id,
      });
      await identity.tenants.members.setStatus(
        { tenantId: made.tenant.id, memberId: member.id, status: 'disabled' },
        OPERATOR,
      );
      expect((await byBody(body.refreshToken)).status).to.equal(401);
    });

    it('ends an idle session after its idle lifetime, and any after ninety days', async () => {
      const idle = await enter();
      const used = await enter();
      let token = used.result.refreshToken;
      for (let day = 0; day < 87; day += 29) {
        identity.clock.advance(29 * DAY_MS);
        const { body } = await byBody(token);
        token = body.refreshToken;
      }
      expect((await byBody(idle.result.refreshToken)).status).to.equal(401);
      // Otherwise the last access token would outlive the session.
      identity.clock.advance(3 * DAY_MS - 300_000);
      const last = await byBody(token);
      expect(await works(last.body)).to.equal(true);
      identity.clock.advance(300_000);
      expect((await byBody(last.body.refreshToken)).status).to.equal(401);
      expect(await works(last.body)).to.equal(false);
    });
  });
});

const claimsOf = (token: string): Record<string, unknown> =>
  JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()) as Record<string, unknown>;
