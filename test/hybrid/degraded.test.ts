import { expect } from 'chai';
import { OPERATOR } from '../support/accounts.js';
import { administration, type Administration } from '../support/administration.js';
import { connected, startAgent, until, type TestAgent } from '../support/joined-agent.js';
import type { Answer, DomainError } from '../support/http.js';
import { rawAgent } from '../support/raw-agent.js';
import { aContract, aLine } from '../support/samples.js';
import { startHybrid } from '../support/hybrid.js';
import type { TestServer } from '../support/server.js';

type Health = { readonly status: string; readonly platformDb: string; readonly tenantDb: string };

describe('while an agent is away', () => {
  let server: TestServer;
  let org: Administration;
  let agent: TestAgent;
  let contractId = '';

  before(async () => {
    server = await startHybrid();
  });
  beforeEach(async () => {
    org = await administration(server);
    agent = await startAgent(server, org.tenant.id);
    const made = await org.asOwner.post<{ id: string }>('/contracts', contract());
    contractId = made.body.id;
    await agent.halt();
  });
  afterEach(async () => {
    await agent?.stop();
    const { connections } = server.services.tenants;
    const isLeft = (await connections.list(org.tenant.id)).some(
      ({ status }) => status === 'disconnected' || status === 'connected',
    );
    if (isLeft) await connections.revoke({ tenantId: org.tenant.id, kind: 'agent' }, OPERATOR);
  });
  after(() => server?.stop());

  const contract = () =>
    aContract({ subjectId: org.subjectId, ownerId: org.owner.id, payments: [aLine({ dueDate: '2026-01-01' })] });
  const unavailable = (answer: Answer<unknown>): void => {
    const { error } = answer.body as DomainError;
    expect([answer.status, error.code], answer.text).to.deep.equal([503, 'DATA_PLANE_UNAVAILABLE']);
    expect(answer.headers.get('retry-after')).to.match(/^[1-9]\d*$/);
    expect(error.details['lastSeenAt']).to.match(/^\d{4}-.*Z$/);
  };
  const health = async () => (await server.client.get<Health>('/health')).body;

  it('contract data is unavailable, and everything else works', async () => {
    for (const answer of [
      await org.asOwner.get('/contracts'),
      await org.asOwner.get(`/contracts/${contractId}`),
      await org.asOwner.post('/contracts', contract()),
      await org.asOwner.delete(`/contracts/${contractId}`),
      await org.asOwner.get('/contracts/export'),
      await org.asOwner.get('/payments'),
      await org.asOwner.get('/analytics/summary'),
      await org.asOwner.post('/files/presign', {
        fileName: 'a.pdf',
        contentType: 'application/pdf',
        sizeBytes: 100,
        kind: 'contract_original',
        contractId,
      }),
    ])
      unavailable(answer);
    for (const answer of [
      await org.asOwner.get('/auth/me'),
      await org.asOwner.get('/tenant-admin/members'),
      await org.asOwner.patch('/tenant-admin/settings', { reminderLeadDays: 3 }),
      await org.asOwner.get('/tenant-admin/data-plane'),
      await org.asOwner.get('/health'),
    ])
      expect(answer.status, answer.text).to.equal(200);
  });

  it('health calls the tenant database down, and up again when the agent is back', async () => {
    await until(async () => (await health()).tenantDb === 'down', 'health has noticed');
    expect(await health()).to.include({ status: 'degraded', platformDb: 'up', tenantDb: 'down' });
    await agent.start();
    await until(async () => (await health()).tenantDb === 'up', 'health has noticed');
    expect((await org.asOwner.get('/contracts')).status).to.equal(200);
  });

  it('health calls the tenant database down while a connected agent says so of its own', async () => {
    await agent.stop();
    const { connections } = server.services.tenants;
    await connections.revoke({ tenantId: org.tenant.id, kind: 'agent' }, OPERATOR);
    await until(async () => (await health()).tenantDb === 'up', 'no agent is away');
    const raw = await rawAgent(server, org.tenant.id);
    const database = { kind: 'database', provider: 'sqlite', location: null, state: 'down' } as const;
    await raw.connect({ hello: { report: { components: [database], outboxDue: false } } });
    await connected(server, org.tenant.id);
    await until(async () => (await health()).tenantDb === 'down', 'health has noticed');
  });

  it('no member is offboarded, and the preview is refused', async () => {
    const leaver = await org.join({ roleCode: 'sales' });
    const heir = await org.join({ roleCode: 'sales' });
    unavailable(await org.asOwner.get(`/tenant-admin/members/${leaver.id}/handover-preview`));
    const leaving = { successorUserId: heir.id, transferContracts: true, disableMember: true };
    unavailable(await org.asOwner.post(`/tenant-admin/members/${leaver.id}/offboard`, leaving));
    const members = await org.asOwner.get<{ id: string; status: string }[]>('/tenant-admin/members');
    expect(members.body.find(({ id }) => id === leaver.id)?.status).to.equal('active');
    expect((await org.audit()).map(({ action }) => action)).to.not.include('member_offboarded');
    await agent.start();
    expect((await org.asOwner.post(`/tenant-admin/members/${leaver.id}/offboard`, leaving)).status).to.equal(200);
  });

  it('no subject company and no channel is removed', async () => {
    const added = await org.asOwner.post<{ id: string }>('/tenant-admin/subjects', { name: 'Second GmbH' });
    unavailable(await org.asOwner.delete(`/tenant-admin/subjects/${added.body.id}`));
    const channel = await org.asOwner.post<{ id: string }>('/tenant-admin/notification-channels', {
      kind: 'email',
      name: 'Mail',
    });
    expect(channel.status, channel.text).to.equal(201);
    unavailable(await org.asOwner.delete(`/tenant-admin/notification-channels/${channel.body.id}`));
    const subjects = await org.asOwner.get<{ id: string }[]>('/tenant-admin/subjects');
    expect(subjects.body.map(({ id }) => id)).to.include(added.body.id);
    await agent.start();
    expect((await org.asOwner.delete(`/tenant-admin/subjects/${added.body.id}`)).status).to.equal(200);
  });

  it('reminders are refused', async () => {
    unavailable(await org.asOwner.post('/collections/run-due-reminders', {}));
    unavailable(await org.asOwner.get('/collections/deliveries'));
  });

  it('an operation is not found to be connected before an agent has joined, or once it was revoked', async () => {
    const other = await administration(server);
    const before = await other.asOwner.get<DomainError>('/contracts');
    expect([before.status, before.body.error.code]).to.deep.equal([409, 'DATA_PLANE_NOT_CONNECTED']);
    await server.services.tenants.connections.revoke({ tenantId: org.tenant.id, kind: 'agent' }, OPERATOR);
    const after = await org.asOwner.get<DomainError>('/contracts');
    expect([after.status, after.body.error.code]).to.deep.equal([409, 'DATA_PLANE_NOT_CONNECTED']);
  });
});

describe('an agent that accepts requests and does not answer', () => {
  let server: TestServer;
  before(async () => {
    server = await startHybrid();
  });
  after(() => server?.stop());

  it('is not asked again for a while after five lost requests, and at once after it has connected anew', async () => {
    const org = await administration(server);
    const raw = await rawAgent(server, org.tenant.id);
    let asked = 0;
    const answer = (): Promise<never> => {
      asked += 1;
      return Promise.reject(new Error('lost'));
    };
    const first = await raw.connect({ answer });
    const list = () => org.asOwner.get<DomainError>('/contracts');
    await until(async () => (await list()).status === 503 && asked > 0, 'the session is used');
    for (let count = 0; count < 5; count += 1) expect((await list()).status).to.equal(503);
    const before = asked;
    expect(before).to.be.within(5, 7);
    expect((await list()).body.error.code).to.equal('DATA_PLANE_UNAVAILABLE');
    expect(asked).to.equal(before);
    first.session.close(1000, 'done');
    await first.session.closed;
    await raw.connect({ answer });
    await until(async () => {
      await list();
      return asked > before;
    }, 'the new session is used');
  });
});
