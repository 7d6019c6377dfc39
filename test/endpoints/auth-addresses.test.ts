import { expect } from 'chai';
import { randomBytes } from 'node:crypto';
import type { AuthLoginResult } from '../../server/auth/auth.schemas.js';
import { makeMember, makeTenant, PASSWORD, signIn, type MadeTenant } from '../support/accounts.js';
import type { Client, DomainError, FrameworkError } from '../support/http.js';
import { beginSso, startOidc, type TestProvider } from '../support/oidc.js';
import { needsPostgres } from '../support/postgres.js';
import { startServer, type TestServer } from '../support/server.js';

const OWN = 'http://localhost:8080';
const WEB = 'http://localhost:5173';
/** Letters that become `k`, `s` and `i` by lower case or NFC, and a character that becomes `;`. */
const FOLDED = [
  '\u212Aate@corp.example',
  'kate@\u212Aorp.example',
  'kate@corp.examp\u0130e',
  '\u037Ekate@corp.example',
];
const UNSEEN = [
  'ka\u200bte',
  'ka\u00adte',
  '\u2060kate',
  'ka\u200dte',
  'x\u202egro',
  'y\u2066z',
  'z\u2028w',
  'ka\ufffate',
  'kate\u{e0041}',
].map((name) => `${name}@corp.example`);
const MARKUP = [
  '<b>@corp.example',
  'a"b@corp.example',
  '"kate"@corp.example',
  'a,b@corp.example',
  '=HYPERLINK(1)@corp.example',
  'a;b@corp.example',
  'a..b@corp.example',
  'kate@corp.example.',
];

for (const kind of ['sqlite', 'postgres'] as const) {
  describe(`email addresses, on ${kind}`, () => {
    if (kind === 'postgres') needsPostgres();
    let provider: TestProvider;
    let server: TestServer;
    let org: MadeTenant;
    let owner: Client;
    before(async () => {
      provider = await startOidc({ publicUrl: OWN });
      const settings = provider.settings({
        id: 'corp',
        tenants: ['*'],
        allowedDomains: ['corp.example'],
        autoProvisionRoleCode: 'sales',
      });
      server = await startServer({
        database: kind,
        env: { PUBLIC_URL: OWN, CORS_ORIGINS: WEB, SSO_PROVIDERS: JSON.stringify([settings]) },
      });
      org = await makeTenant(server.services);
      await makeMember(server.services, org, { email: 'kate@corp.example' });
      owner = (await signIn(server.client, { tenant: org.tenant, member: org.owner })).client;
    });
    after(async () => {
      await server.stop();
      await provider.stop();
    });

    const come = async (email: string, query: Record<string, string> = {}) => {
      provider.account = {
        sub: `sub-${randomBytes(6).toString('hex')}`,
        email,
        email_verified: true,
        name: 'N\u202eev\u200bil',
      };
      const { finish, cookie } = await beginSso(server.client, {
        provider,
        id: 'corp',
        query: { tenantSlug: org.tenant.slug, ...query },
      });
      const end = new URL((await finish()).headers.get('location') ?? '', OWN);
      return { cookie, code: end.searchParams.get('code') ?? undefined, error: end.searchParams.get('error') };
    };
    const addresses = async (): Promise<string[]> =>
      (
        await server.foundation.platform.read({ tenantId: null }, (tx) =>
          tx.all('SELECT email FROM members WHERE tenant_id = ? ORDER BY email', [org.tenant.id]),
        )
      ).map((row) => String(row['email']));

    it("that lower case would turn into a member's address are invalid: they cannot be used to sign in, register or invite", async () => {
      for (const email of [...FOLDED, ...UNSEEN, ...MARKUP]) {
        const invited = await owner.post<FrameworkError>('/tenant-admin/invitations', { email, roleCode: 'viewer' });
        expect([invited.status, invited.text.includes('email')], email).to.deep.equal([400, true]);
        const login = await server.client.post<FrameworkError>('/auth/login', {
          tenantSlug: org.tenant.slug,
          email,
          password: PASSWORD,
        });
        expect([login.status, login.text.includes('email')], email).to.deep.equal([400, true]);
      }
      // A list of addresses is normalised to NFC like other texts before it is validated.
      for (const target of [...FOLDED.slice(2, 3), ...UNSEEN, ...MARKUP])
        expect(
          (await owner.post('/tenant-admin/notification-channels', { kind: 'email', name: 'To us', target })).status,
          target,
        ).to.equal(400);
      const large = await server.client.post<AuthLoginResult>('/auth/login', {
        tenantSlug: org.tenant.slug,
        email: ' KATE@Corp.Example ',
        password: PASSWORD,
      });
      expect(large.status, large.text).to.equal(200);
    });

    it('that the API refuses are also refused in the assertion of a provider', async () => {
      const before = await addresses();
      for (const email of [...FOLDED, ...UNSEEN, ...MARKUP])
        expect((await come(email)).error, email).to.equal('not_a_member');
      expect(await addresses()).to.deep.equal(before);
      expect((await come('KATE@corp.example')).code).to.be.a('string');
      expect((await come('ünal@corp.example')).code).to.be.a('string');
      expect(await addresses()).to.have.members([...before, 'ünal@corp.example']);
      const rows = await server.foundation.platform.read({ tenantId: null }, (tx) =>
        tx.all('SELECT name FROM members WHERE email = ?', ['ünal@corp.example']),
      );
      expect(rows).to.deep.equal([{ name: 'Nevil' }]);
    });

    it('a code that is sent to a page of the service on loopback is bound to the browser, even if the client claims to be a program', async () => {
      for (const [n, next] of [
        `${OWN}/login`,
        'http://127.0.0.1:8080/login',
        `${WEB}/login`,
        'http://[::1]:5173/',
      ].entries()) {
        const { code } = await come(`page-${n}@corp.example`, { client: 'cli', next });
        for (const headers of [{}, { Origin: new URL(next).origin }]) {
          const other = await server.client.post<DomainError>('/auth/sso/exchange', { code }, { headers });
          expect([other.status, other.body.error?.code], next).to.deep.equal(
            other.status === 403 ? [403, 'ORIGIN_NOT_ALLOWED'] : [422, 'TOKEN_INVALID'],
          );
        }
      }
      const program = await come('program@corp.example', { client: 'cli', next: 'http://127.0.0.1:7777/x' });
      expect((await server.client.post('/auth/sso/exchange', { code: program.code })).status).to.equal(200);
      const browser = await come('browser@corp.example', { client: 'cli', next: `${WEB}/login` });
      expect(
        (
          await server.client.post(
            '/auth/sso/exchange',
            { code: browser.code },
            { headers: { Cookie: browser.cookie, Origin: WEB } },
          )
        ).status,
      ).to.equal(200);
    });
  });
}
