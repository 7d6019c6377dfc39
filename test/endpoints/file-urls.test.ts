import { expect } from 'chai';
import { randomBytes } from 'node:crypto';
import type { ObjectStore } from '../../data-plane-agent/plane/files/objects/object-store.js';
import { filesOf } from '../support/file-server.js';
import { startServer, type TestServer } from '../support/server.js';

const ORIGIN = 'https://pages.example.com';

describe('signed links to files on the server', () => {
  let server: TestServer;
  before(async () => {
    server = await startServer({ env: { CORS_ORIGINS: ORIGIN } });
  });
  after(() => server.stop());

  const store = (): ObjectStore => filesOf(server).objects;
  /** The address of the test server differs from PUBLIC_URL. */
  const here = (link: string): string => {
    const { pathname, search } = new URL(link);
    return `${server.url}${pathname}${search}`;
  };
  const upload = (key: string, sizeBytes: number) =>
    store().uploadUrl({ key, contentType: 'application/pdf', sizeBytes, expiresAt: Date.now() + 60_000 });

  it('begin with PUBLIC_URL, outside the API', async () => {
    expect((await upload('uploads/t/a', 1)).url).to.match(
      new RegExp(`^${server.config.publicUrl}/files/uploads/t/a\\?`),
    );
  });

  it('accept and return bytes, with the headers of every other answer', async () => {
    const bytes = randomBytes(500_000);
    const { url, headers } = await upload('uploads/t/b', bytes.length);
    const put = await fetch(here(url), { method: 'PUT', headers: { ...headers }, body: new Uint8Array(bytes) });
    expect([put.status, await put.text()]).to.deep.equal([200, '']);
    const link = await store().downloadUrl({
      key: 'uploads/t/b',
      fileName: '合同.pdf',
      contentType: 'application/pdf',
      expiresAt: Date.now() + 60_000,
    });
    const got = await fetch(here(link));
    expect(Buffer.from(await got.arrayBuffer())).to.deep.equal(bytes);
    expect(got.headers.get('content-security-policy')).to.equal("default-src 'none'; sandbox");
    expect(got.headers.get('cache-control')).to.equal('private, no-store');
    expect(got.headers.get('x-content-type-options')).to.equal('nosniff');
    expect(got.headers.get('x-request-id')).to.be.a('string');
    expect(got.headers.get('strict-transport-security')).to.be.a('string');
  });

  it('let pages of the listed origins send a file', async () => {
    const { url, headers } = await upload('uploads/t/c', 3);
    const preflight = await fetch(here(url), {
      method: 'OPTIONS',
      headers: {
        Origin: ORIGIN,
        'Access-Control-Request-Method': 'PUT',
        'Access-Control-Request-Headers': 'content-type',
      },
    });
    expect(preflight.status).to.equal(204);
    expect(preflight.headers.get('access-control-allow-origin')).to.equal(ORIGIN);
    expect(preflight.headers.get('access-control-allow-methods')).to.contain('PUT');
    expect(preflight.headers.get('access-control-allow-headers')).to.equal('content-type');
    const put = await fetch(here(url), { method: 'PUT', headers: { ...headers, Origin: ORIGIN }, body: 'abc' });
    expect([put.status, put.headers.get('access-control-allow-origin')]).to.deep.equal([200, ORIGIN]);
    const refused = await fetch(here(url), { method: 'PUT', headers: { ...headers, Origin: ORIGIN }, body: 'abcd' });
    expect([refused.status, refused.headers.get('access-control-allow-origin')]).to.deep.equal([413, ORIGIN]);
    const otherTenant = await fetch(here(url), {
      method: 'PUT',
      headers: { ...headers, Origin: 'https://evil.example.com' },
      body: 'abc',
    });
    expect(otherTenant.headers.get('access-control-allow-origin')).to.equal(null);
  });

  it('are refused in the format of every other error, without revealing what is stored', async () => {
    const { url, headers } = await upload('uploads/t/d', 3);
    const wrong = await fetch(here(url), { method: 'PUT', headers: { ...headers }, body: 'ab' });
    expect([wrong.status, await wrong.json()]).to.deep.equal([
      400,
      { statusCode: 400, message: 'The upload must have exactly 3 bytes', error: 'Bad Request' },
    ]);
    const refusals = new Set<string>();
    for (const path of [
      '/files/',
      '/files/uploads/t/b',
      '/files/uploads/t/none',
      '/files/%2fetc/passwd',
      `${new URL(url).pathname}?signature=x`,
    ]) {
      for (const method of ['GET', 'PUT', 'DELETE', 'POST']) {
        const answer = await fetch(`${server.url}${path}`, { method });
        refusals.add(`${answer.status} ${await answer.text()}`);
      }
    }
    expect([...refusals]).to.deep.equal([
      '403 {"statusCode":403,"message":"The link is not valid or has expired","error":"Forbidden"}',
    ]);
  });

  it('are not logged', () => {
    expect(JSON.stringify(server.logged)).to.contain('/files/:key').and.not.contain('signature=');
  });

  it('let the server start with a warning if the store denies an operation', async () => {
    const broken = await startServer({ env: { OBJECT_STORE_URL: 's3://key:planted@127.0.0.1:1/bucket?tls=false' } });
    try {
      expect((await broken.client.get('/health')).status).to.equal(200);
      while (!broken.logged.some(({ step }) => step === 'reach')) await new Promise((resolve) => setImmediate(resolve));
      expect(JSON.stringify(broken.logged)).not.to.contain('planted');
      expect((await fetch(`${broken.url}/files/uploads/t/a`)).status).to.equal(404);
    } finally {
      await broken.stop();
    }
  });
});
