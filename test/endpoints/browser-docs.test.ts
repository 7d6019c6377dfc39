import { expect } from 'chai';
import { needsBrowser } from '../support/browser.js';
import { startServer, type TestServer } from '../support/server.js';

describe('the reference page, in a browser', function () {
  this.timeout(180_000); // a browser starts a process for each page
  const browser = needsBrowser();
  let server: TestServer;

  before(async () => {
    server = await startServer();
  });
  after(() => server?.stop());

  it('shows the endpoints, complies with its own content security policy, and cannot be redirected by injected markup', async () => {
    const page = await browser().newPage({ locale: 'en-GB' });
    const refused: string[] = [];
    page.on('console', (message) => {
      if (/Content Security Policy/.test(message.text())) refused.push(message.text());
    });
    await page.goto(`${server.url}/docs`);
    await page.getByText('Contracts').first().waitFor();
    expect(refused).to.deep.equal([]);
    // As an attacker would who can inject markup into the page.
    const base = await page.evaluate(
      "(() => { const base = document.createElement('base'); base.href = 'https://evil.example/'; document.head.append(base); return document.baseURI; })()",
    );
    expect(new URL(String(base)).origin).to.equal(server.url);
    expect(refused).to.have.length(1).and.to.have.property('0').that.contains("base-uri 'none'");
    await page.close();
  });
});
