import { expect } from 'chai';
import { startAgent, type TestAgent } from '../support/joined-agent.js';
import { administration, type Administration } from '../support/administration.js';
import { aContract } from '../support/samples.js';
import { startHybrid } from '../support/hybrid.js';
import type { TestServer } from '../support/server.js';

describe('an agent that connects to the service', () => {
  let server: TestServer;
  let org: Administration;
  let agent: TestAgent;

  before(async () => {
    server = await startHybrid();
    org = await administration(server);
    agent = await startAgent(server, org.tenant.id);
  });
  after(async () => {
    await agent?.stop();
    await server?.stop();
  });

  const contract = () => aContract({ subjectId: org.subjectId, ownerId: org.owner.id });

  it('stores contracts', async () => {
    const made = await org.asOwner.post<{ id: string }>('/contracts', contract());
    expect(made.status, made.text).to.equal(201);
    const listed = await org.asOwner.get<{ total: number }>('/contracts');
    expect(listed.body.total).to.equal(1);
  });
});
