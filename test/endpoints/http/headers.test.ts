import { expect } from 'chai';
import { s } from '../../../data-plane-agent/base/schema.js';
import { endpoint } from '../../../server/http/endpoint.js';
import { speak } from '../../support/http.js';
import { littleApp, type LittleApp } from '../../support/little-app.js';

const clientInfo = s.object({ ip: s.text(), cookies: s.free() });
const endpoints = {
  whoAmI: endpoint('GET /who', {
    summary: 'Who',
    needs: 'public',
    returns: clientInfo,
    fails: [],
    run: ({ request }) => Promise.resolve({ ip: request.ip, cookies: { ...request.cookies } }),
  }),
  mine: endpoint('GET /mine', {
    summary: 'Mine',
    needs: 'signed_in',
    returns: clientInfo,
    fails: [],
    run: ({ request }) => Promise.resolve({ ip: request.ip, cookies: {} }),
  }),
};

describe('headers', () => {
  const apps: LittleApp[] = [];
  const start = async (...args: Parameters<typeof littleApp> extends [unknown, ...infer Rest] ? Rest : never) => {
    const app = await littleApp(endpoints, ...args);
    apps.push(app);
    return app;
  };
  after(async () => {
    for (const app of apps) await app.stop();
  });

  it("contain a request id: the client's if it is well-formed, otherwise a new one", async () => {
    const { client, logged } = await start();
    const idFor = async (sent: string) =>
      (await client.get('/who', { headers: { 'X-Request-Id': sent } })).headers.get('x-request-id');
    expect(await idFor('abc.DEF_12-3')).to.equal('abc.DEF_12-3');
    for (const bad of ['short', 'x'.repeat(129), 'with space', 'semi;colon'])
      expect(await idFor(bad)).to.match(/^[0-9a-f-]{36}$/);
    const line = logged.find(({ requestId }) => requestId === 'abc.DEF_12-3');
    expect(line).to.include({ msg: 'request', method: 'GET', route: '/who', status: 200 });
  });

  it('keep tokens, queries and bodies out of the log, and include the tenant', async () => {
    const { client, logged } = await start();
    await client.as('good').get('/mine', { query: 'x=secret-in-query' });
    const text = JSON.stringify(logged);
    expect(text).not.to.contain('secret-in-query').and.not.to.contain('good');
    expect(logged.find(({ route }) => route === '/mine')).to.include({
      tenantId: '01890000-0000-7000-8000-000000000001',
      status: 400,
    });
  });

  it('secure every answer, including errors', async () => {
    const { client } = await start();
    for (const path of ['/api/v1/who', '/api/v1/nothing', '/nothing', '/api/v1/mine']) {
      const { headers } = await client.raw(path);
      for (const name of [
        'content-security-policy',
        'strict-transport-security',
        'x-frame-options',
        'referrer-policy',
        'cross-origin-opener-policy',
      ])
        expect(headers.get(name), `${path} ${name}`).to.be.a('string');
      expect(headers.get('content-security-policy')?.split(/;\s*/)).to.include("base-uri 'none'");
      expect(headers.get('x-content-type-options')).to.equal('nosniff');
      expect(headers.get('cache-control')).to.equal('no-store');
      expect(headers.get('x-powered-by')).to.equal(null);
    }
  });

  it('allow only listed foreign origins', async () => {
    const closed = await start();
    expect(
      (await closed.client.get('/who', { headers: { Origin: 'https://app.test' } })).headers.get(
        'access-control-allow-origin',
      ),
    ).to.equal(null);
    const { client } = await start({ corsOrigins: ['https://app.test'] });
    const allowed = await client.get('/nothing', { headers: { Origin: 'https://app.test' } });
    expect(allowed.status).to.equal(404);
    expect(allowed.headers.get('access-control-allow-origin')).to.equal('https://app.test');
    expect(allowed.headers.get('access-control-allow-credentials')).to.equal('true');
    expect(allowed.headers.get('access-control-expose-headers'))
      .to.contain('ETag')
      .and.contain('Idempotency-Replayed')
      .and.contain('Content-Disposition')
      .and.contain('RateLimit-Remaining');
    const other = await client.get('/who', { headers: { Origin: 'https://evil.test' } });
    expect(other.headers.get('access-control-allow-origin')).to.equal(null);
    expect(other.headers.get('vary')).to.contain('Origin');
    const preflight = await client.raw('/api/v1/who', {
      method: 'OPTIONS',
      headers: {
        Origin: 'https://app.test',
        'Access-Control-Request-Method': 'PATCH',
        'Access-Control-Request-Headers': 'authorization,if-match',
      },
    });
    expect(preflight.status).to.equal(204);
    expect(preflight.headers.get('access-control-allow-methods')).to.contain('PATCH');
    expect(preflight.headers.get('access-control-allow-headers')).to.equal('authorization,if-match');
  });

  it('determine the address of the client by the trusted proxies only', async () => {
    const ipOf = async (app: LittleApp, forwarded: string) =>
      (await app.client.get<{ ip: string }>('/who', { headers: { 'X-Forwarded-For': forwarded } })).body.ip;
    expect(await ipOf(await start(), '203.0.113.9')).to.equal('127.0.0.1');
    const one = await start({ trustProxy: 1 });
    expect(await ipOf(one, '6.6.6.6, 203.0.113.9')).to.equal('203.0.113.9');
    expect(await ipOf(one, '::ffff:203.0.113.9')).to.equal('203.0.113.9');
    expect(await ipOf(one, 'rubbish'), 'an invalid address').to.equal('127.0.0.1');
    expect(await ipOf(await start({ trustProxy: 2 }), '6.6.6.6, 203.0.113.9, 10.0.0.1')).to.equal('203.0.113.9');
  });

  it('contain cookies by name, unchanged', async () => {
    const { client } = await start();
    const { body } = await client.get<{ cookies: unknown }>('/who', {
      headers: { Cookie: 'a=1; b=x=y; a=2; broken; toString=z' },
    });
    expect(body.cookies).to.deep.equal({ a: '1', b: 'x=y', toString: 'z' });
  });

  it('limit requests of a session and of an unauthenticated address, each with its own maximum', async () => {
    const { client } = await start({ perMinute: 3, trustProxy: 1 });
    const by = (ip: string, token?: string) =>
      client.get('/mine', { headers: { 'X-Forwarded-For': ip }, token: token ?? null });
    const first = await by('203.0.113.1', 'good');
    expect([
      first.status,
      first.headers.get('ratelimit-limit'),
      first.headers.get('ratelimit-remaining'),
    ]).to.deep.equal([200, '3', '2']);
    for (const ip of ['203.0.113.2', '203.0.113.3']) expect((await by(ip, 'good')).status).to.equal(200);
    const over = await by('203.0.113.4', 'good');
    expect(over.status).to.equal(429);
    expect(over.body).to.deep.equal({ statusCode: 429, message: 'Too Many Requests', error: 'Too Many Requests' });
    expect(Number(over.headers.get('retry-after'))).to.be.within(1, 60);
    expect(over.headers.get('ratelimit-remaining')).to.equal('0');

    for (const expected of [401, 401, 401, 429]) expect((await by('203.0.113.5', 'bad')).status).to.equal(expected);
    expect((await by('203.0.113.6')).status, 'another address').to.equal(401);
    for (const [ip, expected] of [
      ['2001:db8::1', 401],
      ['2001:db8::2', 401],
      ['2001:db8:0:0:ffff::3', 401],
      ['2001:db8::4', 429],
      ['2001:db8:0:1::4', 401],
    ] as const)
      expect((await by(ip)).status, ip).to.equal(expected);
  });

  it('keep a connection open for further requests', async () => {
    const { client } = await start();
    const response = await speak(
      client.origin,
      `GET /api/v1/who HTTP/1.1\r\nHost: x\r\n\r\nGET /api/v1/who HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`,
    );
    expect(response.match(/HTTP\/1.1 200 OK/g)).to.have.length(2);
    expect(response).to.contain('Keep-Alive: timeout=65');
  });
});
