import { expect } from 'chai';
import { administration, type Administration } from '../support/administration.js';
import { namedFields, type FrameworkError } from '../support/http.js';
import { forEachServer, startServer, type TestServer } from '../support/server.js';

interface Connection {
  id: string;
  kind: string;
  status: string;
  accessMode: string | null;
  endpoint: string | null;
  provider: string | null;
  warnings: { code: string }[];
  joinToken?: string;
}

forEachServer((server) => {
  let org: Administration;
  beforeEach(async () => {
    org = await administration(server());
  });

  describe('data-plane connections if the service itself stores contract data', () => {
    it('are added as inactive, with a warning and without a token, one of each kind', async () => {
      const first = await org.asOwner.post<Connection>('/tenant-admin/data-plane', {
        kind: 'agent',
        location: 'Shanghai',
      });
      expect([
        first.status,
        first.body.status,
        first.body.accessMode,
        first.body.warnings.map(({ code }) => code),
      ]).to.deep.equal([201, 'inactive', 'outbound', ['DATA_PLANE_INACTIVE']]);
      expect(first.body.joinToken).to.equal(undefined);
      const second = await org.asOwner.post<Connection>('/tenant-admin/data-plane', {
        kind: 'agent',
        location: 'Beijing',
      });
      expect(second.body.id).not.to.equal(first.body.id);
      await org.asOwner.post('/tenant-admin/data-plane', { kind: 'residency-note' });
      const { body } = await org.asOwner.get<Connection[]>('/tenant-admin/data-plane');
      expect(body.map(({ kind, status, id }) => [kind, status, id === second.body.id])).to.deep.equal([
        ['agent', 'inactive', true],
        ['residency-note', 'inactive', false],
      ]);
      expect((await org.asOwner.delete('/tenant-admin/data-plane/agent')).body).to.deep.equal({ ok: true });
      expect((await org.asOwner.delete('/tenant-admin/data-plane/agent')).status).to.equal(404);
      for (const kind of ['nothing', 'AGENT', '__proto__', '%00', '..'])
        expect(
          (await org.asOwner.delete(`/tenant-admin/data-plane/${encodeURIComponent(kind)}`)).status,
          kind,
        ).to.be.oneOf([400, 404, 405]);
    });

    it('accept an endpoint only where it may be called', async () => {
      const ask = (body: object) =>
        org.asOwner.post<FrameworkError>('/tenant-admin/data-plane', { kind: 'agent', ...body });
      for (const endpoint of [
        'https://10.1.2.3/',
        'https://169.254.169.254/',
        'http://agent.example.com',
        'https://u:p@agent.example.com',
        'https://agent.example.com/?a=1',
        'https://agent.example.com/#a',
        'agent.example.com',
      ]) {
        expect(namedFields(await ask({ accessMode: 'direct', endpoint })), endpoint).to.deep.equal([400, ['endpoint']]);
      }
      expect(namedFields(await ask({ accessMode: 'direct' }))).to.deep.equal([400, ['endpoint']]);
      expect(namedFields(await ask({ accessMode: 'sideways' }))).to.deep.equal([400, ['accessMode']]);
      expect((await ask({ accessMode: 'direct', endpoint: 'https://agent.example.com' })).status).to.equal(201);
    });
  });
});

describe('data-plane connections if agents store contract data', () => {
  let server: TestServer;
  let org: Administration;
  before(async () => {
    server = await startServer({ env: { EDITION: 'enterprise_hybrid', OUTBOUND_ALLOW_PRIVATE: '10.0.0.0/8' } });
    org = await administration(server);
  });
  after(() => server.stop());

  it('wait for an agent, and remain visible after they are revoked', async () => {
    const declare = async (kind: string) =>
      (await org.asOwner.post<Connection>('/tenant-admin/data-plane', { kind })).body;
    expect(
      (await Promise.all(['agent', 'database', 'object_storage', 'malware_scanner', 'backup'].map(declare))).map(
        ({ kind, status, warnings }) => [kind, status, warnings],
      ),
    ).to.deep.equal([
      ['agent', 'pending', []],
      ['database', 'pending', []],
      ['object_storage', 'pending', []],
      ['malware_scanner', 'pending', []],
      ['backup', 'declared', []],
    ]);
    for (const kind of ['agent', 'backup'])
      expect((await org.asOwner.delete(`/tenant-admin/data-plane/${kind}`)).status).to.equal(200);
    const { body } = await org.asOwner.get<Connection[]>('/tenant-admin/data-plane');
    expect(body.find(({ kind }) => kind === 'agent')?.status).to.equal('revoked');
    expect(body.some(({ kind }) => kind === 'backup')).to.equal(false);
    expect((await org.asOwner.delete('/tenant-admin/data-plane/agent')).status).to.equal(404);
    expect((await declare('agent')).status).to.equal('pending');
  });

  it('are not needed for administration, except for operations on contract data', async () => {
    expect((await org.asOwner.get('/tenant-admin/settings')).status).to.equal(200);
    expect(
      (
        await org.asOwner.get<{ steps: { key: string; done: boolean }[] }>('/tenant-admin/bootstrap-status')
      ).body.steps.find(({ key }) => key === 'lifecycle')?.done,
    ).to.equal(false);
    const member = await org.join({ roleCode: 'sales' });
    expect((await org.asOwner.get(`/tenant-admin/members/${member.id}/handover-preview`)).status).to.equal(409);
    expect(
      (await org.asOwner.post(`/tenant-admin/members/${member.id}/offboard`, { successorUserId: org.owner.id })).status,
    ).to.equal(409);
    expect((await member.client.get('/auth/me')).status, 'nothing was applied in part').to.equal(200);
  });

  it('let channels use private networks listed by the installation, but never metadata addresses', async () => {
    const ask = async (target: string) =>
      (await org.asOwner.post('/tenant-admin/notification-channels', { kind: 'webhook', target })).status;
    expect([
      await ask('https://10.2.3.4/'),
      await ask('https://192.168.0.1/'),
      await ask('https://169.254.169.254/'),
    ]).to.deep.equal([201, 400, 400]);
  });
});
