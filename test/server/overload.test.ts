import { expect } from 'chai';
import { setTimeout as sleep } from 'node:timers/promises';
import { organisation, type Organisation } from '../guarantees/organisations.js';
import { signIn } from '../support/accounts.js';
import { startServer, type TestServer } from '../support/server.js';

const METRICS_TOKEN = 'metrics-token-of-twenty-four-characters';
const REFUSED = { statusCode: 503, message: 'Service Unavailable', error: 'Service Unavailable' };

describe('a server that cannot keep up', () => {
  let mayBegin = true;
  let server: TestServer;
  let a: Organisation;
  let b: Organisation;
  before(async () => {
    server = await startServer({ env: { METRICS_TOKEN }, turns: { mayBegin: () => mayBegin, firstRequests: 0 } });
    [a, b] = [await organisation(server), await organisation(server)];
  });
  after(() => server.stop());
  afterEach(() => {
    mayBegin = true;
  });

  const refusals = async (): Promise<Record<string, number>> => {
    const { text } = await server.client.raw('/metrics', { headers: { Authorization: `Bearer ${METRICS_TOKEN}` } });
    const lines = [...text.matchAll(/^duebook_overload_refusals_total\{at="(\w+)"\} (\d+)$/gm)];
    return Object.fromEntries(lines.map(([, at = '', count]) => [at, Number(count)]));
  };

  it('refuses requests of the organisation that waits, at once and with a time', async () => {
    const before = await refusals();
    mayBegin = false;
    const waiting = a.client.get('/contracts');
    await sleep(900);
    const refused = await a.client.get('/contracts');
    expect([refused.status, refused.body, refused.headers.get('retry-after')]).to.deep.equal([503, REFUSED, '1']);
    expect(refused.headers.get('x-request-id')).to.match(/^[0-9a-f-]{36}$/);
    expect(refused.headers.get('x-content-type-options')).to.equal('nosniff');
    expect(refused.headers.get('cache-control')).to.equal('no-store');
    const written = await a.client.post('/contracts', { title: 'x'.repeat(100_000) });
    expect([written.status, written.body]).to.deep.equal([503, REFUSED]);
    mayBegin = true;
    expect((await waiting).status).to.equal(200);
    expect((await a.client.get('/contracts')).status).to.equal(200);
    expect(await refusals()).to.deep.equal({ arrival: (before['arrival'] ?? 0) + 2, turn: before['turn'] });
    expect(server.logged.map(({ msg }) => msg)).to.include(
      'overloaded: requests are refused, because they would wait too long',
    );
  });

  it('refuses no request of another organisation', async () => {
    mayBegin = false;
    const waiting = [a.client.get('/contracts')];
    await sleep(900);
    waiting.push(b.client.get('/contracts'));
    expect((await a.client.get('/contracts')).status).to.equal(503);
    mayBegin = true;
    expect((await Promise.all(waiting)).map(({ status }) => status)).to.deep.equal([200, 200]);
  });

  it('still answers health, sign-in and who is signed in', async () => {
    mayBegin = false;
    const waiting = a.client.get('/contracts');
    await sleep(900);
    expect((await server.client.get('/health')).status).to.equal(200);
    expect((await server.client.raw('/readyz')).status).to.equal(200);
    expect((await a.client.get('/auth/me')).status).to.equal(200);
    expect(await signIn(server.client, { tenant: a.tenant, member: a.owner })).to.have.nested.property('result.user');
    mayBegin = true;
    expect((await waiting).status).to.equal(200);
  });

  it('checks the token of what it cannot refuse by it', async () => {
    mayBegin = false;
    const waiting = a.client.get('/contracts');
    await sleep(900);
    const before = await refusals();
    const fresh = await signIn(server.client, { tenant: a.tenant, member: a.owner });
    expect((await server.client.as('no token').get('/contracts')).status).to.equal(401);
    // A token of which no request has waited.
    expect((await fresh.client.get('/contracts')).status).to.equal(503);
    const elsewhere = await a.client.get('/contracts', { headers: { Origin: 'https://elsewhere.test' } });
    expect(elsewhere.status).to.equal(503);
    expect(await refusals()).to.deep.equal({ arrival: before['arrival'], turn: (before['turn'] ?? 0) + 2 });
    mayBegin = true;
    expect((await waiting).status).to.equal(200);
  });
});
