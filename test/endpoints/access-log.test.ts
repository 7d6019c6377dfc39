import { expect } from 'chai';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openDatabase } from '../../data-plane-agent/base/database/open.js';
import { makeMember, makeTenant, PASSWORD, signIn } from '../support/accounts.js';
import { forEachServer, startServer } from '../support/server.js';

describe('the request log', () => {
  forEachServer(
    (server) => {
      const lineOf = async (requestId: string): Promise<Record<string, unknown>> => {
        // The line is written when the connection has accepted the answer, which may be after the client sees it.
        for (;;) {
          const line = server().logged.find((one) => one['requestId'] === requestId && one['msg'] === 'request');
          if (line) return line;
          await new Promise((resolve) => setImmediate(resolve));
        }
      };

      it('contains the ids of the caller and the session, and the address', async () => {
        const { tenant, owner } = await makeTenant(server().services);
        const { client } = await signIn(server().client, { tenant, member: owner });
        const sessions = await client.get<{ id: string; current: boolean }[]>('/auth/sessions');
        const current = sessions.body.find((session) => session.current);
        await client.get('/contracts?q=secret-search', {
          headers: { 'X-Request-Id': 'request-in-session', 'X-Forwarded-For': '203.0.113.9' },
        });
        const line = await lineOf('request-in-session');
        expect(Object.keys(line).toSorted()).to.deep.equal([
          'hostname',
          'ip',
          'level',
          'method',
          'ms',
          'msg',
          'name',
          'pid',
          'requestId',
          'route',
          'sessionId',
          'status',
          'tenantId',
          'time',
          'userId',
        ]);
        expect(line).to.include({
          tenantId: tenant.id,
          userId: owner.id,
          sessionId: current?.id,
          ip: '203.0.113.9',
          method: 'GET',
          route: '/contracts',
          status: 200,
        });
        for (const never of [owner.email, owner.name, tenant.slug, tenant.name, 'secret-search'])
          expect(JSON.stringify(line)).not.to.contain(never);
      });

      it('contains them for a refused request too', async () => {
        const made = await makeTenant(server().services);
        const member = await makeMember(server().services, made);
        const { client } = await signIn(server().client, { tenant: made.tenant, member });
        await client.get('/tenant-admin/members', { headers: { 'X-Request-Id': 'request-refused-1' } });
        expect(await lineOf('request-refused-1')).to.include({
          status: 403,
          tenantId: made.tenant.id,
          userId: member.id,
        });
      });

      it('contains only the address of an unauthenticated client', async () => {
        await server().client.post(
          '/auth/login',
          { tenantSlug: 'nowhere', email: 'typed@secret.test', password: PASSWORD },
          { headers: { 'X-Request-Id': 'request-anonymous', 'X-Forwarded-For': '203.0.113.10' } },
        );
        const line = await lineOf('request-anonymous');
        expect(line).to.include({ ip: '203.0.113.10', status: 401 });
        expect(line).not.to.have.any.keys('userId', 'sessionId', 'tenantId');
        expect(JSON.stringify(line)).not.to.contain('secret');
      });
    },
    { env: { TRUST_PROXY: '1' } },
  );
});

describe('a server that shuts down', () => {
  it('first writes the counted refusals to the database', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'duebook-refusals-'));
    try {
      const server = await startServer({ env: { DATA_DIR: folder } });
      const made = await makeTenant(server.services);
      const { client } = await signIn(server.client, {
        tenant: made.tenant,
        member: await makeMember(server.services, made),
      });
      for (let n = 0; n < 7; n++) expect((await client.get('/tenant-admin/members')).status).to.equal(403);
      await server.stop();
      const database = await openDatabase(`sqlite:${join(folder, 'platform.db')}`, { poolMax: 1 });
      const rows = await database.read({ tenantId: null }, (tx) => tx.all('SELECT times FROM audit_repeats'));
      await database.close();
      expect(rows).to.deep.equal([{ times: 6 }]);
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  });
});
