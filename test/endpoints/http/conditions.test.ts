import { expect } from 'chai';
import { s } from '../../../data-plane-agent/base/schema.js';
import type { Plane } from '../../../server/data-planes/plane.js';
import { endpoint } from '../../../server/http/endpoint.js';
import { tagged } from '../../../server/http/reply.js';
import type { FrameworkError } from '../../support/http.js';
import { caller, littleApp, type LittleApp } from '../../support/little-app.js';

const ID = '01890000-0000-7000-8000-00000000000a';
const Record = s.object({ version: s.integer(), name: s.text() });
const body = s.object({ name: s.text(), more: s.optional(s.free()) });
/** Stands for any endpoint that uses its tenant's data plane. */
const touch = (plane: Partial<Plane>) => void plane;

const endpoints = {
  change: endpoint('PATCH /things/:id', {
    summary: 'Change',
    needs: 'signed_in',
    body,
    returns: Record,
    calls: ['getContract'],
    fails: [],
    run: ({ body: sent, plane }) => {
      touch(plane);
      return Promise.resolve(tagged({ version: 8, name: sent.name }));
    },
  }),
  read: endpoint('GET /things/:id', {
    summary: 'Read',
    needs: 'signed_in',
    returns: Record,
    calls: ['getContract'],
    fails: [],
    run: ({ plane }) => {
      touch(plane);
      return Promise.resolve({ version: 7, name: 'x' });
    },
  }),
  preferences: endpoint('PATCH /auth/preferences', {
    summary: 'Prefer',
    needs: 'signed_in',
    body,
    returns: Record,
    calls: ['getContract'],
    fails: [],
    run: ({ plane }) => {
      touch(plane);
      return Promise.resolve({ version: 1, name: 'x' });
    },
  }),
};

describe('conditions of a write', () => {
  let app: LittleApp;
  before(async () => {
    const other = caller();
    app = await littleApp(endpoints, {
      callers: {
        good: caller(),
        other: { ...other, user: { ...other.user, id: '01890000-0000-7000-8000-00000000000f' } },
      },
    });
  });
  after(() => app.stop());

  const change = (
    headers: Record<string, string>,
    {
      sent = { name: 'x' },
      path = `/things/${ID}`,
      token = 'good',
    }: { sent?: unknown; path?: string; token?: string } = {},
  ) => app.client.as(token).patch<FrameworkError>(path, sent, { headers });
  const lastCall = () => app.calls.at(-1);
  const keyOf = async (...args: Parameters<typeof change>) => {
    expect((await change(...args)).status).to.equal(200);
    return lastCall()?.idempotency;
  };

  it('come from If-Match, strong or weak; `*` is no condition', async () => {
    for (const [sent, version] of [
      ['"7"', 7],
      ['W/"7"', 7],
      ['*', null],
      [' "12" ', 12],
    ] as const) {
      expect((await change({ 'If-Match': sent })).status).to.equal(200);
      expect(lastCall()?.ifVersion, sent).to.equal(version);
    }
    await change({});
    expect(lastCall()).to.include({ ifVersion: null, idempotency: null });
  });

  it('are refused if malformed, together with bad fields', async () => {
    for (const sent of ['7', '"x"', '"7", "8"', '"-1"', '"0"', '']) {
      expect((await change({ 'If-Match': sent })).body, sent).to.deep.equal({
        statusCode: 400,
        message: ['If-Match must be one entity tag, such as "7", or *'],
        error: 'Bad Request',
      });
    }
    for (const sent of ['short', 'x'.repeat(256), 'tab\tinside']) {
      expect((await change({ 'Idempotency-Key': sent })).body.message, sent).to.deep.equal([
        'Idempotency-Key must be 8 to 255 printable ASCII characters',
      ]);
    }
    expect((await change({ 'Idempotency-Key': 'short', 'If-Match': '7' }, { sent: {} })).body.message).to.have.length(
      3,
    );
  });

  it('consist of one key of user, method, path and key, and one hash of the body whatever its order', async () => {
    const key = { 'Idempotency-Key': 'key-number-1' };
    const first = await keyOf(key, { sent: { name: 'x', more: { a: 1, b: [1, 2] } } });
    expect(first?.key).to.match(/^[0-9a-f]{64}$/);
    expect(
      await keyOf(key, { sent: { more: { b: [1, 2], a: 1 }, name: 'x' } }),
      'same body, in another order',
    ).to.deep.equal(first);
    const otherBody = await keyOf(key, { sent: { name: 'y' } });
    expect(otherBody?.key).to.equal(first?.key);
    expect(otherBody?.requestHash).not.to.equal(first?.requestHash);
    const keys = new Set([first?.key]);
    keys.add((await keyOf({ 'Idempotency-Key': 'key-number-2' }))?.key);
    keys.add((await keyOf(key, { path: `/things/${ID.replace('a', 'b')}` }))?.key);
    keys.add((await keyOf(key, { token: 'other' }))?.key);
    expect(keys.size).to.equal(4);
  });

  it('are ignored on reads, and keys also under /auth', async () => {
    await app.client.as('good').get(`/things/${ID}`, { headers: { 'Idempotency-Key': 'bad', 'If-Match': 'bad' } });
    expect(lastCall()).to.include({ ifVersion: null, idempotency: null });
    expect((await change({ 'Idempotency-Key': 'key-number-1' }, { path: '/auth/preferences' })).status).to.equal(200);
    expect(lastCall()?.idempotency).to.equal(null);
  });

  it('appear in the answer: the version as its tag, and whether it was stored', async () => {
    const fresh = await change({});
    expect(fresh.headers.get('etag')).to.equal('"8"');
    expect(fresh.headers.get('idempotency-replayed')).to.equal(null);
    const replaying = await littleApp(endpoints, {
      api: {
        planeFor: ({ onReplay }) => {
          onReplay();
          return {} as Plane;
        },
      },
    }); // no operation is called
    expect(
      (await replaying.client.as('good').patch(`/things/${ID}`, { name: 'x' })).headers.get('idempotency-replayed'),
    ).to.equal('true');
    await replaying.stop();
  });
});
