import { expect } from 'chai';
import { systemClock } from '../../data-plane-agent/base/clock.js';
import { newId } from '../../data-plane-agent/base/ids.js';
import { signRequest } from '../../data-plane-agent/base/link/envelope.js';
import { newLinkKey, signerOf, type Signer } from '../../data-plane-agent/base/link/keys.js';
import { LINK_PATHS } from '../../data-plane-agent/base/link/messages.js';
import { administration, type Administration } from '../support/administration.js';
import { startAgent, until, type TestAgent } from '../support/joined-agent.js';
import type { DomainError } from '../support/http.js';
import { aContract } from '../support/samples.js';
import { startHybrid } from '../support/hybrid.js';
import type { TestServer } from '../support/server.js';

describe('an agent that is called at its endpoint', () => {
  let server: TestServer;
  let org: Administration;
  let agent: TestAgent;

  before(async () => {
    server = await startHybrid({ env: { OUTBOUND_ALLOW_PRIVATE: '127.0.0.0/8' } });
    org = await administration(server);
    agent = await startAgent(server, org.tenant.id, { accessMode: 'direct' });
  });
  after(async () => {
    await agent?.stop();
    await server?.stop();
  });

  const contract = () => aContract({ subjectId: org.subjectId, ownerId: org.owner.id });
  const shown = async () =>
    (await server.services.tenants.connections.list(org.tenant.id)).find(({ kind }) => kind === 'agent');

  it('stores contracts, and is shown as connected once it was greeted', async () => {
    const made = await org.asOwner.post('/contracts', contract());
    expect(made.status, made.text).to.equal(201);
    expect((await org.asOwner.get<{ total: number }>('/contracts')).body.total).to.equal(1);
    expect(await shown()).to.include({ status: 'connected', protocolVersion: 1 });
    expect((await shown())?.components?.map(({ kind }) => kind)).to.include('database');
  });

  it('is known again after it has restarted, without a failed request', async () => {
    await agent.halt();
    await agent.start();
    const made = await org.asOwner.post('/contracts', contract());
    expect(made.status, made.text).to.equal(201);
  });

  it('is unavailable while it is stopped, and known again when the schedule greets it', async () => {
    await agent.halt();
    const away = await org.asOwner.get<DomainError>('/contracts');
    expect([away.status, away.body.error.code]).to.deep.equal([503, 'DATA_PLANE_UNAVAILABLE']);
    expect(away.body.error.details).to.have.keys('retryAfterSeconds', 'lastSeenAt');
    const before = await shown();
    await agent.start();
    await server.schedules.run('direct-agents');
    expect((await shown())?.lastSeenAt).to.be.at.least(before?.lastSeenAt ?? Infinity);
    await until(async () => (await org.asOwner.get('/contracts')).status === 200, 'the agent is called again');
  });

  it('refuses requests of another key, for another process, and a second time', async () => {
    const links = server.foundation.links;
    if (!links) throw new Error('the edition has agents');
    const signer = await links.keys.signer();
    const connection = await shown();
    const facts = {
      controlPlane: new URL(server.config.publicUrl).origin,
      connectionId: connection?.id ?? '',
      tenantId: org.tenant.id,
      session: agent.serving.bootId,
    };
    const body = Buffer.from(JSON.stringify({ protocol: 1, name: 'listContracts', call: {}, input: {} }));
    const tokenBy = async (by: Signer, changes: Partial<typeof facts> = {}) =>
      signRequest(
        { ...facts, ...changes },
        { operation: 'listContracts', subject: 'test', body, jti: newId(), signer: by, clock: systemClock },
      ).token;
    const post = async (token: string, sent = body) => {
      const answer = await fetch(`http://127.0.0.1:${agent.port}${LINK_PATHS.operations}`, {
        method: 'POST',
        headers: { Authorization: `Bearer ${token}` },
        body: sent,
      });
      return [answer.status, ((await answer.json()) as { refused?: string }).refused];
    };
    expect(await post(await tokenBy(signerOf(await newLinkKey())))).to.deep.equal([401, 'unknown_key']);
    expect(await post(await tokenBy(signer, { session: newId() }))).to.deep.equal([401, 'session']);
    expect(await post(await tokenBy(signer, { tenantId: newId() }))).to.deep.equal([401, 'tenant']);
    const other = Buffer.from(JSON.stringify({ protocol: 1, name: 'listContracts', call: {}, input: { q: 'x' } }));
    expect(await post(await tokenBy(signer), other)).to.deep.equal([401, 'body']);
    const token = await tokenBy(signer);
    await post(token);
    expect(await post(token)).to.deep.equal([401, 'replayed']);
    await agent.halt();
    await agent.start();
    expect(await post(token)).to.deep.equal([401, 'session']);
  });
});

describe('the endpoint of an agent', () => {
  it('is not called at a private address that is not listed', async () => {
    const server = await startHybrid();
    const org = await administration(server);
    const declared = await org.asOwner.post('/tenant-admin/data-plane', {
      kind: 'agent',
      accessMode: 'direct',
      endpoint: 'http://127.0.0.1:8090',
    });
    expect(declared.status).to.equal(400);
    await server.stop();
  });
});
