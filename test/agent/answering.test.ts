import { expect } from 'chai';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { systemClock } from '../../data-plane-agent/base/clock.js';
import { isFailure } from '../../data-plane-agent/base/failures.js';
import { newId } from '../../data-plane-agent/base/ids.js';
import { signRequest } from '../../data-plane-agent/base/link/envelope.js';
import { newLinkKey, signerOf } from '../../data-plane-agent/base/link/keys.js';
import { entriesOf } from '../../data-plane-agent/agent/operation-log-reading.js';
import { logFolder } from '../../data-plane-agent/agent/operation-log-files.js';
import type { WireRequest } from '../../data-plane-agent/plane/contract/wire.js';
import { PROTOCOLS } from '../../data-plane-agent/base/link/limits.js';
import { factsOf, joinedFolders, planeOf, post, runAgent, type RunningAgent } from '../support/agent.js';
import { failureOf } from '../support/failures.js';
import { freePort } from '../support/guardian.js';
import { aCall } from '../support/plane.js';
import { aContract } from '../support/samples.js';
import { PDF } from '../support/uploads.js';

describe('an agent that is called directly', () => {
  let running: RunningAgent;
  after(() => running.stop());
  const folder = joinedFolders(after);

  const request = (name: string, input: unknown, changes: Partial<WireRequest['call']> = {}): WireRequest => ({
    protocol: PROTOCOLS.max,
    name,
    call: { ...aCall(), tenantId: running.joined.tenant.id, ...changes },
    input,
  });
  const posted = (asked: WireRequest, options: Parameters<typeof post>[3] = {}) =>
    post(running, { origin: running.origin, session: running.agent.bootId }, asked, options);

  before(async () => {
    const port = String(await freePort());
    running = await runAgent(await folder(), {
      env: { PORT: port, PUBLIC_URL: `http://127.0.0.1:${port}`, METRICS_TOKEN: 'metrics-token' },
    });
  });

  it('answers operations, and its replies are signed', async () => {
    const { plane } = planeOf(running);
    const { id } = await plane.createContract(aContract({ payments: [] }));
    expect((await plane.getContract({ contractId: id })).id).to.equal(id);
  });

  it('reports failures of the catalogue', async () => {
    const { plane } = planeOf(running);
    expect(await failureOf(plane.getContract({ contractId: newId() }))).to.include({ code: 'NOT_FOUND' });
  });

  it('serves its own signed links to files', async () => {
    const { plane } = planeOf(running);
    const presigned = await plane.presignFile({
      fileName: 'contract.pdf',
      contentType: 'application/pdf',
      kind: 'contract_original',
      sizeBytes: PDF.length,
    });
    expect(presigned.uploadUrl.startsWith(`${running.origin}/files/`)).to.equal(true);
    const sent = await fetch(presigned.uploadUrl, {
      method: 'PUT',
      headers: { ...presigned.headers },
      body: new Uint8Array(PDF),
    });
    expect(sent.status).to.equal(200);
  });

  const refusals: Readonly<Record<string, () => Promise<{ status: number; refused: string | undefined }>>> = {
    'signature: of a token that was altered': async () => {
      const asked = request('listContracts', {});
      const token = await tokenFor(asked, {});
      return posted(asked, { token: `${token.slice(0, -10)}${token.slice(-10).split('').toReversed().join('')}` });
    },
    'unknown_key: of another control plane': async () => {
      const asked = request('listContracts', {});
      return posted(asked, { token: await tokenFor(asked, { signer: signerOf(await newLinkKey()) }) });
    },
    'body: another body than the signed one': async () => {
      const asked = request('listContracts', {});
      return posted(asked, {
        token: await tokenFor(asked, {}),
        body: Buffer.from(JSON.stringify(request('listContracts', { limit: 1 }))),
      });
    },
    'session: of an earlier start': async () => {
      const asked = request('listContracts', {});
      return posted(asked, { token: await tokenFor(asked, { session: newId() }) });
    },
    'tenant: a body for another organisation': () => posted(request('listContracts', {}, { tenantId: newId() })),
    'clock_skew: a token that was signed five minutes ago': async () => {
      const asked = request('listContracts', {});
      return posted(asked, { token: await tokenFor(asked, { at: systemClock.now() - 300_000 }) });
    },
    'malformed: no token': () => posted(request('listContracts', {}), { token: 'nothing' }),
    'malformed: a body that is no request': async () => {
      const body = Buffer.from('[]');
      return posted(request('listContracts', {}), {
        token: await tokenFor(request('listContracts', {}), { body }),
        body,
      });
    },
    'claims: a token for another operation': async () => {
      const asked = request('deleteContract', { contractId: newId() });
      return posted(asked, {
        token: await tokenFor({ ...asked, name: 'listContracts' }, { body: Buffer.from(JSON.stringify(asked)) }),
      });
    },
  };
  const tokenFor = async (
    asked: WireRequest,
    {
      session = running.agent.bootId,
      at,
      signer,
      body = Buffer.from(JSON.stringify(asked)),
    }: {
      readonly session?: string;
      readonly at?: number;
      readonly signer?: Awaited<ReturnType<typeof signerOf>>;
      readonly body?: Uint8Array;
    },
  ): Promise<string> =>
    signRequest(factsOf(running, session), {
      operation: asked.name,
      subject: 'test',
      body,
      jti: newId(),
      signer: signer ?? signerOf(running.controlPlane),
      clock: at === undefined ? systemClock : { now: () => at },
    }).token;

  for (const [name, attempt] of Object.entries(refusals)) {
    it(`does not accept a request, with the reason ${name}`, async () => {
      const { status, refused } = await attempt();
      expect([status, refused]).to.deep.equal([401, name.split(':')[0]]);
    });
  }

  it('accepts a request once', async () => {
    const asked = request('listContracts', {});
    const token = await tokenFor(asked, {});
    const send = () =>
      fetch(`${running.origin}/link/v1/operations`, {
        method: 'POST',
        headers: { Authorization: `Bearer ${token}` },
        body: JSON.stringify(asked),
      });
    expect([(await send()).status, (await send()).status]).to.deep.equal([200, 401]);
  });

  it('logs each operation with its outcome and the actor, and nothing of the contract', async () => {
    const { call, plane } = planeOf(running, { requestId: newId() });
    const contract = aContract({ projectName: 'A secret name', payments: [] });
    const { id } = await plane.createContract(contract);
    await plane.getContract({ contractId: id });
    const entries = await logged(running, call.requestId);
    expect(
      entries.map(({ operation, actorKind, actorId, outcome, ids }) => ({
        operation,
        actorKind,
        actorId,
        outcome,
        ids,
      })),
    ).to.deep.equal([
      {
        operation: 'createContract',
        actorKind: 'user',
        actorId: call.actor.id,
        outcome: 'ok',
        ids: { subjectId: contract.subjectId, ownerId: contract.ownerId },
      },
      { operation: 'getContract', actorKind: 'user', actorId: call.actor.id, outcome: 'ok', ids: { contractId: id } },
    ]);
    expect(JSON.stringify(entries)).not.to.contain('secret');
  });

  it('counts operations by outcome and refusals by reason, and tells its state', async () => {
    const metrics = await (
      await fetch(`${running.origin}/metrics`, { headers: { Authorization: 'Bearer metrics-token' } })
    ).text();
    expect(metrics).to.match(/duebook_agent_operations_total\{operation="createContract",outcome="ok"\} [1-9]/);
    expect(metrics).to.match(/duebook_agent_refusals_total\{reason="body"\} 1/);
    expect(metrics).to.match(/duebook_agent_link_connected 1/);
    expect(metrics).to.match(/nodejs_eventloop_lag_seconds/);
    expect(metrics).to.match(/duebook_database_connections\{database="tenant"/);
    expect(metrics).to.match(/^duebook_file_scans_total\{verdict="infected"\} 0$/m);
    expect(metrics).to.match(/^duebook_file_scans_oldest_seconds 0$/m);
    for (const path of ['/livez', '/readyz'])
      expect(await (await fetch(`${running.origin}${path}`)).json()).to.deep.equal({ status: 'ok' });
    expect(await (await fetch(`${running.origin}/healthz`)).json()).to.include({
      link: 'direct',
      malware_scanner: 'unknown',
    });
  });

  it('refuses other methods, and bodies that are too large before it reads them', async () => {
    expect((await fetch(`${running.origin}/link/v1/operations`)).status).to.equal(405);
    const large = await fetch(`${running.origin}/link/v1/operations`, {
      method: 'POST',
      headers: { Authorization: 'Bearer nothing' },
      body: new Uint8Array(200_000),
    });
    expect(large.status).to.equal(401);
  });
});

describe('the policy of an agent', () => {
  const stops: (() => Promise<unknown>)[] = [];
  afterEach(async () => {
    for (const stop of stops.splice(0)) await stop();
  });
  const folder = joinedFolders();
  const withPolicy = async (policy: object): Promise<RunningAgent> => {
    const home = await folder();
    writeFileSync(join(home.dataDir, 'policy.json'), JSON.stringify(policy));
    const running = await runAgent(home);
    stops.push(running.stop);
    return running;
  };

  it('refuses what it names, with DATA_PLANE_DENIED and a line in the log of operations', async () => {
    const running = await withPolicy({ deny: ['createContract'] });
    const { plane, call } = planeOf(running, { requestId: newId() });
    const refused: unknown = await plane.createContract(aContract({ payments: [] })).catch((error: unknown) => error);
    expect(isFailure(refused, 'DATA_PLANE_DENIED') && refused.details).to.deep.equal({ operation: 'createContract' });
    expect((await plane.listContracts({})).items).to.deep.equal([]);
    const entries = await logged(running, call.requestId);
    expect(entries.map(({ operation, outcome }) => `${String(operation)} ${String(outcome)}`)).to.deep.equal([
      'createContract DATA_PLANE_DENIED',
      'listContracts ok',
    ]);
  });

  it('is read again when asked; an invalid file changes nothing', async () => {
    const running = await withPolicy({});
    const { plane } = planeOf(running);
    await plane.createContract(aContract({ payments: [] }));
    const path = join(running.dataDir, 'policy.json');
    writeFileSync(path, JSON.stringify({ readOnly: true }));
    running.agent.reloadPolicy();
    expect(await failureOf(plane.createContract(aContract({ payments: [] })))).to.include({
      code: 'DATA_PLANE_DENIED',
    });
    writeFileSync(path, '{ "readOnly": false, "deny": ["dropTables"] }');
    running.agent.reloadPolicy();
    expect(await failureOf(plane.createContract(aContract({ payments: [] })))).to.include({
      code: 'DATA_PLANE_DENIED',
    });
    expect(running.logged.filter(({ level }) => Number(level) >= 50).at(-1)).to.include({
      msg: 'the policy file is invalid; the former policy stays in effect',
    });
  });
});

const logged = async ({ dataDir, agent }: RunningAgent, requestId: string) => {
  await agent.operationLog.flush();
  const found = [];
  for await (const entry of entriesOf(logFolder(dataDir), {})) if (entry['requestId'] === requestId) found.push(entry);
  return found;
};
