import { expect } from 'chai';
import { systemClock } from '../../data-plane-agent/base/clock.js';
import { newId } from '../../data-plane-agent/base/ids.js';
import { OPERATOR, signIn } from '../support/accounts.js';
import { administration, type Administration } from '../support/administration.js';
import { startAgent, until, type TestAgent } from '../support/joined-agent.js';
import { client, type Client } from '../support/http.js';
import { aContract } from '../support/samples.js';
import { startServer, type TestServer } from '../support/server.js';
import { needsPostgres } from '../support/postgres.js';
import { startBalancer, type Balancer } from '../support/balancer.js';
import { serverBeside } from '../support/sweep-replica.js';

for (const database of ['sqlite', 'postgres'] as const)
  describe(`two replicas of the control plane on ${database}`, () => {
    if (database === 'postgres') needsPostgres();
    let one: TestServer;
    let two: TestServer;
    let org: Administration;
    let agent: TestAgent;
    /** Where the agent connects. */
    let balancer: Balancer;

    const env = () => ({ EDITION: 'enterprise_hybrid', PUBLIC_URL: balancer.url });
    const beside = () => serverBeside(one, { clock: systemClock, database, env: env() });
    const at = ({ url }: TestServer): Client => client(url).as(token);
    let token = '';

    before(async () => {
      balancer = await startBalancer();
      one = await startServer({ database, env: env() });
      two = await beside();
      balancer.to(two.url);
      org = await administration(one);
      token = (await signIn(one.client, { tenant: org.tenant, member: org.owner })).result.accessToken;
      agent = await startAgent(one, org.tenant.id);
    });
    after(async () => {
      await agent?.stop();
      await two?.stop();
      await one?.stop();
      await balancer?.stop();
    });

    const contract = () => aContract({ subjectId: org.subjectId, ownerId: org.owner.id });
    const total = async (server: TestServer) => (await at(server).get<{ total: number }>('/contracts')).body.total;

    it('serve the same contracts, whichever of them the agent is connected to', async () => {
      expect((await at(two).post('/contracts', contract())).status).to.equal(201);
      const forwarded = await at(one).post('/contracts', contract());
      expect(forwarded.status, forwarded.text).to.equal(201);
      expect([await total(one), await total(two)]).to.deep.equal([2, 2]);
    });

    it('forward large bodies both ways', async () => {
      const rows = Array.from({ length: 300 }, () => ({ ...contract(), remark: 'x'.repeat(2_000) }));
      const imported = await at(one).post<{ created: number }>('/contracts/import', { rows });
      expect(imported.status, imported.text.slice(0, 300)).to.equal(200);
      const exported = await at(one).get('/contracts/export');
      expect(exported.text.split('\n').length).to.be.greaterThan(300);
    });

    it('the stop of the one with the agent loses no request with an idempotency key', async () => {
      const before = await total(one);
      const answers: number[] = [];
      let over = false;
      const worker = async (): Promise<void> => {
        while (!over) {
          const answer = await at(one).post('/contracts', contract(), { headers: { 'Idempotency-Key': newId() } });
          answers.push(answer.status);
        }
      };
      const load = Promise.all(Array.from({ length: 8 }, worker));
      await until(async () => answers.length > 20, 'requests run');
      balancer.to(one.url);
      await two.stop();
      const atStop = answers.length;
      await until(async () => answers.length > atStop + 20, 'requests go on');
      over = true;
      await load;
      expect(answers.filter((status) => status !== 201)).to.deep.equal([]);
      expect(await total(one)).to.equal(before + answers.length);
      two = await beside();
    });

    it('an agent that one of them revokes is disconnected from the other within a second', async () => {
      expect(agent.serving.link.state).to.equal('connected');
      const began = performance.now();
      await two.services.tenants.connections.revoke({ tenantId: org.tenant.id, kind: 'agent' }, OPERATOR);
      await until(async () => agent.serving.link.sessions === 0, 'the agent is disconnected');
      expect(performance.now() - began).to.be.lessThan(1_000);
      for (const server of [one, two]) {
        const refused = await at(server).get<{ error: { code: string } }>('/contracts');
        expect([refused.status, refused.body.error.code]).to.deep.equal([409, 'DATA_PLANE_NOT_CONNECTED']);
      }
    });
  });
