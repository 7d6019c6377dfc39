import { expect } from 'chai';
import { randomBytes } from 'node:crypto';
import { createServer, type AddressInfo } from 'node:net';
import { createOutbound } from '../../data-plane-agent/base/outbound.js';
import { parseSsoProviders } from '../../server/auth/sso-providers.js';
import type { TokenPair } from '../../server/auth/auth.schemas.js';
import { ssoEndpoints } from '../../server/endpoints/sso.js';
import {
  makeMember,
  makeTenant,
  PUBLIC_URL,
  serveIdentity,
  startIdentity,
  type MadeTenant,
  type TestIdentity,
} from '../support/accounts.js';
import { forEachDatabase } from '../support/database.js';
import type { Answer, DomainError, FrameworkError } from '../support/http.js';
import { startFakeProvider, type Manipulation, type FakeProvider } from '../support/fake-oidc.js';
import type { LittleApp } from '../support/little-app.js';
import { beginSso, exchangeSso, startOidc, type TestProvider } from '../support/oidc.js';

describe('attacks on single sign-on', () => {
  forEachDatabase((kind, fresh) => {
    let provider: TestProvider;
    let attacker: FakeProvider;
    let identity: TestIdentity;
    let app: LittleApp;
    let org: MadeTenant;
    let email: string;
    before(async () => {
      provider = await startOidc({ publicUrl: PUBLIC_URL });
      attacker = await startFakeProvider();
      const read = parseSsoProviders([
        provider.settings(),
        provider.settings({ id: 'plain', name: 'The same again' }),
        attacker.settings(),
        {
          id: 'gone',
          name: 'Gone',
          issuer: `http://127.0.0.1:${await closedPort()}`,
          clientId: 'x',
          clientSecret: 'y',
        },
      ]);
      if (!read.ok) throw new Error(read.problem);
      identity = await startIdentity((await fresh()).database, { ssoProviders: read.value });
      app = await serveIdentity(identity, { more: ssoEndpoints });
      org = await makeTenant(identity);
    });
    beforeEach(async () => {
      ({ email } = await makeMember(identity, org));
      provider.account = { sub: `sub-${randomBytes(6).toString('hex')}`, email, email_verified: true };
      attacker.lie = {};
    });
    after(async () => {
      await app.stop();
      await provider.stop();
      await attacker.stop();
    });

    const begin = (query: Record<string, string> = {}, id = 'corp') =>
      beginSso(app.client, { provider, id, query: { tenantSlug: org.tenant.slug, ...query } });
    const callback = <T = DomainError>(
      query: string | Record<string, string>,
      { id = 'corp', cookie }: { id?: string; cookie?: string } = {},
    ) =>
      app.client.get<T>(`/auth/sso/${id}/callback`, {
        query,
        ...(cookie === undefined ? {} : { headers: { Cookie: cookie } }),
      });
    const codeIn = (answer: Answer<unknown>): string =>
      new URL(answer.headers.get('location') ?? '', PUBLIC_URL).searchParams.get('code') ?? '';
    const aCode = async (): Promise<string> => codeIn(await (await begin()).finish());
    const exchange = <T = DomainError>(code: string, cookie?: string) =>
      cookie === undefined
        ? exchangeSso<T>(app.client, code)
        : app.client.post<T>('/auth/sso/exchange', { code }, { headers: { Cookie: cookie } });
    const expectRefusedToken = (answer: Answer<unknown>, label?: string) =>
      expect([answer.status, (answer.body as DomainError).error?.code], label).to.deep.equal([422, 'TOKEN_INVALID']);
    const reasons = async (): Promise<string[]> =>
      (
        await identity.database.read({ tenantId: null }, (tx) =>
          tx.all("SELECT changes FROM audit_log WHERE tenant_id = ? AND action = 'sso_refused' ORDER BY id", [
            org.tenant.id,
          ]),
        )
      ).map((row) => (JSON.parse(String(row['changes'])) as { reason: string }).reason);
    const sessions = async (): Promise<number> =>
      Number(
        (await identity.database.read({ tenantId: null }, (tx) => tx.get('SELECT count(*) AS n FROM sessions')))?.['n'],
      );

    /** The outcome for a browser that returns with a code of the attacking provider. */
    const attempt = async (manipulation: Manipulation, parameters: Record<string, string> = {}) => {
      attacker.lie = manipulation;
      const start = await app.client.get('/auth/sso/liar/start', { query: { tenantSlug: org.tenant.slug } });
      const asked = new URL(start.headers.get('location') ?? '').searchParams;
      attacker.nonce = asked.get('nonce') ?? '';
      const cookie = (start.headers.getSetCookie()[0] ?? '').split(';')[0] ?? '';
      return Object.assign(
        await callback<DomainError | undefined>(
          { state: asked.get('state') ?? '', code: 'a-code-of-the-liar', ...parameters },
          { id: 'liar', cookie },
        ),
        { cookie },
      );
    };

    it('state replay: a state is accepted once, also in eight concurrent requests', async () => {
      const { back, cookie } = await begin();
      const answers = await Promise.all(Array.from({ length: 8 }, () => callback(back.search.slice(1), { cookie })));
      expect([302, 422].map((status) => answers.filter((answer) => answer.status === status).length)).to.deep.equal([
        1, 7,
      ]);
      expectRefusedToken(await callback(back.search.slice(1), { cookie }));
    });

    it("login forced on another browser: a state without its cookie, or with another's, is refused and used up", async () => {
      for (const other of [undefined, 'service_tenant_sso=', 'service_tenant_sso=guess', (await begin()).cookie]) {
        const { back, finish } = await begin();
        expectRefusedToken(await callback(back.search.slice(1), other === undefined ? {} : { cookie: other }), other);
        expectRefusedToken(await finish());
      }
      expect(await reasons()).to.include('state_of_another_browser');
    });

    it('an unknown state is refused', async () => {
      for (const state of ['x', randomBytes(32).toString('base64url'), "' OR 1=1 --"])
        expectRefusedToken(await callback({ state, code: 'any' }), state);
      expect((await callback<FrameworkError>({ code: 'any' })).status).to.equal(400);
    });

    it('mix-up: a state of one provider is refused at another, and used up by it', async () => {
      const { back, cookie, finish } = await begin();
      for (const id of ['plain', 'liar']) expectRefusedToken(await callback(back.search.slice(1), { id, cookie }), id);
      expectRefusedToken(await finish());
      expect(await reasons()).to.include('state_of_another_provider');
    });

    it('mix-up: an answer that names another issuer is refused before the code is sent to any server', async () => {
      const { back, cookie } = await begin();
      back.searchParams.set('iss', attacker.issuer);
      const answer = await callback(back.search.slice(1), { cookie });
      expect(answer.headers.get('location')).to.equal('/?error=sso_failed');
      // This provider declares that it always sends its issuer, so an answer without it is not its own.
      const bare = await begin();
      bare.back.searchParams.delete('iss');
      expect((await callback(bare.back.search.slice(1), bare)).headers.get('location')).to.equal('/?error=sso_failed');
      const before = attacker.asked.filter((path) => path === '/token').length;
      expect((await attempt({}, { iss: provider.issuer })).headers.get('location')).to.equal('/?error=sso_failed');
      expect(attacker.asked.filter((path) => path === '/token')).to.have.length(before);
    });

    it('a modified or missing code is refused', async () => {
      for (const change of [
        (url: URL) => url.searchParams.set('code', 'another-code'),
        (url: URL) => url.searchParams.delete('code'),
      ]) {
        const { back, cookie } = await begin();
        change(back);
        expect((await callback(back.search.slice(1), { cookie })).headers.get('location')).to.equal(
          '/?error=sso_failed',
        );
      }
    });

    it('an unmodified answer of the attacking provider signs in, so the following ones are refused for their change alone', async () => {
      const answer = await attempt({ claims: { sub: 'honest', email, email_verified: true } });
      expect((await exchange<TokenPair>(codeIn(answer), answer.cookie)).status).to.equal(200);
      const { email: other } = await makeMember(identity, org);
      const reported = await attempt({
        claims: { sub: 'honest too' },
        userInfo: { sub: 'honest too', email: other, email_verified: true },
      });
      expect((await exchange<TokenPair>(codeIn(reported), reported.cookie)).status).to.equal(200);
    });

    const manipulations: Readonly<Record<string, Manipulation>> = {
      'another nonce': { claims: { nonce: 'not-the-one' } },
      'no nonce': { claims: { nonce: undefined } },
      'another audience': { claims: { aud: 'somebody-else' } },
      'several audiences without an authorised party': { claims: { aud: ['duebook-at-liar', 'somebody-else'] } },
      'several audiences with another authorised party': {
        claims: { aud: ['duebook-at-liar', 'somebody-else'], azp: 'somebody-else' },
      },
      'another issuer': { claims: { iss: 'https://accounts.example.test' } },
      'an expired token': { claims: { iat: 1_600_000_000, exp: 1_600_000_300 } },
      'a token without an expiry': { claims: { exp: undefined } },
      'a token without a subject': { claims: { sub: undefined } },
      "another's signature": { sign: 'other_key' },
      'no signature': { sign: 'no_signature' },
      'alg none': { sign: 'none' },
      'HS256 with the client secret': { sign: 'hs256' },
      'no token at all': { tokenAnswer: { status: 200, body: '{"access_token":"x","token_type":"Bearer"}' } },
      'a page instead of tokens': {
        tokenAnswer: { status: 200, headers: { 'Content-Type': 'text/html' }, body: '<html>' },
      },
      'a refusal': { tokenAnswer: { status: 400, body: '{"error":"invalid_grant"}' } },
      'a fault': { tokenAnswer: { status: 500, body: 'oops' } },
      'UserInfo of another subject': {
        claims: { email: undefined },
        userInfo: { sub: 'somebody-else', email: 'x@corp.example', email_verified: true },
      },
      'a redirect to the metadata service of the machine': {
        tokenAnswer: { status: 307, headers: { Location: 'http://169.254.169.254/latest/meta-data' }, body: '' },
      },
    };
    for (const [label, { claims, ...manipulation }] of Object.entries(manipulations)) {
      it(`a provider that answers ${label} signs nobody in`, async () => {
        const before = await sessions();
        const answer = await attempt({ ...manipulation, claims: { email, email_verified: true, ...claims } });
        expect([answer.status, answer.headers.get('location')]).to.deep.equal([302, '/?error=sso_failed']);
        expect(await sessions()).to.equal(before);
        expect((await reasons()).at(-1)).to.match(/^\w+$/);
      });
    }

    it('an unverified email matches no member, neither from the token nor from UserInfo', async () => {
      const unverified: readonly Manipulation[] = [
        { claims: { email } },
        { claims: { email, email_verified: false } },
        { claims: { email, email_verified: 1 } },
        { claims: { email, email_verified: 'false' } },
        { claims: { email, email_verified: false }, userInfo: { sub: 'liar-subject', email, email_verified: true } },
        { claims: { email_verified: true } },
      ];
      for (const fake of unverified)
        expect((await attempt(fake)).headers.get('location'), JSON.stringify(fake)).to.equal('/?error=not_a_member');
    });

    it("an email that only resembles a member's does not match it", async () => {
      for (const other of [
        `${email}.evil.test`,
        `evil+${email}`,
        `${email},x@evil.test`,
        `"${email}"@evil.test`,
        `x@evil.test\u0000${email}`,
        email.replace('@', '＠'),
      ]) {
        expect(
          (await attempt({ claims: { email: other, email_verified: true } })).headers.get('location'),
          other,
        ).to.equal('/?error=not_a_member');
      }
    });

    it("a reassigned email gives no access to an account: the issuer's second subject matches no member", async () => {
      expect(await aCode()).not.to.equal('');
      provider.account = { sub: 'somebody-else', email, email_verified: true };
      expect((await (await begin()).finish()).headers.get('location')).to.equal('/?error=not_a_member');
      expect((await reasons()).at(-1)).to.equal('linked_to_another_subject');
    });

    it('the same subject of another issuer is another identity', async () => {
      const subject = provider.account?.sub;
      await aCode();
      expect((await attempt({ claims: { sub: subject } })).headers.get('location')).to.equal('/?error=not_a_member');
    });

    it('foreign tenant: a member of one organisation cannot sign in to another by its name', async () => {
      const other = await makeTenant(identity);
      expect((await (await begin()).finish()).headers.get('location')).to.match(/code=/);
      const there = await beginSso(app.client, { provider, query: { tenantSlug: other.tenant.slug } });
      expect((await there.finish()).headers.get('location')).to.equal('/?error=not_a_member');
    });

    it('open redirect: next leads only to our own origins', async () => {
      const elsewhere = [
        '//evil.test',
        '///evil.test',
        '/\\evil.test',
        '\\\\evil.test',
        '\\/evil.test',
        '/\t/evil.test',
        '/\n/evil.test',
        '\t//evil.test',
        ' //evil.test',
        ' https://evil.test',
        '/.//evil.test',
        '/..//evil.test',
        '/%2e//evil.test',
        '/./\\evil.test',
        '/x\\..\\..//evil.test',
        'https://evil.test',
        'http://evil.test',
        'https:evil.test',
        'https:/evil.test',
        'HTTPS://evil.test',
        'https://book.example.test.evil.test',
        'https://book.example.test@evil.test',
        'https://evil.test#@book.example.test',
        'https://evil.test\\@book.example.test',
        `${PUBLIC_URL}@evil.test/`,
        `${PUBLIC_URL}.evil.test/`,
        `${PUBLIC_URL}:8443/`,
        'https://book.example.test/',
        `http://user:secret@${new URL(PUBLIC_URL).host}/`,
        'http://partner.example.test/',
        'https://partner.example.test.evil.test/',
        'https://xpartner.example.test/',
        'javascript:alert(1)',
        'javascript://book.example.test/%0aalert(1)',
        'data:text/html,x',
        'file:///etc/passwd',
        'evil.test',
        'evil',
        '?x',
        '#x',
        'http://127.0.0.1:7777/',
        'http://localhost/',
        '/\u0000',
        '/\u007f',
        '/ü',
        '/\u2028',
        '//',
        'http://',
        '/\r\nSet-Cookie: x=1',
      ];
      for (const next of elsewhere) {
        const answer = await app.client.get<FrameworkError>('/auth/sso/corp/start', {
          query: { tenantSlug: org.tenant.slug, next },
        });
        expect(answer.status, JSON.stringify(next)).to.equal(400);
        expect(answer.body.message, JSON.stringify(next)).to.have.length(1);
        expect(answer.body.message[0]).to.match(/^next /);
        expect(answer.headers.get('location')).to.equal(null);
      }
      for (const next of [
        'http://evil.test/',
        'http://127.0.0.1.evil.test/',
        'http://localhost.evil.test/',
        'http://evil.test/?http://localhost',
        'http://user@localhost/',
        'ftp://localhost/',
        'http://0.0.0.0/',
        'http://[::2]/',
        'http://128.0.0.1/',
      ]) {
        expect(
          (
            await app.client.get('/auth/sso/corp/start', {
              query: { tenantSlug: org.tenant.slug, next, client: 'cli' },
            })
          ).status,
          next,
        ).to.equal(400);
      }
      const here: Readonly<Record<string, string>> = {
        '/': '/',
        '/a/b?x=1#y': '/a/b?x=1#y',
        '/@evil.test': '/@evil.test',
        '/a/../b': '/b',
        '/a//b': '/a//b',
        '/https://evil.test': '/https://evil.test',
        [`${PUBLIC_URL}/x`]: `${PUBLIC_URL}/x`,
        '/%5Cevil.test': '/%5Cevil.test',
      };
      for (const [next, end] of Object.entries(here)) {
        const location = (await (await begin({ next })).finish()).headers.get('location') ?? '';
        const code = new URL(location, PUBLIC_URL).searchParams.get('code') ?? 'none';
        expect(location.replace(`?code=${code}`, '').replace(`&code=${code}`, ''), next).to.equal(end);
        expect(new URL(location, PUBLIC_URL).origin).to.equal(new URL(PUBLIC_URL).origin);
      }
    });

    it('code reuse: the second use is refused and ends the session of the first', async () => {
      const code = await aCode();
      const { body } = await exchange<TokenPair>(code);
      const client = app.client.as(body.accessToken);
      expect((await client.get('/auth/me')).status).to.equal(200);
      expectRefusedToken(await exchange(code));
      expect((await client.get('/auth/me')).status).to.equal(401);
      expect((await app.client.post('/auth/refresh', { refreshToken: body.refreshToken })).status).to.equal(401);
      expectRefusedToken(await exchange(code));
      const events = await identity.database.read({ tenantId: null }, (tx) =>
        tx.all("SELECT record_id FROM audit_log WHERE tenant_id = ? AND action = 'sso_code_reuse'", [org.tenant.id]),
      );
      expect(events).to.have.length(1);
    });

    it("code reuse: also after the code's two minutes", async () => {
      const code = await aCode();
      const { body } = await exchange<TokenPair>(code);
      identity.clock.advance(10 * 60_000);
      await aCode();
      expectRefusedToken(await exchange(code));
      expect((await app.client.post('/auth/refresh', { refreshToken: body.refreshToken })).status).to.equal(401);
    });

    it('code reuse: of eight concurrent requests at most one gets a session, which is then ended', async () => {
      const code = await aCode();
      const before = await sessions();
      const answers = await Promise.all(Array.from({ length: 8 }, () => exchange<TokenPair>(code)));
      const served = answers.filter(({ status }) => status === 200);
      expect([
        served.length,
        answers.filter(({ status }) => status === 422).length,
        (await sessions()) - before,
      ]).to.deep.equal([1, 7, 1]);
      expect((await app.client.as(served[0]?.body.accessToken ?? '').get('/auth/me')).status).to.equal(401);
    });

    it('code guessing: unknown codes get the same answer, and a short one is malformed', async () => {
      const texts = await Promise.all(
        ['x'.repeat(16), randomBytes(32).toString('base64url'), 'x'.repeat(200), 'null-and-void-null-and-void'].map(
          async (code) => {
            const answer = await exchange(code);
            expectRefusedToken(answer, code);
            return answer.text;
          },
        ),
      );
      expect(new Set(texts).size).to.equal(1);
      expect((await exchange('x'.repeat(15))).status).to.equal(400);
    });

    it("neither a state nor a provider's code is accepted as a code", async () => {
      const { back } = await begin();
      for (const name of ['state', 'code']) expectRefusedToken(await exchange(back.searchParams.get(name) ?? ''), name);
    });

    it('an unreachable issuer is 502, at the start and at the end, and the failure is not cached', async () => {
      const answer = await app.client.get<DomainError>('/auth/sso/gone/start', {
        query: { tenantSlug: org.tenant.slug },
      });
      expect([answer.status, answer.body.error.code, answer.body.error.details]).to.deep.equal([
        502,
        'SSO_PROVIDER_UNREACHABLE',
        { provider: 'gone' },
      ]);
      expect(answer.headers.getSetCookie()).to.deep.equal([]);
      const { back, cookie } = await begin();
      await provider.stop();
      try {
        expect((await callback<DomainError>(back.search.slice(1), { cookie })).body.error.code).to.equal(
          'SSO_PROVIDER_UNREACHABLE',
        );
      } finally {
        await provider.restart();
      }
      expect(await aCode()).not.to.equal('');
    });

    if (kind === 'sqlite') {
      it('a wrong, invalid or endless metadata document of an issuer is 502, and is requested again the next time', async () => {
        const documents: readonly (readonly [label: string, manipulation: Manipulation])[] = [
          ['another issuer', { metadata: { issuer: 'https://accounts.example.test' } }],
          ['no endpoints', { metadata: { issuer: 5 } }],
          ['too long', { metadata: { padding: 'x'.repeat(2_000_000) } }],
        ];
        const read = parseSsoProviders([attacker.settings()]);
        if (!read.ok) throw new Error(read.problem);
        const again = await startIdentity(identity.database, { ...identity.options, ssoProviders: read.value });
        const other = await serveIdentity(again, { more: ssoEndpoints });
        try {
          const start = () =>
            other.client.get<DomainError>('/auth/sso/liar/start', { query: { tenantSlug: org.tenant.slug } });
          for (const [label, manipulation] of documents) {
            attacker.lie = manipulation;
            expect((await start()).status, label).to.equal(502);
          }
          attacker.lie = {};
          expect((await start()).status).to.equal(302);
        } finally {
          await other.stop();
        }
      });

      it('an issuer on the local machine is refused in production', async () => {
        const read = parseSsoProviders([attacker.settings()]);
        if (!read.ok) throw new Error(read.problem);
        const strict = await startIdentity(identity.database, {
          ...identity.options,
          ssoProviders: read.value,
          outbound: createOutbound({ allowPrivate: [], production: true }),
        });
        const other = await serveIdentity(strict, { more: ssoEndpoints });
        try {
          const before = attacker.asked.length;
          expect(
            (await other.client.get('/auth/sso/liar/start', { query: { tenantSlug: org.tenant.slug } })).status,
          ).to.equal(502);
          expect(attacker.asked).to.have.length(before);
        } finally {
          await other.stop();
        }
      });
    }
  });
});

function closedPort(): Promise<number> {
  return new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address() as AddressInfo;
      server.close(() => resolve(port));
    });
  });
}
