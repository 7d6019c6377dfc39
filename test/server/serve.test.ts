import { expect } from 'chai';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createLifecycle } from '../../data-plane-agent/base/lifecycle.js';
import { createLog } from '../../data-plane-agent/base/log.js';
import { systemClock } from '../../data-plane-agent/base/clock.js';
import { openDatabase } from '../../data-plane-agent/base/database/open.js';
import { loadServerConfig } from '../../server/config-load.js';
import { createHealth } from '../../server/services/health.js';
import { serve } from '../../server/serve.js';
import { client as clientOf, type DomainError } from '../support/http.js';
import { freePort } from '../support/guardian.js';
import { forEachServer, startServer } from '../support/server.js';

const ID = '01890000-0000-7000-8000-00000000000a';
const owner = (slug: string) => ({
  tenantName: 'Acme Leasing',
  tenantSlug: slug,
  adminName: 'Ann',
  email: 'Ann@Acme.test',
  password: 'correct horse battery',
});

describe('the composed service', () => {
  forEachServer((server) => {
    it('answers probes and health', async () => {
      const { client } = server();
      expect((await client.raw('/livez')).body).to.deep.equal({ status: 'ok' });
      expect((await client.raw('/readyz')).status).to.equal(200);
      const health = await client.get<Record<string, string>>('/health');
      expect(health.status).to.equal(200);
      expect(health.body).to.include({
        status: 'ok',
        edition: 'self_hosted',
        platformDb: 'up',
        tenantDb: 'up',
        scanner: 'off',
      });
      expect(Object.keys(health.body)).to.have.members([
        'status',
        'edition',
        'platformDb',
        'tenantDb',
        'scanner',
        'time',
        'isolate',
      ]);
      expect((await client.get('/health', { query: 'x=1' })).status).to.equal(400);
    });

    it('shows the public signing key only', async () => {
      const { body } = await server().client.raw<{ keys: Record<string, string>[] }>('/.well-known/jwks.json');
      expect(body.keys).to.have.length(1);
      expect(body.keys[0]).to.include({ kty: 'OKP', crv: 'Ed25519' });
      expect(body.keys[0]).not.to.have.property('d');
    });

    it('lets an owner register and access contract data', async () => {
      const registered = await server().client.post<{ accessToken: string }>('/auth/register', owner('acme'));
      expect(registered.status, registered.text).to.equal(201);
      expect(registered.headers.get('set-cookie')).to.match(
        /^service_tenant_refresh=[^;]+; Path=\/api\/v1\/auth; Max-Age=2592000; HttpOnly; SameSite=Strict$/,
      );
      const signedIn = server().client.as(registered.body.accessToken);
      expect((await signedIn.get('/auth/me')).status).to.equal(200);
      expect((await signedIn.get(`/contracts/${ID}`)).text).to.equal(
        '{"statusCode":404,"message":"Not Found","error":"Not Found"}',
      );
      const line = server().logged.find(({ route }) => route === '/contracts/:id');
      expect(line?.['tenantId']).to.match(/^[0-9a-f-]{36}$/);
    });
  });

  describe('with its configuration', () => {
    const undo: (() => Promise<void> | void)[] = [];
    afterEach(async () => {
      for (const step of undo.splice(0).toReversed()) await step();
    });
    const started = async (env: Record<string, string>) => {
      const server = await startServer({ env });
      undo.push(server.stop);
      return server;
    };
    const folder = () => {
      const home = mkdtempSync(join(tmpdir(), 'duebook-serve-'));
      undo.push(() => rmSync(home, { recursive: true, force: true }));
      return home;
    };

    it('accesses contract data through agents in the hybrid edition: without an agent every call is refused, without a fallback', async () => {
      const server = await started({ EDITION: 'enterprise_hybrid' });
      const { body } = await server.client.post<{ accessToken: string; user: { id: string } }>(
        '/auth/register',
        owner('hybrid'),
      );
      await server.services.tenants.operator.setPlan(
        { slug: 'hybrid', planCode: 'enterprise' },
        { kind: 'cli', id: null, name: 'test', requestId: 'test', ip: null },
      );
      const answer = await server.client.as(body.accessToken).get<DomainError>(`/contracts/${ID}`);
      expect([answer.status, answer.body.error.code]).to.deep.equal([409, 'DATA_PLANE_NOT_CONNECTED']);
      expect((await server.client.get('/health')).body).to.include({
        status: 'ok',
        edition: 'enterprise_hybrid',
        tenantDb: 'up',
      });
    });

    it('sets Secure on cookies if the public address is https', async () => {
      const server = await started({ PUBLIC_URL: 'https://book.test' });
      const { headers } = await server.client.post('/auth/register', owner('secure'));
      expect(headers.get('set-cookie')).to.match(
        /^service_tenant_refresh=[^;]+; Path=\/api\/v1\/auth; Max-Age=2592000; HttpOnly; SameSite=Strict; Secure$/,
      );
    });

    it('is ready after what is done before the first request, and drains before it stops: not ready, then unreachable', async () => {
      const home = folder();
      const loaded = await loadServerConfig({ DATA_DIR: home, PORT: '0' });
      if (!loaded.ok) throw new Error('a default configuration is not at fault');
      const log = createLog({ level: 'silent', name: 'test' });
      const lifecycle = createLifecycle({ log });
      undo.push(async () => void (await lifecycle.stop('test')));
      const states: string[] = [];
      const beforeFirst = () => void states.push(lifecycle.state);
      const { port } = await serve(loaded.config, { clock: systemClock, log, lifecycle, beforeFirst });
      const client = clientOf(`http://127.0.0.1:${port}`);
      expect([...states, lifecycle.state]).to.deep.equal(['starting', 'ready']);
      // Registered last in the phase before the listener closes, so it runs during the drain.
      let seen: number | undefined;
      lifecycle.onStop('look', 'drain', async () => {
        seen = (await client.raw('/readyz')).status;
      });
      expect(await lifecycle.stop('test')).to.equal(0);
      expect(seen).to.equal(503);
      expect(
        await client.raw('/livez').then(
          () => 'answers',
          () => 'gone',
        ),
      ).to.equal('gone');
    });

    it('is alive but not ready during migrations, and refuses all other requests', async () => {
      const home = folder();
      const url = `sqlite:${join(home, 'platform.db')}`;
      const port = await freePort();
      const client = clientOf(`http://127.0.0.1:${port}`);
      const database = await openDatabase(url, { poolMax: 1 });
      undo.push(() => database.close());
      let starting: Promise<unknown> = Promise.resolve();
      // Another migration holds the lock, so the server has to wait.
      await database.exclusive(async () => {
        starting = started({ PLATFORM_DATABASE_URL: url, PORT: String(port) });
        for (;;) {
          const answer = await client.raw('/livez').catch(() => undefined); // it does not listen yet
          if (answer) break;
        }
        const [ready, api] = [await client.raw('/readyz'), await client.get('/health')];
        expect([ready.status, ready.headers.get('retry-after')]).to.deep.equal([503, '1']);
        expect([api.status, api.body]).to.deep.equal([
          503,
          { statusCode: 503, message: 'Starting', error: 'Service Unavailable' },
        ]);
      });
      await starting;
      expect((await client.raw('/readyz')).status).to.equal(200);
    });

    it('refuses a database that a newer program has migrated', async () => {
      const url = `sqlite:${join(folder(), 'platform.db')}`;
      await (await startServer({ env: { PLATFORM_DATABASE_URL: url } })).stop();
      const database = await openDatabase(url, { poolMax: 1 });
      await database.exclusive((connection) =>
        connection.run('INSERT INTO schema_migrations (id, checksum) VALUES (?, ?)', ['9999-later', 'x']),
      );
      await database.close();
      expect(await started({ PLATFORM_DATABASE_URL: url }).then(() => 'started', String)).to.contain(
        'migrated by a newer program (9999-later)',
      );
    });
  });
});

describe('the health record', () => {
  it('is degraded when a database does not respond, and queries each at limited intervals', async () => {
    let asked = 0;
    const health = createHealth({
      edition: 'saas',
      clock: { now: () => Date.UTC(2026, 2, 31) },
      platformDb: () => Promise.resolve(true),
      tenantDb: () => {
        asked += 1;
        return Promise.reject(new Error('refused'));
      },
      scanner: () => 'down',
    });
    expect(await health.record()).to.include({
      status: 'degraded',
      edition: 'saas',
      platformDb: 'up',
      tenantDb: 'down',
      scanner: 'down',
      time: '2026-03-31T00:00:00.000Z',
    });
    await health.record();
    expect(asked).to.equal(1);
  });
});
