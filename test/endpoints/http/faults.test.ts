import { expect } from 'chai';
import { connect } from 'node:net';
import { once } from 'node:events';
import { DatabaseError } from '../../../data-plane-agent/base/database/errors.js';
import { fail } from '../../../data-plane-agent/base/failures.js';
import { s } from '../../../data-plane-agent/base/schema.js';
import { endpoint } from '../../../server/http/endpoint.js';
import { reply } from '../../../server/http/reply.js';
import { speak, type FrameworkError } from '../../support/http.js';
import { littleApp, type LittleApp } from '../../support/little-app.js';

let failure: () => unknown = () => undefined;
let answer: () => unknown = () => ({ ok: true });
let arrived: () => void = () => undefined;
let release: Promise<void> = Promise.resolve();

const endpoints = {
  act: endpoint('GET /act', {
    summary: 'Act',
    needs: 'public',
    returns: s.object({ ok: s.flag() }),
    fails: [],
    run: async () => {
      arrived();
      await release;
      const thrown = failure();
      if (thrown !== undefined) throw thrown;
      return answer() as { ok: boolean };
    },
  }),
  upload: endpoint('POST /upload', {
    summary: 'Upload',
    needs: 'public',
    body: s.object({ text: s.longText() }),
    returns: s.object({ ok: s.flag() }),
    fails: [],
    run: () => Promise.resolve({ ok: true }),
  }),
  signOut: endpoint('POST /auth/out', {
    summary: 'Sign out',
    needs: 'public',
    returns: s.object({ ok: s.flag() }),
    fails: [],
    run: () =>
      Promise.resolve(
        reply(
          { ok: true },
          { status: 200, headers: { ETag: '"3"' }, cookie: { name: 'c', value: 'a b', path: '/api', maxAgeMs: 0 } },
        ),
      ),
  }),
};

