import { expect } from 'chai';
import { setTimeout as sleep } from 'node:timers/promises';
import { systemClock } from '../../data-plane-agent/base/clock.js';
import { newId } from '../../data-plane-agent/base/ids.js';
import { newLinkKey } from '../../data-plane-agent/base/link/keys.js';
import { CLOSED } from '../../data-plane-agent/base/link/limits.js';
import { administration, type Administration } from '../support/administration.js';
import { connected, until } from '../support/joined-agent.js';
import { HandshakeClosed, rawAgent, upgrade, type RawAgent, type RefusedUpgrade } from '../support/raw-agent.js';
import { needsPostgres } from '../support/postgres.js';
import { startHybrid } from '../support/hybrid.js';
import type { DomainError } from '../support/http.js';
import type { TestServer } from '../support/server.js';

const METRICS = { METRICS_TOKEN: 'metrics-token-1' };

for (const database of ['sqlite', 'postgres'] as const)
  describe(`sessions of agents on ${database}`, () => {
    if (database === 'postgres') needsPostgres();
    let server: TestServer;
    let org: Administration;
    let agent: RawAgent;

    before(async () => {
      server = await startHybrid({ database, env: METRICS });
    });
    beforeEach(async () => {
      org = await administration(server);
      agent = await rawAgent(server, org.tenant.id);
    });
    after(() => server?.stop());

    const refused = async (options: Parameters<typeof upgrade>[1]): Promise<RefusedUpgrade> => {
      const answer = await upgrade(server.url, options);
      if ('status' in answer) return answer;
      answer.terminate();
      throw new Error('the session was opened');
    };
    const closedWith = async (work: Promise<unknown>): Promise<number> => {
      const error = await work.then(
        () => undefined,
        (thrown: unknown) => thrown,
      );
      if (error instanceof HandshakeClosed) return error.closed.code;
      throw new Error('the handshake was completed', { cause: error });
    };
    const shown = async () =>
      (await server.services.tenants.connections.list(org.tenant.id)).find(({ kind }) => kind === 'agent');

    it('are refused without a valid token, with the reason', async () => {
      const ahead = { now: () => systemClock.now() + 3_600_000 };
      const cases = [
        {},
        { token: 'nonsense' },
        { token: await agent.token({ audience: 'https://other.example' }) },
        { token: await agent.token({ key: await newLinkKey() }) },
        { token: await agent.token({ claims: { sub: newId() } }) },
        { token: await agent.token({ claims: { jti: 'no-id' } }) },
      ];
      for (const options of cases) {
        const { status, body } = await refused(options);
        expect([status, body.error.code]).to.deep.equal([401, 'LINK_TOKEN_REFUSED']);
      }
      const skewed = await refused({ token: await agent.token({ clock: ahead }) });
      expect([skewed.status, skewed.body.error.code]).to.deep.equal([401, 'CLOCK_SKEW']);
      expect(skewed.body.error.details).to.have.keys('serverTime', 'seconds');
      expect(skewed.body.error.details).to.have.property('seconds').within(3_590, 3_610);
    });

    it('take a token once', async () => {
      const token = await agent.token();
      const first = await upgrade(server.url, { token });
      expect(first).to.not.have.property('status');
      if (!('status' in first)) first.terminate();
      expect((await refused({ token })).status).to.equal(401);
    });

    it('are refused to pages of browsers, for another subprotocol, and on another path', async () => {
      expect(
        (await refused({ token: await agent.token(), headers: { Origin: 'https://evil.example' } })).status,
      ).to.equal(403);
      const other = await refused({ token: await agent.token(), protocol: 'duebook-link.v9' });
      expect([other.status, other.body.error.code]).to.deep.equal([426, 'LINK_INCOMPATIBLE']);
      expect((await refused({ token: await agent.token(), path: '/api/v1/contracts' })).status).to.equal(401);
      expect((await refused({ token: await agent.token(), path: '/elsewhere' })).status).to.equal(404);
    });

    it('begin with a hello of the installation that joined, in a version that both support', async () => {
      expect(await closedWith(agent.connect({ hello: { instanceId: newId() } }))).to.equal(CLOSED.unauthorized);
      expect(await closedWith(agent.connect({ hello: { protocols: { min: 7, max: 9 } } }))).to.equal(
        CLOSED.incompatible,
      );
      expect(await closedWith(agent.connect({ hello: { bootId: 'x' } }))).to.equal(CLOSED.malformed);
      const { welcome } = await agent.connect();
      expect(welcome).to.deep.include({ protocol: 1, connections: 1 });
      expect(welcome.tenant).to.include({ id: org.tenant.id, slug: org.tenant.slug, active: true });
    });

    it('are shown with what the agent reports', async () => {
      const { session } = await agent.connect({
        hello: {
          report: {
            components: [{ kind: 'database', provider: 'sqlite', location: 'berlin', state: 'up' }],
            outboxDue: false,
          },
        },
      });
      await connected(server, org.tenant.id);
      expect(await shown()).to.deep.include({ status: 'connected', agentVersion: 'raw', protocolVersion: 1 });
      session.close(1000, 'done');
      await until(async () => (await shown())?.status === 'disconnected', 'the agent is shown as disconnected');
    });

    it('are counted in the metrics, and so is what is refused', async () => {
      await agent.connect();
      await connected(server, org.tenant.id);
      await refused({ token: 'nonsense' });
      const { text } = await server.client.raw('/metrics', { headers: { Authorization: 'Bearer metrics-token-1' } });
      expect(text).to.match(/^duebook_links\{state="connected"\} [1-9]/m);
      expect(text).to.match(/^duebook_link_refusals_total\{by="control_plane",reason="malformed"\} [1-9]/m);
    });

    it('a copy of the data directory suspends the connection while both are connected', async () => {
      const original = await agent.connect();
      await connected(server, org.tenant.id);
      expect(await closedWith(agent.connect({ hello: { bootId: newId() } }))).to.equal(CLOSED.cloned);
      expect((await original.session.closed).code).to.equal(CLOSED.cloned);
      expect(await shown()).to.include({ status: 'suspended' });
      expect((await shown())?.statusReason).to.contain('rejoin');
      const suspended = (await org.audit()).find(({ action }) => action === 'data_plane_suspended');
      expect(suspended?.changes).to.deep.equal({ why: 'two processes are connected' });
      const again = await refused({ token: await agent.token() });
      expect([again.status, again.body.error.code]).to.deep.equal([403, 'CONNECTION_SUSPENDED']);
    });

    it('a number that was used before, or leaves one out, suspends the connection', async () => {
      const first = await agent.connect();
      await connected(server, org.tenant.id);
      first.session.close(1000, 'done');
      await until(async () => (await shown())?.status === 'disconnected', 'the session has ended');
      expect(await closedWith(agent.connect({ hello: { sequence: 1 } }))).to.equal(CLOSED.cloned);
      expect(await shown()).to.include({ status: 'suspended' });
    });

    it('an agent that did not learn that it was welcomed may use its number again, however often', async () => {
      for (let time = 0; time < 5; time += 1) {
        const { session } = await agent.connect({ isReady: false, hello: { bootId: newId() } });
        session.close(1000, 'the process dies before it stores the number');
      }
      await agent.connect({ hello: { bootId: newId() } });
      await connected(server, org.tenant.id);
    });

    it('a process that was killed is replaced by the next one', async () => {
      await agent.connect({ hello: { bootId: newId() } }).then(({ session }) => session.close(1000, ''));
      await agent.connect({ hello: { bootId: newId() } });
      await connected(server, org.tenant.id);
    });

    it('an agent that joins with a new token replaces the one that was connected', async () => {
      const former = await agent.connect();
      await connected(server, org.tenant.id);
      const next = await rawAgent(server, org.tenant.id);
      await next.connect();
      expect((await former.session.closed).code).to.equal(CLOSED.unauthorized);
      await connected(server, org.tenant.id);
    });

    it('a revoked agent learns it, and is out within a second', async () => {
      const { session } = await agent.connect();
      await connected(server, org.tenant.id);
      expect((await org.asOwner.delete('/tenant-admin/data-plane/agent')).status).to.equal(200);
      const closed = await Promise.race([session.closed, sleep(1_000, undefined)]);
      expect(closed?.code).to.equal(CLOSED.revoked);
      const refusal = await org.asOwner.get<DomainError>('/contracts');
      expect([refusal.status, refusal.body.error.code]).to.deep.equal([409, 'DATA_PLANE_NOT_CONNECTED']);
      const again = await refused({ token: await agent.token() });
      expect([again.status, again.body.error.code]).to.deep.equal([403, 'CONNECTION_REVOKED']);
    });

    it('an address whose requests are refused again and again has to wait', async () => {
      const answers: number[] = [];
      for (let count = 0; count < 70; count += 1) answers.push((await refused({ token: 'nonsense' })).status);
      expect(answers.at(-1)).to.equal(429);
    });
  });
