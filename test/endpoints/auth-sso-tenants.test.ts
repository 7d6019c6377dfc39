import { expect } from 'chai';
import { randomBytes } from 'node:crypto';
import { parseSsoProviders } from '../../server/auth/sso-providers.js';
import type { Session, TokenPair } from '../../server/auth/auth.schemas.js';
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
import type { Answer, DomainError } from '../support/http.js';
import type { LittleApp } from '../support/little-app.js';
import { beginSso, exchangeSso, startOidc, type TestProvider } from '../support/oidc.js';

describe('single sign-on of several organisations', () => {
  forEachDatabase((_kind, fresh) => {
    /** A provider controlled by one company; the settings determine the organisations that it signs in to. */
    let provider: TestProvider;
    let identity: TestIdentity;
    let app: LittleApp;
    let acme: MadeTenant;
    let otherCompany: MadeTenant;
    before(async () => {
      provider = await startOidc({ publicUrl: PUBLIC_URL });
      identity = await startIdentity((await fresh()).database, {
        mailConfigured: true,
        ssoProviders: providers(
          provider.settings({ tenants: ['acme'] }),
          provider.settings({ id: 'plain', name: 'Bolt Login', tenants: ['bolt', 'another'] }),
          provider.settings({ id: 'post', name: "Everybody's", tenants: ['*'], allowedDomains: ['Corp.Example'] }),
          provider.settings({
            id: 'auto',
            name: "Acme's people",
            tenants: ['acme'],
            allowedDomains: ['corp.example'],
            autoProvisionRoleCode: 'sales',
          }),
        ),
      });
      app = await serveIdentity(identity, { more: ssoEndpoints });
      acme = await makeTenant(identity, { slug: 'acme' });
      otherCompany = await makeTenant(identity, { slug: 'bolt' });
    });
    after(async () => {
      await app.stop();
      await provider.stop();
    });

    const claim = (email: string): void => {
      provider.account = { sub: `sub-${randomBytes(6).toString('hex')}`, email, email_verified: true };
    };
    const startAt = (id: string, { tenant }: MadeTenant, { client } = app) =>
      client.get<DomainError>(`/auth/sso/${id}/start`, { query: { tenantSlug: tenant.slug } });
    const begin = (id: string, { tenant }: MadeTenant, query: Record<string, string> = {}) =>
      beginSso(app.client, { provider, id, query: { tenantSlug: tenant.slug, ...query } });
    const locationOf = (answer: Answer<unknown>): string => answer.headers.get('location') ?? '';
    const codeIn = (answer: Answer<unknown>): string =>
      new URL(locationOf(answer), PUBLIC_URL).searchParams.get('code') ?? '';
    const exchange = (code: string, headers: Record<string, string> = {}) =>
      app.client.post<TokenPair & DomainError>('/auth/sso/exchange', { code }, { headers });
    const codeOf = (answer: Answer<DomainError>) => [answer.status, answer.body.error?.code];
    const reasons = async ({ tenant }: MadeTenant): Promise<string[]> =>
      (
        await identity.database.read({ tenantId: null }, (tx) =>
          tx.all("SELECT changes FROM audit_log WHERE tenant_id = ? AND action = 'sso_refused' ORDER BY id", [
            tenant.id,
          ]),
        )
      ).map((row) => (JSON.parse(String(row['changes'])) as { reason: string }).reason);
    const mails = async (memberId: string) =>
      identity.database.read({ tenantId: null }, (tx) =>
        tx.all('SELECT recipient, template FROM mail_outbox WHERE about_id = ? ORDER BY id', [memberId]),
      );

    it("the provider of another company cannot sign in to the owner's organisation, even with their verified address", async () => {
      claim(otherCompany.owner.email);
      for (const id of ['corp', 'auto']) {
        const answer = await startAt(id, otherCompany);
        expect(answer.status, id).to.equal(404);
        expect(answer.headers.getSetCookie(), id).to.deep.equal([]);
        expect(answer.text).to.equal((await startAt('nowhere', otherCompany)).text);
      }
      expect((await startAt('plain', acme)).status).to.equal(404);
      const own = await (await begin('plain', otherCompany)).finish();
      const { body } = await exchangeSso<TokenPair>(app.client, codeIn(own));
      expect(
        (await app.client.as(body.accessToken).get<Session>('/auth/me')).body.user.id,
        "the organisation's own provider signs the owner in",
      ).to.equal(otherCompany.owner.id);
    });

    it('a sign-in is refused if its provider is removed from the organisation meanwhile', async () => {
      claim(acme.owner.email);
      const { back, cookie } = await begin('corp', acme);
      const changed = await startIdentity(identity.database, {
        ...identity.options,
        ssoProviders: providers(provider.settings({ tenants: ['bolt'] })),
      });
      const other = await serveIdentity(changed, { more: ssoEndpoints });
      try {
        const answer = await other.client.get('/auth/sso/corp/callback', {
          query: back.search.slice(1),
          headers: { Cookie: cookie },
        });
        expect(locationOf(answer)).to.equal('/?error=not_a_member');
        expect((await reasons(acme)).at(-1)).to.equal('provider_of_other_tenants');
      } finally {
        await other.stop();
      }
    });

    it('a single provider, or several without `tenants`, sign in to every organisation outside production', async () => {
      for (const settings of [[provider.settings()], [provider.settings(), provider.settings({ id: 'plain' })]]) {
        const open = await serveIdentity(
          await startIdentity(identity.database, { ...identity.options, ssoProviders: providers(...settings) }),
          { more: ssoEndpoints },
        );
        try {
          for (const org of [acme, otherCompany]) expect((await startAt('corp', org, open)).status).to.equal(302);
        } finally {
          await open.stop();
        }
      }
    });

    it('the list of providers contains only ids and names', async () => {
      expect((await app.client.get('/auth/sso/providers')).body).to.deep.equal([
        { id: 'corp', name: 'Corp Login' },
        { id: 'plain', name: 'Bolt Login' },
        { id: 'post', name: "Everybody's" },
        { id: 'auto', name: "Acme's people" },
      ]);
    });

    it("a verified address outside the provider's allowed domains matches no member", async () => {
      claim(acme.owner.email);
      for (const id of ['post', 'auto']) {
        expect(locationOf(await (await begin(id, acme)).finish()), id).to.equal('/?error=not_a_member');
        expect((await reasons(acme)).at(-1)).to.equal('email_domain_not_allowed');
      }
      expect(await mails(acme.owner.id)).to.deep.equal([]);
      const member = await makeMember(identity, acme, { email: `ann-${randomBytes(3).toString('hex')}@corp.example` });
      claim(member.email);
      expect(locationOf(await (await begin('post', acme)).finish())).to.match(/^\/\?code=/);
    });

    it('the first link of a member notifies them by mail, the next sign-in and a refused link do not', async () => {
      const member = await makeMember(identity, acme);
      claim(member.email);
      await (await begin('corp', acme)).finish();
      const reported = [{ recipient: member.email, template: 'sso_linked' }];
      expect(await mails(member.id)).to.deep.equal(reported);
      await (await begin('corp', acme)).finish();
      claim(member.email);
      expect(locationOf(await (await begin('corp', acme)).finish()), 'another subject of the issuer').to.equal(
        '/?error=not_a_member',
      );
      expect(await mails(member.id)).to.deep.equal(reported);
    });

    it('a new member created by a sign-in is not notified', async () => {
      claim(`new-${randomBytes(3).toString('hex')}@corp.example`);
      const answer = await (await begin('auto', acme)).finish();
      const { body } = await exchangeSso<TokenPair>(app.client, codeIn(answer));
      const me = (await app.client.as(body.accessToken).get<Session>('/auth/me')).body;
      expect(me.user.roleCode).to.equal('sales');
      expect(await mails(me.user.id)).to.deep.equal([]);
    });

    it('a code is refused for another browser, which uses it up', async () => {
      const own = async () => {
        claim((await makeMember(identity, acme)).email);
        const begun = await begin('corp', acme);
        return { cookie: begun.cookie, code: codeIn(await begun.finish()) };
      };
      const { cookie: another } = await own();
      for (const headers of [
        {},
        { Cookie: 'service_tenant_sso=' },
        { Cookie: 'service_tenant_sso=guess' },
        { Cookie: another },
      ]) {
        const { cookie, code } = await own();
        expect(codeOf(await exchange(code, headers)), JSON.stringify(headers)).to.deep.equal([422, 'TOKEN_INVALID']);
        expect(codeOf(await exchange(code, { Cookie: cookie }))).to.deep.equal([422, 'TOKEN_INVALID']);
        expect((await reasons(acme)).at(-1)).to.equal('code_of_another_browser');
      }
      const { cookie, code } = await own();
      expect((await exchange(code, { Cookie: cookie })).status).to.equal(200);
    });

    it("a code sent to a program on the user's machine is accepted from it without a cookie, and from no page of another site", async () => {
      const toProgram = async (query: Record<string, string> = { next: 'http://127.0.0.1:7777/done' }) => {
        claim((await makeMember(identity, acme)).email);
        const begun = await begin('corp', acme, { client: 'cli', ...query });
        const answer = await begun.finish();
        return { cookie: begun.cookie, code: codeIn(answer), setCookie: answer.headers.getSetCookie()[0] };
      };
      const { code, setCookie } = await toProgram();
      expect(setCookie).to.match(/^service_tenant_sso=; Path=\/api\/v1\/auth\/sso; Max-Age=0;/);
      expect((await exchange(code)).status).to.equal(200);
      for (const Origin of [PUBLIC_URL, 'https://partner.example.test', 'null']) {
        const pushed = await toProgram();
        expect(codeOf(await exchange(pushed.code, { Origin })), Origin).to.deep.equal([422, 'TOKEN_INVALID']);
        expect(codeOf(await exchange(pushed.code))).to.deep.equal([422, 'TOKEN_INVALID']);
        expect((await reasons(acme)).at(-1)).to.equal('code_of_a_program');
      }
      // `cli` alone does not bind the code: a code that is sent to our own page belongs to that browser.
      const page: { cookie: string; code: string } = await toProgram({ next: '/' });
      expect(codeOf(await exchange(page.code))).to.deep.equal([422, 'TOKEN_INVALID']);
      const right = await toProgram({ next: '/' });
      expect((await exchange(right.code, { Cookie: right.cookie })).status).to.equal(200);
    });

    it('two cookies of the browser are both refused, as another host of the domain may have set one', async () => {
      claim((await makeMember(identity, acme)).email);
      const { cookie, finish } = await begin('corp', acme);
      const code = codeIn(await finish());
      expect(codeOf(await exchange(code, { Cookie: `${cookie}; service_tenant_sso=tossed` }))).to.deep.equal([
        422,
        'TOKEN_INVALID',
      ]);
    });

    it("over https the name of the browser's cookie cannot be set by other hosts, and it lives no longer than a code", async () => {
      const https = 'https://book.example.test';
      const at = await startOidc({ publicUrl: https });
      const known = await startIdentity((await fresh()).database, {
        publicUrl: https,
        webauthnOrigins: [https],
        ssoProviders: providers(at.settings()),
      });
      const secure = await serveIdentity(known, { more: ssoEndpoints, api: { https: true } });
      try {
        const org = await makeTenant(known);
        const signedIn = async () => {
          at.account = {
            sub: randomBytes(6).toString('hex'),
            email: (await makeMember(known, org)).email,
            email_verified: true,
          };
          const start = await startAt('corp', org, secure);
          const set = start.headers.getSetCookie();
          expect(set).to.have.length(1);
          const cookie = set[0]?.split(';')[0] ?? '';
          const back = await at.visit(locationOf(start));
          const answer = await secure.client.get('/auth/sso/corp/callback', {
            query: back.search.slice(1),
            headers: { Cookie: cookie },
          });
          return { set: set[0] ?? '', cookie, code: codeIn(answer), later: answer.headers.getSetCookie() };
        };
        const { set, cookie, code, later } = await signedIn();
        expect(set).to.match(
          /^__Host-service_tenant_sso=[\w-]{43}; Path=\/; Max-Age=600; HttpOnly; SameSite=Lax; Secure$/,
        );
        expect(code).to.have.length(43);
        expect(later).to.deep.equal([set.replace('Max-Age=600', 'Max-Age=120')]);
        expect(
          (await secure.client.post('/auth/sso/exchange', { code }, { headers: { Cookie: cookie } })).status,
        ).to.equal(200);
        // A neighbouring host can set a cookie of the plain name, at any path.
        const attacker = await signedIn();
        const injected = attacker.cookie.replace('__Host-', '');
        expect(
          codeOf(
            await secure.client.post('/auth/sso/exchange', { code: attacker.code }, { headers: { Cookie: injected } }),
          ),
        ).to.deep.equal([422, 'TOKEN_INVALID']);
      } finally {
        await secure.stop();
        await at.stop();
      }
    });
  });
});

function providers(...settings: readonly unknown[]) {
  const read = parseSsoProviders(settings);
  if (!read.ok) throw new Error(read.problem);
  return read.value;
}
