import { expect } from 'chai';
import { logFolder } from '../../data-plane-agent/agent/operation-log-files.js';
import { entriesOf } from '../../data-plane-agent/agent/operation-log-reading.js';
import { administration, type Administration } from '../support/administration.js';
import { startAgent, type TestAgent } from '../support/joined-agent.js';
import { startHybrid } from '../support/hybrid.js';
import { aContract } from '../support/samples.js';
import type { TestServer } from '../support/server.js';

const [LIST_TRACE, WRITE_TRACE] = ['0af7651916cd43dd8448eb211c80319c', '4bf92f3577b34da6a3ce929d0e0e4736'];
const traceparent = (traceId: string) => ({ headers: { traceparent: `00-${traceId}-b7ad6b7169203331-01` } });

for (const accessMode of ['outbound', 'direct'] as const)
  describe(`a trace that a client names, with an agent (${accessMode})`, () => {
    let server: TestServer;
    let org: Administration;
    let agent: TestAgent;
    before(async () => {
      server = await startHybrid({ env: { OUTBOUND_ALLOW_PRIVATE: '127.0.0.0/8' } });
      org = await administration(server);
      agent = await startAgent(server, org.tenant.id, { accessMode });
    });
    after(async () => {
      await agent?.stop();
      await server?.stop();
    });

    /** Of each logged operation, the trace. */
    const operations = async (): Promise<[unknown, unknown][]> => {
      await agent.serving.operationLog.flush();
      const found: [unknown, unknown][] = [];
      for await (const entry of entriesOf(logFolder(agent.dataDir), {}))
        found.push([entry['operation'], entry['traceId']]);
      return found;
    };

    it('is in the log of the server and in the log of operations of the agent, and other requests have none', async () => {
      const contract = aContract({ subjectId: org.subjectId, ownerId: org.owner.id });
      expect((await org.asOwner.get('/contracts', traceparent(LIST_TRACE))).status).to.equal(200);
      expect((await org.asOwner.post('/contracts', contract, traceparent(WRITE_TRACE))).status).to.equal(201);
      expect((await org.asOwner.get('/contracts', { query: 'page=2' })).status).to.equal(200);

      const requests = server.logged.filter(
        ({ msg, route }) => msg === 'request' && String(route).endsWith('/contracts'),
      );
      expect(requests.map(({ method, traceId }) => [method, traceId])).to.deep.equal([
        ['GET', LIST_TRACE],
        ['POST', WRITE_TRACE],
        ['GET', undefined],
      ]);
      const logged = await operations();
      expect(logged).to.deep.include(['createContract', WRITE_TRACE]);
      expect(logged.filter(([operation]) => operation === 'listContracts')).to.have.deep.members([
        ['listContracts', LIST_TRACE],
        ['listContracts', undefined],
      ]);
    });
  });
