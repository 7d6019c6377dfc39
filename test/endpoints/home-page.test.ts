import { expect } from 'chai';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import Koa from 'koa';
import { DatabaseError, isUnavailable } from '../../data-plane-agent/base/database/errors.js';
import { beginExchange, type HttpState } from '../../data-plane-agent/base/http/exchange.js';
import { servePages } from '../../data-plane-agent/base/http/pages.js';
import { systemClock } from '../../data-plane-agent/base/clock.js';
import { homePages } from '../../server/http/home-page.js';
import { makeTenant } from '../support/accounts.js';
import { forEachServer, startServer } from '../support/server.js';

describe('the page /', () => {
  forEachServer((server) => {
    const page = (language = 'en') =>
      server().client.raw('/', { headers: { 'Accept-Language': language, Accept: 'text/html' } });

    it('says what the product is, whether it is set up, and what to do next', async () => {
      const { status, headers, text } = await page();
      expect([status, headers.get('content-type')]).to.deep.equal([200, 'text/html; charset=utf-8']);
      expect(headers.get('content-security-policy')).to.match(/^default-src 'none'; style-src 'self';/);
      expect(headers.get('vary')).to.contain('Accept-Language');
      expect(text).to.contain('<h1>Duebook</h1>').and.contain('has no organisation yet');
      expect(text).to.contain('npx duebook bootstrap --tenant-slug acme').and.contain('/auth/register');
      expect((await page('zh-CN,zh;q=0.9,en;q=0.8')).text)
        .to.contain('尚未创建任何企业')
        .and.contain('lang="zh"');
      for (const [, path = ''] of text.matchAll(/href="(\/[^"]+)"/g))
        expect((await server().client.raw(path)).status, path).to.equal(200);
      expect((await server().client.raw('/', { method: 'POST' })).status).to.equal(405);

      await makeTenant(server().services);
      const after = (await page()).text;
      expect(after).to.contain('It runs and is set up').and.contain('/api/v1/auth/login');
      expect(after).not.to.contain('bootstrap');
      expect(after).to.contain('your-organisation').and.contain('you@example.com').and.not.contain('acme');
      expect((await page('zh')).text).to.contain('已完成初始化');
    });
  });

  it('has the name of the product from its setting, and offers registration only if it is enabled', async () => {
    const server = await startServer({
      env: { PRODUCT_NAME: '<Ledger> & Co', PUBLIC_REGISTRATION_ENABLED: 'false' },
    });
    try {
      const { text } = await server.client.raw('/');
      expect(text).to.contain('<title>&#60;Ledger&#62; &#38; Co</title>').and.not.contain('<Ledger>');
      expect(text).not.to.contain('/auth/register');
    } finally {
      await server.stop();
    }
  });

  it('is 503 while the database is unavailable, and names the command that finds the cause', async () => {
    const app = new Koa<HttpState>();
    app.use(beginExchange({ clock: systemClock, observers: [] }));
    app.use(
      servePages(
        homePages({
          productName: 'Duebook',
          publicUrl: 'http://localhost:8080',
          publicRegistrationEnabled: true,
          isTransient: isUnavailable,
          isSetUp: () => Promise.reject(new DatabaseError('unreachable', undefined, new Error('away'))),
        }),
      ),
    );
    const listening = app.listen(0, '127.0.0.1');
    try {
      await once(listening, 'listening');
      const answer = await fetch(`http://127.0.0.1:${(listening.address() as AddressInfo).port}/`);
      expect(answer.status).to.equal(503);
      expect(await answer.text())
        .to.contain('duebook doctor')
        .and.not.contain('bootstrap');
    } finally {
      listening.close();
    }
  });
});
