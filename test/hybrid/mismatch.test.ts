import { expect } from 'chai';
import { administration, type Administration } from '../support/administration.js';
import { startAgent, until, type TestAgent } from '../support/joined-agent.js';
import type { DomainError } from '../support/http.js';
import { aContract } from '../support/samples.js';
import { startHybrid } from '../support/hybrid.js';
import type { TestServer } from '../support/server.js';

describe('an agent that is not what was declared', () => {
  let server: TestServer;
  let org: Administration;
  let agent: TestAgent;

  before(async () => {
    server = await startHybrid();
    org = await administration(server);
    agent = await startAgent(server, org.tenant.id, { env: { DATA_LOCATION: 'eu-central' } });
  });
  after(async () => {
    await agent?.stop();
    await server?.stop();
  });

  const contract = () => aContract({ subjectId: org.subjectId, ownerId: org.owner.id });
  const declare = (fields: object) => org.asOwner.post('/tenant-admin/data-plane', fields);
  const write = () => org.asOwner.post<DomainError>('/contracts', contract());

  it('is read, and not written to until it matches', async () => {
    expect((await declare({ kind: 'database', provider: 'sqlite', location: 'eu-central' })).status).to.equal(201);
    expect((await write()).status).to.equal(201);
    await declare({ kind: 'database', provider: 'postgres', location: 'eu-west' });
    const refused = await write();
    expect([refused.status, refused.body.error.code]).to.deep.equal([409, 'DATA_PLANE_MISMATCH']);
    expect(refused.body.error.details['mismatches']).to.deep.equal([
      { kind: 'database', field: 'provider', declared: 'postgres', reported: 'sqlite' },
      { kind: 'database', field: 'location', declared: 'eu-west', reported: 'eu-central' },
    ]);
    expect((await org.asOwner.get<{ total: number }>('/contracts')).body.total).to.equal(1);
    await org.asOwner.delete('/tenant-admin/data-plane/database');
    expect((await write()).status).to.equal(201);
  });

  it('is found out when it changes what stands behind it', async () => {
    await declare({ kind: 'database', location: 'eu-central' });
    expect((await write()).status).to.equal(201);
    await agent.stop();
    const moved = await startAgent(server, org.tenant.id, { env: { DATA_LOCATION: 'us-east' } });
    agent = moved;
    await until(async () => (await write()).status === 409, 'writes are refused');
  });
});