describe('faults', () => {
  let app: LittleApp;
  before(async () => {
    app = await littleApp(endpoints);
  });
  after(() => app.stop());
  beforeEach(() => {
    failure = () => undefined;
    answer = () => ({ ok: true });
    arrived = () => undefined;
    release = Promise.resolve();
  });

  const act = () => app.client.get<FrameworkError>('/act', { headers: { 'X-Request-Id': 'request-0001' } });

  it('that are unexpected are 500 with the request id only, and are logged with their stack', async () => {
    for (const thrown of [
      new Error('table contracts is secret'),
      new TypeError('x'),
      'a text',
      null,
      { status: 404, message: 'not found' },
      new DatabaseError('unique', 'secret_index', undefined),
    ]) {
      failure = () => thrown;
      const { status, text, headers } = await act();
      expect(status).to.equal(500);
      expect(text).to.equal(
        '{"statusCode":500,"message":"Internal server error (request request-0001)","error":"Internal Server Error"}',
      );
      expect(headers.get('x-request-id')).to.equal('request-0001');
      expect(headers.get('x-content-type-options')).to.equal('nosniff');
    }
    const line = app.logged.find(
      ({ msg, err }) => msg === 'unexpected error' && JSON.stringify(err).includes('table contracts'),
    );
    expect(line).to.deep.include({ level: 50, requestId: 'request-0001', route: '/act' });
    expect(JSON.stringify(line?.['err'])).to.contain('faults.test.ts');
  });

  it('of an unreachable, slow or busy database are 503', async () => {
    for (const problem of ['unreachable', 'timeout', 'busy'] as const) {
      failure = () => new DatabaseError(problem, undefined, undefined);
      const { status, headers, body } = await act();
      expect(status).to.equal(503);
      expect(headers.get('retry-after')).to.equal('5');
      expect(body).to.deep.equal({ statusCode: 503, message: 'Service Unavailable', error: 'Service Unavailable' });
    }
  });

  it('of the catalogue have the documented format', async () => {
    failure = () => fail('CONTRACT_LOCKED', { fields: ['partyA'] });
    expect(await act()).to.deep.include({
      status: 409,
      body: {
        error: {
          code: 'CONTRACT_LOCKED',
          message: 'The contract is locked, so its core fields cannot be changed.',
          details: { fields: ['partyA'] },
        },
      },
    });
    failure = () => fail('DATA_PLANE_UNAVAILABLE', { retryAfterSeconds: 3 });
    expect((await act()).headers.get('retry-after')).to.equal('3');
    failure = () => fail('RATE_LIMITED', { retryAfterSeconds: 30 });
    const limited = await act();
    expect(limited).to.deep.include({
      status: 429,
      body: { statusCode: 429, message: 'Too Many Requests', error: 'Too Many Requests' },
    });
    expect([
      limited.headers.get('retry-after'),
      limited.headers.get('ratelimit-remaining'),
      limited.headers.get('ratelimit-reset'),
    ]).to.deep.equal(['30', '0', '30']);
    failure = () => fail('UNAUTHENTICATED', { message: 'Invalid credentials' });
    expect((await act()).body).to.deep.equal({
      statusCode: 401,
      message: 'Invalid credentials',
      error: 'Unauthorized',
    });
  });

  it('in an answer that violates its schema are 500 if answers are checked', async () => {
    for (const wrong of [{ ok: 'yes' }, { ok: true, more: 1 }, {}, { ok: undefined }]) {
      answer = () => wrong;
      expect((await act()).status).to.equal(500);
    }
    answer = () => ({ ok: 1n }); // not representable as JSON
    expect((await act()).status).to.equal(500);
  });

  it('of a client that disconnects are not logged as errors', async () => {
    const socket = connect(Number(new URL(app.client.origin).port), '127.0.0.1');
    let releaseFailure: () => void = () => undefined;
    release = new Promise((resolve) => (releaseFailure = resolve));
    const inside = new Promise<void>((resolve) => (arrived = resolve));
    failure = () => new Error('the client has disconnected');
    socket.write('GET /api/v1/act HTTP/1.1\r\nHost: x\r\nX-Request-Id: gone-away-1\r\n\r\n');
    await inside;
    socket.destroy();
    await until(() => app.logged.some(({ requestId, aborted }) => requestId === 'gone-away-1' && aborted === true));
    releaseFailure();
    await until(() =>
      app.logged.some(({ requestId, msg }) => requestId === 'gone-away-1' && msg === 'client disconnected'),
    );
    expect(
      app.logged.filter(({ requestId, level }) => requestId === 'gone-away-1' && Number(level) > 30),
    ).to.deep.equal([]);
  });

  it('of a client that disconnects within its body are not logged either', async () => {
    const socket = connect(Number(new URL(app.client.origin).port), '127.0.0.1');
    socket.write(
      'POST /api/v1/upload HTTP/1.1\r\nHost: x\r\nX-Request-Id: gone-away-2\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{"text":',
    );
    await once(socket, 'connect');
    socket.destroySoon();
    await until(() => app.logged.some(({ requestId, msg }) => requestId === 'gone-away-2' && msg === 'request'));
    expect(
      app.logged.filter(({ requestId, level }) => requestId === 'gone-away-2' && Number(level) > 30),
    ).to.deep.equal([]);
    failure = () => undefined;
    expect((await act()).status).to.equal(200);
  });

  it('in malformed HTTP are answered in the same format, and the connection is closed', async () => {
    for (const [bytes, status, text] of [
      ['GARBAGE\r\n\r\n', 400, 'Bad Request'],
      ['GET /api/v1/act HTTP/1.1\r\nHost: x\r\nBad Header: y\r\n\r\n', 400, 'Bad Request'],
      [
        `GET /api/v1/act HTTP/1.1\r\nHost: x\r\nX-Long: ${'x'.repeat(70_000)}\r\n\r\n`,
        431,
        'Request Header Fields Too Large',
      ],
      [
        'POST /api/v1/upload HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n',
        400,
        'Bad Request',
      ],
    ] as const) {
      const response = await speak(app.client.origin, bytes);
      expect(response).to.match(new RegExp(`^HTTP/1.1 ${status} ${text}\r\n`));
      expect(response)
        .to.match(/\r\nX-Content-Type-Options: nosniff\r\n/)
        .and.match(/\r\nX-Request-Id: [0-9a-f-]{36}\r\n/);
      expect(JSON.parse(response.slice(response.indexOf('\r\n\r\n') + 4))).to.deep.equal({
        statusCode: status,
        message: text,
        error: text,
      });
    }
  });

  it('in the Host header are 400', async () => {
    for (const host of [
      '',
      'Host: x\r\nHost: y\r\n',
      'Host: x\r\nHost: x\r\n',
      'Host: a b\r\n',
      'Host: a/b\r\n',
      'Host: <x>\r\n',
    ]) {
      const response = await speak(app.client.origin, `GET /api/v1/act HTTP/1.1\r\n${host}Connection: close\r\n\r\n`);
      expect(response, host)
        .to.match(/^HTTP\/1.1 400 /)
        .and.contain('"message":"The Host header is missing or invalid"');
    }
    expect(
      await speak(app.client.origin, 'GET /api/v1/act HTTP/1.1\r\nHost: [::1]:8080\r\nConnection: close\r\n\r\n'),
    ).to.match(/^HTTP\/1.1 200 /);
  });

  it('do not affect the headers of a successful answer', async () => {
    const { headers } = await app.client.post('/auth/out');
    expect(headers.get('etag')).to.equal('"3"');
    expect(headers.get('set-cookie')).to.equal('c=a%20b; Path=/api; Max-Age=0; HttpOnly; SameSite=Strict');
  });
});

/** Waits for the effect of an event on the other side. */
async function until(happened: () => boolean): Promise<void> {
  while (!happened()) await new Promise((resolve) => setTimeout(resolve, 5));
}
