import { expect } from 'chai';
import { administration, type Administration } from '../support/administration.js';
import { installations } from '../support/cli.js';
import { startHybrid } from '../support/hybrid.js';
import { startAgent, type TestAgent } from '../support/joined-agent.js';
import { aContract } from '../support/samples.js';
import type { TestServer } from '../support/server.js';

describe('the command line, with contract data that agents store', () => {
  const installation = installations();
  let server: TestServer;
  let org: Administration;
  let agent: TestAgent;

  before(async () => {
    server = await startHybrid();
    org = await administration(server);
    agent = await startAgent(server, org.tenant.id);
    const contract = aContract({ contractNo: 'C-CLI', subjectId: org.subjectId, ownerId: org.owner.id });
    expect((await org.asOwner.post('/contracts', contract)).status).to.equal(201);
  });
  after(async () => {
    await agent?.stop();
    await server?.stop();
  });

  const run = async (...args: string[]) => {
    const { inProcess } = await installation();
    const { dataDir, publicUrl } = server.config;
    return inProcess([...args, '--tenant', org.tenant.slug], {
      env: { DATA_DIR: dataDir, PUBLIC_URL: publicUrl, EDITION: 'enterprise_hybrid' },
    });
  };

  it('reaches the agent through the process that holds its session', async () => {
    const exported = await run('export');
    expect(exported.code, exported.stderr).to.equal(0);
    expect(exported.stdout).to.contain('C-CLI');
    const verified = await run('audit', 'verify', '--source', 'data');
    expect(verified.code, verified.stderr).to.equal(0);
    expect((await run('outbox', 'list')).code).to.equal(0);
  });

  it('says that the agent is away, and exports nothing', async () => {
    await agent.halt();
    const refused = await run('export', '--json');
    expect(refused.code).to.equal(1);
    expect(refused.stderr).to.contain('DATA_PLANE_UNAVAILABLE');
    await agent.start();
  });
});
