import { expect } from 'chai';
import { makeTenant, PASSWORD, signIn, type MadeTenant } from '../support/accounts.js';
import { needsBrowser } from '../support/browser.js';
import type { Client } from '../support/http.js';
import { startServer, type TestServer } from '../support/server.js';

describe('the pages linked in mails, in a browser', function () {
  this.timeout(180_000); // a browser starts a process for each page
  const browser = needsBrowser();
  let server: TestServer;
  let made: MadeTenant;
  let owner: Client;

  before(async () => {
    server = await startServer();
    made = await makeTenant(server.services);
    owner = (await signIn(server.client, { tenant: made.tenant, member: made.owner })).client;
  });
  after(() => server?.stop());

  /** Opens the link at the address of the test server, and returns the page. */
  const opened = async (link: string) => {
    const page = await browser().newPage({ locale: 'en-GB' });
    const { pathname, hash } = new URL(link);
    await page.goto(`${server.url}${pathname}${hash}`);
    return page;
  };

  it('an invited person enters a name and a password, and can sign in; the token leaves the address bar at once', async () => {
    const invited = await owner.post<{ inviteLink: string }>('/tenant-admin/invitations', {
      email: 'new@example.test',
      roleCode: 'viewer',
    });
    expect(invited.status, invited.text).to.equal(201);
    const page = await opened(invited.body.inviteLink);
    expect(page.url()).to.equal(`${server.url}/accept-invitation`);
    await page.fill('input[name=name]', 'Nora New');
    await page.fill('input[name=password]', PASSWORD);
    await page.click('button');
    await page.getByText('Done. You can sign in now.').waitFor();
    await page.close();
    expect(
      (await signIn(server.client, { tenant: made.tenant, member: { email: 'new@example.test' } })).result.user.name,
    ).to.equal('Nora New');

    const again = await opened(invited.body.inviteLink);
    await again.fill('input[name=name]', 'Somebody Else');
    await again.fill('input[name=password]', PASSWORD);
    await again.click('button');
    await again.getByText('This link has been used or has expired.').waitFor();
    await again.close();
  });

  it('a link without its token is reported, and loads nothing from elsewhere', async () => {
    const page = await opened('http://x/reset-password');
    await page.getByText('This link is incomplete.').waitFor();
    expect(await page.locator('input').count()).to.equal(0);
    await page.close();
    const { headers } = await fetch(`${server.url}/reset-password`);
    expect(headers.get('content-security-policy')).to.match(/^default-src 'none'; script-src 'self';/);
  });
});
