import { expect } from 'chai';
import { once } from 'node:events';
import { s } from '../../../data-plane-agent/base/schema.js';
import { callOf } from '../../../server/data-planes/call.js';
import { endpoint } from '../../../server/http/endpoint.js';
import { littleApp, type LittleApp } from '../../support/little-app.js';
import { until } from '../../support/file-server.js';
import { makeTenant, signIn } from '../../support/accounts.js';
import { needsPostgres } from '../../support/postgres.js';
import { startServer, type TestServer } from '../../support/server.js';

const Ok = s.object({ ok: s.flag() });
const waiting = async (plane: object) => {
  void plane; // the endpoint uses contract data
  await new Promise<void>((resolve) => held.push(resolve));
  return { ok: true };
};
const held: (() => void)[] = [];

const endpoints = {
  look: endpoint('GET /things', {
    summary: 'Look',
    needs: 'signed_in',
    returns: Ok,
    calls: ['listContracts'],
    fails: [],
    run: ({ plane }) => waiting(plane),
  }),
  change: endpoint('POST /things', {
    summary: 'Change',
    needs: 'signed_in',
    returns: Ok,
    timeoutMs: 60_000,
    calls: ['deleteContract'],
    fails: [],
    run: ({ plane }) => waiting(plane),
  }),
};

describe('the deadline that the data plane receives', () => {
  let app: LittleApp;
  before(async () => {
    app = await littleApp(endpoints);
  });
  afterEach(() => {
    for (const release of held.splice(0)) release();
  });
  after(() => app.stop());

  /** Sends a request, and disconnects once the endpoint runs. */
  const askAndLeave = async (method: 'GET' | 'POST') => {
    const leaving = new AbortController();
    const before = app.calls.length;
    const asked = fetch(`${app.client.origin}/api/v1/things`, {
      method,
      headers: { Authorization: 'Bearer good' },
      signal: leaving.signal,
    }).catch(() => 'gone');
    await until(
      () => Promise.resolve(app.calls.length),
      (calls) => calls > before,
    );
    leaving.abort();
    expect(await asked).to.equal('gone');
    return app.calls.at(-1);
  };

  it('ends a read when the client disconnects, and lets a write finish', async () => {
    const read = await askAndLeave('GET');
    if (read?.signal && !read.signal.aborted) await once(read.signal, 'abort');
    expect(read?.signal?.aborted).to.equal(true);
    expect(await askAndLeave('POST')).to.have.property('signal', undefined);
  });

  it('includes the allowed operations, and the time limit of each', async () => {
    const [change, look] = [await askAndLeave('POST'), await askAndLeave('GET')];
    expect(change).to.deep.include({ calls: ['deleteContract'], timeoutMs: 60_000 });
    expect(look).to.deep.include({ calls: ['listContracts'], timeoutMs: undefined });
    if (!change || !look) throw new Error('expected two requests');
    expect([callOf(change).timeoutMs, callOf(look).timeoutMs]).to.deep.equal([60_000, 10_000]);
  });
});

describe('a client that disconnects', () => {
  needsPostgres();
  let server: TestServer;
  before(async () => {
    server = await startServer({ database: 'postgres' });
  });
  after(() => server.stop());

  it('ends its statement in the database', async () => {
    const made = await makeTenant(server.services);
    const { result } = await signIn(server.client, { tenant: made.tenant, member: made.owner });
    const { tenant: database } = server.foundation;
    if (!database) throw new Error('expected a tenant database');
    const scope = { tenantId: made.tenant.id };
    const waiters = () =>
      database.read(scope, async (tx) =>
        Number(
          (await tx.get("SELECT count(*) AS n FROM pg_locks WHERE NOT granted AND relation = 'contracts'::regclass"))?.[
            'n'
          ],
        ),
      );
    const unlocked = Promise.withResolvers<void>();
    const locked = database.write(scope, async (tx) => {
      await tx.all('LOCK TABLE contracts IN ACCESS EXCLUSIVE MODE');
      await unlocked.promise;
    });
    const leaving = new AbortController();
    const asked = fetch(`${server.url}/api/v1/contracts`, {
      headers: { Authorization: `Bearer ${result.accessToken}` },
      signal: leaving.signal,
    }).catch(() => 'gone');
    await until(waiters, (n) => n === 1);
    leaving.abort();
    expect(await asked).to.equal('gone');
    await until(waiters, (n) => n === 0);
    unlocked.resolve();
    await locked;
  });
});
