import { expect } from 'chai';
import { openapiPage } from '../../../server/http/openapi-page.js';
import type { Examples } from '../../../server/http/openapi-examples.js';
import { endpoint } from '../../../server/http/endpoint.js';
import { s } from '../../../data-plane-agent/base/schema.js';
import { littleApp, type LittleApp } from '../../support/little-app.js';

describe('the page with the OpenAPI document', () => {
  let app: LittleApp | undefined;
  afterEach(() => app?.stop());

  /** An application of one endpoint whose examples are read as the test says. */
  const start = async (examples: () => Promise<Examples>) => {
    const endpoints = {
      find: endpoint('GET /files/:id', {
        summary: 'A file',
        needs: 'public',
        returns: s.object({ ok: s.flag() }),
        fails: [],
        run: () => Promise.resolve({ ok: true }),
      }),
    };
    const page = openapiPage(endpoints, { productName: 'Duebook', version: '1.2.3', examples });
    app = await littleApp(endpoints, { pages: [page] });
    return app.client;
  };

  it('makes it with the first request, and once for those who ask meanwhile and later', async () => {
    let made = 0;
    const { promise, resolve } = Promise.withResolvers<Examples>();
    const client = await start(() => {
      made++;
      return promise;
    });
    expect(made).to.equal(0);
    const asked = [client.get('/openapi.json'), client.get('/openapi.json')];
    resolve({});
    const answers = [...(await Promise.all(asked)), await client.get('/openapi.json')];
    expect(answers.map(({ status }) => status)).to.deep.equal([200, 200, 200]);
    expect(new Set(answers.map(({ text }) => text)).size).to.equal(1);
    expect(answers[0]?.body).to.have.nested.property('info.version', '1.2.3');
    expect(made).to.equal(1);
  });

  it('makes it with the next request if that failed', async () => {
    let isBroken = true;
    const client = await start(() =>
      isBroken ? Promise.reject(new Error('too many open files')) : Promise.resolve({}),
    );
    expect((await client.get('/openapi.json')).status).to.equal(500);
    isBroken = false;
    expect((await client.get('/openapi.json')).status).to.equal(200);
  });
});
