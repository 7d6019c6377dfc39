import { expect } from 'chai';
import { systemClock } from '../../data-plane-agent/base/clock.js';
import { signIn } from '../support/accounts.js';
import { administration, type Administration } from '../support/administration.js';
import { startBalancer, type Balancer } from '../support/balancer.js';
import { startCollector, type Collector } from '../support/collector.js';
import { client } from '../support/http.js';
import { startAgent, type TestAgent } from '../support/joined-agent.js';
import { startServer, type TestServer } from '../support/server.js';
import { serverBeside } from '../support/sweep-replica.js';

describe('spans of a request that another replica forwards to the agent', () => {
  let collector: Collector;
  let balancer: Balancer;
  let one: TestServer;
  let two: TestServer;
  let org: Administration;
  let agent: TestAgent;

  before(async () => {
    collector = await startCollector();
    balancer = await startBalancer();
    const env = (name: string) => ({
      EDITION: 'enterprise_hybrid',
      PUBLIC_URL: balancer.url,
      OTEL_SERVICE_NAME: name,
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      OTEL_BSP_SCHEDULE_DELAY: '20',
    });
    one = await startServer({ env: env('one') });
    two = await serverBeside(one, { clock: systemClock, database: 'sqlite', env: env('two') });
    balancer.to(two.url);
    org = await administration(one);
    agent = await startAgent(one, org.tenant.id, { env: env('agent') });
  });
  after(async () => {
    await agent?.stop();
    await two?.stop();
    await one?.stop();
    await balancer?.stop();
    await collector?.stop();
  });

  it('are one trace, in which the replica that holds the session comes before the agent', async () => {
    const { accessToken } = (await signIn(one.client, { tenant: org.tenant, member: org.owner })).result;
    expect((await client(one.url).as(accessToken).get('/contracts')).status).to.equal(200);
    const traceId = one.logged.findLast(({ msg }) => msg === 'request')?.['traceId'];
    const spans = await collector.get((span) => span.traceId === traceId, 4);
    const chain: string[] = [];
    for (let below = ''; ;) {
      const next = spans.find(({ parentSpanId }) => parentSpanId === below);
      if (!next) break;
      chain.push(`${next.service} ${next.kind} ${next.name}`);
      below = next.spanId;
    }
    expect(chain).to.deep.equal([
      'one server GET /contracts',
      'one client listContracts',
      'two server POST /link/v1/forward',
      'agent server listContracts',
    ]);
  });
});
