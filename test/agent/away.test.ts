import { expect } from 'chai';
import { statSync } from 'node:fs';
import { signRequest, verifyReply } from '../../data-plane-agent/base/link/envelope.js';
import { newId } from '../../data-plane-agent/base/ids.js';
import { newLinkKey, signerOf, verifierOf } from '../../data-plane-agent/base/link/keys.js';
import { PROTOCOLS } from '../../data-plane-agent/base/link/limits.js';
import { LINK_PATHS, type Hello, type LinkedTenant, type Welcome } from '../../data-plane-agent/base/link/messages.js';
import { versionOf } from '../../data-plane-agent/base/package-version.js';
import { systemCall } from '../../data-plane-agent/host/system-call.js';
import { bind } from '../../data-plane-agent/plane/contract/data-plane.js';
import { OPERATIONS } from '../../data-plane-agent/plane/operations/index.js';
import { operationsHash } from '../../data-plane-agent/plane/operations/hash.js';
import { TENANT_MIGRATIONS } from '../../data-plane-agent/plane/store/migrations/index.js';
import type { Connect, LinkParts } from '../../data-plane-agent/agent/link.js';
import { factsOf, joinedFolders, runAgent, UNLINKED, type RunningAgent } from '../support/agent.js';
import { fakeClock } from '../support/clock.js';
import { aCall } from '../support/plane.js';
import { aContract } from '../support/samples.js';

