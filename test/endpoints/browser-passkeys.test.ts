import { expect } from 'chai';
import type { CDPSession, Page } from 'playwright-core';
import type { Passkey } from '../../server/auth/passkeys.schemas.js';
import type { TokenPair } from '../../server/auth/auth.schemas.js';
import { makeMember, makeTenant, signIn } from '../support/accounts.js';
import { needsBrowser, servePage } from '../support/browser.js';
import type { Client } from '../support/http.js';
import { startServer, type TestServer } from '../support/server.js';

/** The complete script that a page needs; answers are passed on unchanged. */
const PAGE = `<!doctype html><title>Passkeys</title><script>
  async function call(api, path, body, token) {
    const headers = { 'Content-Type': 'application/json', ...(token ? { Authorization: 'Bearer ' + token } : {}) };
    const answer = await fetch(api + path, { method: 'POST', headers, ...(body ? { body: JSON.stringify(body) } : {}) });
    return { status: answer.status, body: await answer.json() };
  }
  async function register({ api, token, label }) {
    const { body } = await call(api, '/auth/passkeys/register/options', undefined, token);
    const credential = await navigator.credentials.create({ publicKey: PublicKeyCredential.parseCreationOptionsFromJSON(body.options) });
    return call(api, '/auth/passkeys/register/verify', { response: credential.toJSON(), label }, token);
  }
  async function signIn({ api, tenantSlug, email }) {
    const { body } = await call(api, '/auth/passkeys/login/options', { tenantSlug, email });
    const credential = await navigator.credentials.get({ publicKey: PublicKeyCredential.parseRequestOptionsFromJSON(body.options) });
    return call(api, '/auth/passkeys/login/verify', { flowId: body.flowId, response: credential.toJSON() });
  }
</script>`;

describe('passkeys in a browser', function () {
  this.timeout(180_000); // a browser starts a process for each page
  const browser = needsBrowser();
  let site: Awaited<ReturnType<typeof servePage>>;
  let server: TestServer;
  let page: Page;
  let cdp: CDPSession;
  let account: { tenantSlug: string; email: string };
  let member: { client: Client; token: string };

  before(async () => {
    site = await servePage(PAGE);
    server = await startServer({ env: { WEBAUTHN_ORIGINS: site.origin, CORS_ORIGINS: site.origin } });
    const org = await makeTenant(server.services);
    const made = await makeMember(server.services, org);
    account = { tenantSlug: org.tenant.slug, email: made.email };
    const { client, result } = await signIn(server.client, { tenant: org.tenant, member: made });
    member = { client, token: result.accessToken };
    page = await browser().newPage();
    cdp = await page.context().newCDPSession(page);
    await cdp.send('WebAuthn.enable');
    await page.goto(site.origin);
  });
  after(async () => {
    await page?.close();
    await server?.stop();
    await site?.stop();
  });

  const authenticator = async (isUserVerified: boolean): Promise<string> => {
    const { authenticatorId } = await cdp.send('WebAuthn.addVirtualAuthenticator', {
      options: {
        protocol: 'ctap2',
        transport: 'internal',
        hasResidentKey: true,
        hasUserVerification: true,
        isUserVerified,
        automaticPresenceSimulation: true,
      },
    });
    return authenticatorId;
  };
  const onPage = <T>(work: 'register' | 'signIn', input: object): Promise<{ status: number; body: T }> =>
    page.evaluate(`${work}(${JSON.stringify({ api: server.client.base, ...input })})`);

  it('a passkey is registered on a page, and signs in there', async () => {
    const id = await authenticator(true);
    const registered = await onPage<Passkey>('register', { token: member.token, label: 'Browser' });
    expect(registered.status, JSON.stringify(registered.body)).to.equal(201);
    expect(registered.body).to.deep.include({ label: 'Browser', transports: ['internal'] });
    for (let time = 0; time < 2; time += 1) {
      const signedIn = await onPage<TokenPair>('signIn', account);
      expect(signedIn.status, JSON.stringify(signedIn.body)).to.equal(200);
      expect(
        (await server.client.as(signedIn.body.accessToken).get<{ user: { email: string } }>('/auth/me')).body.user
          .email,
      ).to.equal(account.email);
    }
    const again = await onPage('register', { token: member.token }).catch((error: unknown) => error);
    expect(String(again), 'the browser creates no second one on the same authenticator').to.include(
      'InvalidStateError',
    );
    expect((await member.client.get<Passkey[]>('/auth/passkeys')).body.map(({ label }) => label)).to.deep.equal([
      'Browser',
    ]);
    await cdp.send('WebAuthn.removeVirtualAuthenticator', { authenticatorId: id });
  });

  it('no passkey is registered without user verification', async () => {
    const id = await authenticator(false);
    const refused = await onPage('register', { token: member.token }).catch((error: unknown) => error);
    expect(String(refused)).to.match(/NotAllowedError|InvalidStateError/);
    expect((await member.client.get<Passkey[]>('/auth/passkeys')).body).to.have.length(1);
    await cdp.send('WebAuthn.removeVirtualAuthenticator', { authenticatorId: id });
  });
});
