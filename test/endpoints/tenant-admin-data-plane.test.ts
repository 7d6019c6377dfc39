import { expect } from 'chai';
import { newId } from '../../data-plane-agent/base/ids.js';
import { LinkedConnectionStore } from '../../server/store/linked-connections.js';
import { administration, type Administration } from '../support/administration.js';
import { fakeClock, type FakeClock } from '../support/clock.js';
import { aComponent, aJoiningAgent, joinWith, type JoiningAgent } from '../support/joining.js';
import { needsPostgres } from '../support/postgres.js';
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
  joinCommand?: string;
}
/** As GET answers it. */
interface Listed extends Omit<Connection, 'warnings' | 'joinToken' | 'joinCommand'> {
  statusReason: string | null;
  agentVersion: string | null;
  protocolVersion: number | null;
  components: object[] | null;
  lastSeenAt: string | null;
  connectedSince: string | null;
  latencyMs: number | null;
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

for (const database of ['sqlite', 'postgres'] as const) {
  describe(`the connection to an agent, with the platform database on ${database}`, () => {
    if (database === 'postgres') needsPostgres();
    let clock: FakeClock;
    let server: TestServer;
    let org: Administration;
    let agent: JoiningAgent;
    before(async () => {
      clock = fakeClock(Date.now());
      server = await startServer({
        database,
        clock,
        env: { EDITION: 'enterprise_hybrid', RATE_LIMIT_PER_MINUTE: '0' },
      });
    });
    after(() => server.stop());
    beforeEach(async () => {
      org = await administration(server);
      agent = await aJoiningAgent();
    });

    const declare = async (fields: object = {}, headers: Readonly<Record<string, string>> = {}) =>
      org.asOwner.post<Connection>('/tenant-admin/data-plane', { kind: 'agent', ...fields }, { headers });
    const listed = async (of: Administration = org): Promise<Listed[]> =>
      (await of.asOwner.get<Listed[]>('/tenant-admin/data-plane')).body;
    const shown = async (kind = 'agent') => (await listed()).find((one) => one.kind === kind);
    const join = (joinToken = '', components = [aComponent()]) =>
      joinWith(server.client, agent, { joinToken, clock, components });
    const links = <T>(work: (store: LinkedConnectionStore) => Promise<T>): Promise<T> =>
      server.foundation.platform.write({ tenantId: null }, (tx) => work(new LinkedConnectionStore(tx)));
    const place = async () => ({ tenantId: org.tenant.id, id: (await shown())?.id ?? '' });
    /** As the link does when the agent opens a session. */
    const connect = async (components = [aComponent()]) => {
      const at = { ...(await place()), at: clock.now() };
      const { kid, publicJwk: key } = agent.pair;
      const agentSays = { bootId: newId(), version: '1.3.0', protocol: 1, operations: 'a', schema: '1', components };
      await links((store) => store.connected({ ...at, key: { kid, key }, ...agentSays }));
      clock.advance(20_000);
      await links((store) => store.seen({ ...at, at: clock.now(), latencyMs: 12, components }));
    };

    it('is answered with a join token once, and a command that does not contain it', async () => {
      const { status, body } = await declare();
      expect([status, body.status, body.warnings]).to.deep.equal([201, 'pending', []]);
      expect(body.joinToken).to.match(/^dpj_[A-Za-z0-9_-]{43}$/);
      expect(body.joinCommand).to.equal(`duebook-agent join --control-plane ${server.config.publicUrl} --token-file -`);
      expect(JSON.stringify(await listed())).not.to.match(/dpj_|joinToken|joinCommand/);
      expect(JSON.stringify([await org.audit(), server.logged])).not.to.contain(body.joinToken);
      const kinds = await org.asOwner.post<Connection>('/tenant-admin/data-plane', { kind: 'database' });
      expect(kinds.body).not.to.have.any.keys('joinToken', 'joinCommand');
    });

    it('is stored without its join token', async () => {
      const { body } = await declare({}, { 'idempotency-key': `key-${newId()}` });
      const rows = await server.foundation.platform.read({ tenantId: null }, async (tx) => [
        ...(await tx.all('SELECT * FROM data_plane_connections')),
        ...(await tx.all('SELECT * FROM idempotency_records')),
        ...(await tx.all('SELECT * FROM audit_log')),
      ]);
      expect(rows.length).to.be.greaterThan(2);
      expect(JSON.stringify(rows)).not.to.contain(body.joinToken);
    });

    it('is answered with the same token, which is still valid, if the request is repeated with its key', async () => {
      const headers = { 'idempotency-key': `key-${newId()}` };
      const first = await declare({}, headers);
      const again = await declare({}, headers);
      expect([again.status, again.body.joinToken, again.headers.get('idempotency-replayed')]).to.deep.equal([
        201,
        first.body.joinToken,
        'true',
      ]);
      const declared = (await org.audit()).filter(({ action }) => action === 'data_plane_declared');
      expect(declared).to.have.length(1);
      expect((await join(again.body.joinToken)).status).to.equal(200);
    });

    it('keeps its id when it is declared again, and only the new token is valid', async () => {
      const first = (await declare({ location: 'Shanghai' })).body;
      clock.advance(1_000);
      const second = (await declare({ accessMode: 'direct', endpoint: 'https://agent.example.com' })).body;
      expect([second.id, second.status]).to.deep.equal([first.id, 'pending']);
      expect(await shown()).to.deep.include({ location: null, accessMode: 'direct' });
      expect((await join(first.joinToken)).status).to.equal(401);
      const { status, body } = await join(second.joinToken);
      expect([status, body.accessMode]).to.deep.equal([200, 'direct']);
    });

    it('shows what its agent reports, and whether it is connected', async () => {
      const { body } = await declare();
      expect(await shown()).to.deep.include({ status: 'pending', components: null, lastSeenAt: null });
      await join(body.joinToken);
      expect(await shown()).to.deep.include({
        status: 'disconnected',
        agentVersion: '1.2.3',
        protocolVersion: null,
        components: [aComponent()],
        connectedSince: null,
      });
      const since = clock.now();
      await connect();
      expect(await shown()).to.deep.include({
        status: 'connected',
        statusReason: null,
        agentVersion: '1.3.0',
        protocolVersion: 1,
        connectedSince: new Date(since).toISOString(),
        lastSeenAt: new Date(since + 20_000).toISOString(),
        latencyMs: 12,
      });
      clock.advance(60_001);
      expect(await shown()).to.deep.include({
        status: 'disconnected',
        connectedSince: null,
        latencyMs: null,
        lastSeenAt: new Date(since + 20_000).toISOString(),
      });
    });

    it('stays connected while another agent may join, which then replaces it', async () => {
      await join((await declare()).body.joinToken);
      await connect();
      const again = (await declare()).body;
      expect(again.status).to.equal('connected');
      agent = await aJoiningAgent();
      await join(again.joinToken);
      expect((await shown())?.status).to.equal('disconnected');
      await connect();
      expect((await shown())?.status).to.equal('connected');
    });

    it('shows which declarations its agent does not meet', async () => {
      for (const [kind, provider, location] of [
        ['database', 'PostgreSQL', 'Shanghai'],
        ['object_storage', 's3', null],
        ['malware_scanner', 'clamav', null],
        ['backup', 'tape', null],
      ] as const)
        await org.asOwner.post('/tenant-admin/data-plane', { kind, provider, location });
      const statuses = async () => Object.fromEntries((await listed()).map(({ kind, status }) => [kind, status]));
      const { body } = await declare();
      expect(await statuses()).to.deep.equal({
        agent: 'pending',
        backup: 'declared',
        database: 'pending',
        malware_scanner: 'pending',
        object_storage: 'pending',
      });
      await join(body.joinToken, [
        aComponent({ location: 'Shanghai' }),
        aComponent({ kind: 'object_storage', provider: 'minio' }),
        aComponent({ kind: 'malware_scanner', provider: 'none' }),
      ]);
      expect(await statuses()).to.deep.equal({
        agent: 'disconnected',
        backup: 'declared',
        database: 'connected',
        malware_scanner: 'mismatch',
        object_storage: 'connected',
      });
      const redeclared = await org.asOwner.post<Connection>('/tenant-admin/data-plane', {
        kind: 'database',
        location: 'Beijing',
      });
      expect(redeclared.body.status).to.equal('mismatch');
    });

    it('shows why it is suspended, until an agent joins again', async () => {
      await join((await declare()).body.joinToken);
      const at = { ...(await place()), at: clock.now() };
      await links((store) => store.suspend({ ...at, reason: 'Its data directory was copied.' }));
      expect(await shown()).to.deep.include({
        status: 'suspended',
        statusReason: 'Its data directory was copied.',
      });
      const again = (await declare()).body;
      expect([again.status, (await join(again.joinToken)).status]).to.deep.equal(['suspended', 200]);
      expect(await shown()).to.deep.include({ status: 'disconnected', statusReason: null });
    });

    it('is revoked with its keys and its token, and declared again under the same id', async () => {
      const { body } = await declare();
      await join(body.joinToken);
      const next = (await declare()).body;
      expect((await org.asOwner.delete('/tenant-admin/data-plane/agent')).status).to.equal(200);
      expect(await shown()).to.deep.include({ id: body.id, status: 'revoked', components: null, agentVersion: null });
      expect(await links((store) => store.byId(body.id))).to.deep.include({ agentKey: null, previousKey: null });
      expect((await join(next.joinToken)).status).to.equal(401);
      expect((await org.audit()).at(-1)).to.deep.include({ action: 'data_plane_revoked', recordId: body.id });
      const again = (await declare()).body;
      expect([again.id, again.status]).to.deep.equal([body.id, 'pending']);
      expect((await join(again.joinToken)).status).to.equal(200);
    });

    it('is of one organisation: others see and change their own only', async () => {
      await join((await declare()).body.joinToken);
      const other = await administration(server);
      expect(await listed(other)).to.deep.equal([]);
      expect((await other.asOwner.delete('/tenant-admin/data-plane/agent')).status).to.equal(404);
      await other.asOwner.post('/tenant-admin/data-plane', { kind: 'agent' });
      expect((await listed(other)).map(({ status }) => status)).to.deep.equal(['pending']);
      expect((await shown())?.status).to.equal('disconnected');
    });
  });
}