describe('an agent whose control plane is away', () => {
  const stops: (() => Promise<unknown>)[] = [];
  afterEach(async () => {
    for (const stop of stops.splice(0)) await stop();
  });
  const folder = joinedFolders();
  const run = async (
    mode: 'outbound' | 'direct',
    options: Parameters<typeof runAgent>[1] = {},
  ): Promise<RunningAgent> => {
    const running = await runAgent(await folder(mode), options);
    stops.push(running.stop);
    return running;
  };
  const planeOf = (running: RunningAgent) =>
    bind(running.agent.hosted.plane, { ...aCall(), tenantId: running.joined.tenant.id }, { operations: OPERATIONS });

  it('runs the schedules of its data: overdue tasks, the chain of the audit, the daily look for work', async () => {
    const clock = fakeClock('2026-03-15T08:00:00.000Z');
    const running = await run('outbound', { clock });
    const plane = planeOf(running);
    const { id } = await plane.createContract(aContract({ payments: [] }));
    const task = await plane.addTask({ contractId: id, code: 'T-1', title: 'Deliver', dueDate: '2026-03-16' });
    await running.agent.runJob('audit-chain');
    expect((await plane.getAuditHead({})).waiting).to.equal(0);
    clock.advance(3 * 86_400_000);
    await running.agent.runJob('look-for-work');
    await running.agent.runJob('upkeep');
    const { fulfillmentTasks } = await plane.getContract({ contractId: id });
    expect(fulfillmentTasks.find((one) => one.id === task.id)?.status).to.equal('overdue');
    expect(await (await fetch(`${running.origin}/readyz`)).json()).to.deep.equal({ status: 'ok' });
    expect(await (await fetch(`${running.origin}/healthz`)).json()).to.include({
      status: 'degraded',
      link: 'disconnected',
    });
  });

  it('lets the jobs of a suspended organisation wait', async () => {
    const running = await run('outbound');
    const plane = planeOf(running);
    await plane.createContract(aContract({ payments: [] }));
    running.agent.identity.setTenant({ ...running.joined.tenant, active: false });
    await running.agent.runJob('audit-chain');
    expect((await plane.getAuditHead({})).waiting).to.be.greaterThan(0);
  });

  it('announces due messages once it is connected, and reports them', async () => {
    const notices: string[] = [];
    let parts: LinkParts | undefined;
    let state: 'connected' | 'disconnected' = 'disconnected';
    const connect: Connect = (given) => {
      parts = given;
      return {
        ...UNLINKED(given),
        get state() {
          return state;
        },
        notice: (topic) => void notices.push(topic),
      };
    };
    const clock = fakeClock('2026-03-15T08:00:00.000Z');
    const running = await run('outbound', { connect, clock });
    const { tenant } = running.joined;
    const plane = bind(
      running.agent.hosted.plane,
      systemCall({
        tenant,
        actor: { kind: 'system', id: null, name: 'test', ip: null },
        requestId: newId(),
        at: clock.now(),
      }),
      { operations: OPERATIONS },
    );
    await running.agent.hosted.database.write({ tenantId: tenant.id }, async (tx) => {
      await tx.run("INSERT INTO due_work (tenant_id, kind, slot, due_at) VALUES (?, 'outbox', 0, ?)", [
        tenant.id,
        clock.now() - 1,
      ]);
    });
    await plane.lookForWork({});
    await running.agent.runJob('outbox');
    expect(notices).to.deep.equal([]);
    await running.agent.runJob('report');
    expect(parts?.report().outboxDue).to.equal(true);
    state = 'connected';
    await running.agent.runJob('outbox');
    expect(notices).to.deep.equal(['outbox']);
  });

  it('takes keys and settings from a hello of its control plane, and reports version, schema and components', async () => {
    const running = await run('direct', { env: { DATA_LOCATION: 'eu', OBJECT_STORE_LOCATION: 'eu-2' } });
    await running.agent.runJob('report');
    const next = await newLinkKey();
    const tenant: LinkedTenant = { ...running.joined.tenant, reminderHour: 12 };
    const { answer, verified } = await hello(running, {
      tenant,
      keys: [running.controlPlane.publicJwk, next.publicJwk],
    });
    expect(answer.status).to.equal(200);
    const { components } = verified.report;
    expect(verified).to.deep.include({
      instanceId: running.agent.identity.instanceId,
      bootId: running.agent.bootId,
      version: versionOf(import.meta.url),
      protocols: PROTOCOLS,
      operations: operationsHash(),
      schema: TENANT_MIGRATIONS.at(-1)?.id,
    });
    expect(components).to.deep.equal([
      { kind: 'database', provider: 'sqlite', location: 'eu', state: 'up' },
      { kind: 'object_storage', provider: 'filesystem', location: 'eu-2', state: 'up' },
      { kind: 'malware_scanner', provider: 'none', location: 'eu', state: 'unknown' },
    ]);
    expect(running.agent.identity.tenant.reminderHour).to.equal(12);
    expect(await running.agent.identity.accepts(next.kid)).not.to.equal(undefined);
    // The settings are stored, for a start while the control plane is away.
    expect(statSync(`${running.dataDir}/identity/tenant.json`).size).to.be.greaterThan(0);
  });

  it('accepts no hello of somebody else, and none for another organisation', async () => {
    const running = await run('direct');
    const foreign = await newLinkKey();
    const { answer } = await hello({ ...running, controlPlane: foreign }, {});
    expect(answer.status).to.equal(401);
    const other = await hello(running, { tenant: { ...running.joined.tenant, id: newId() } });
    expect(other.answer.status).to.equal(500);
    expect(running.agent.identity.tenant.id).to.equal(running.joined.tenant.id);
  });

  const hello = async (running: RunningAgent, changes: Partial<Welcome>) => {
    const facts = factsOf(running, '-');
    const welcome: Welcome = {
      sid: newId(),
      protocol: 1,
      version: '0.1.0',
      operations: operationsHash(),
      serverTime: 0,
      tenant: running.joined.tenant,
      keys: [running.controlPlane.publicJwk],
      connections: 1,
      ...changes,
    };
    const body = Buffer.from(JSON.stringify(welcome));
    const jti = newId();
    const clock = { now: () => performance.timeOrigin + performance.now() };
    const by = { signer: signerOf(running.controlPlane), clock };
    const { token } = signRequest(facts, { operation: 'hello', subject: 'system', body, jti, ...by });
    const answer = await fetch(`${running.origin}${LINK_PATHS.hello}`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' },
      body,
    });
    const bytes = Buffer.from(await answer.arrayBuffer());
    const reply = answer.headers.get('duebook-reply');
    const ownKey = verifierOf(running.own.publicJwk);
    if (reply !== null) await verifyReply({ token: reply, body: bytes, jti }, facts, { keyOf: () => ownKey, clock });
    return { answer, verified: JSON.parse(bytes.toString('utf8')) as Hello };
  };
});
