import { expect } from 'chai';
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { makeTenant, signIn } from '../support/accounts.js';
import { startAgent as agentProgram } from '../support/agent-program.js';
import { membersIn } from '../support/backup-archive.js';
import type { Outcome } from '../support/cli.js';
import type { Client } from '../support/http.js';
import { startHybrid } from '../support/hybrid.js';
import { startAgent, until, type TestAgent } from '../support/joined-agent.js';
import { aContract } from '../support/samples.js';
import type { TestServer } from '../support/server.js';
import { uploadsOf } from '../support/uploads.js';

const PASSPHRASE = 'a lost disk is no lost book';

describe('duebook-agent backup', function () {
  this.timeout(180_000);
  let server: TestServer;
  let agent: TestAgent;
  let owner: Client;
  let tenantId = '';
  let subjectId = '';
  let ownerId = '';
  let folder = '';

  before(async () => {
    server = await startHybrid();
  });
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'duebook-agent-backup-'));
    const made = await makeTenant(server.services);
    tenantId = made.tenant.id;
    subjectId = made.subjectId;
    ownerId = made.owner.id;
    owner = (await signIn(server.client, { tenant: made.tenant, member: made.owner })).client;
    agent = await startAgent(server, tenantId);
  });
  afterEach(async () => {
    await agent?.stop();
    await rm(folder, { recursive: true, force: true });
  });
  after(() => server?.stop());

  const run = (...args: string[]): Promise<Outcome> =>
    agentProgram([...args, '--json'], { cwd: folder, env: { DATA_DIR: agent.dataDir }, input: PASSPHRASE }).ended;
  const errorOf = ({ stderr }: Outcome) => (JSON.parse(stderr) as { error: { code: string; message: string } }).error;
  const enter = async (contractNo: string): Promise<string> => {
    const { status, body, text } = await owner.post<{ id: string }>(
      '/contracts',
      aContract({ contractNo, subjectId, ownerId }),
    );
    expect(status, text).to.equal(201);
    return body.id;
  };

  it('restores the data, the files, the log and the identity: the agent serves again over its link', async () => {
    const file = join(folder, 'agent.tar');
    const id = await enter('BEFORE-1');
    const upload = await uploadsOf(owner).upload({ subjectId });
    writeFileSync(join(agent.dataDir, 'policy.json'), '{ "export": false }');
    await agent.serving.operationLog.flush();
    const made = await run('backup', file);
    expect(made.code, made.stderr).to.equal(0);
    expect(statSync(file).mode & 0o777).to.equal(0o600);
    expect(membersIn(file)).to.include.members(['databases/tenant.db', 'operations/head.json', 'policy.json']);
    const key = JSON.parse(readFileSync(join(agent.dataDir, 'identity', 'key.json'), 'utf8')) as {
      current: { privateJwk: { d: string } };
    };
    expect(readFileSync(file, 'latin1')).not.to.contain(key.current.privateJwk.d);
    expect((await run('backup', 'verify', file)).code).to.equal(0);

    const running = await run('restore', file, '--force');
    expect(errorOf(running).code, 'while it runs').to.equal('AGENT_RUNNING');
    await agent.halt();
    for (const name of readdirSync(agent.dataDir)) await rm(join(agent.dataDir, name), { recursive: true });
    const restored = await run('restore', file);
    expect(restored.code, restored.stderr).to.equal(0);
    expect(readdirSync(agent.dataDir).filter((name) => /restor/.test(name))).to.deep.equal([]);
    expect(readFileSync(join(agent.dataDir, 'policy.json'), 'utf8')).to.equal('{ "export": false }');
    expect((await run('audit', 'verify')).code).to.equal(0);

    await agent.start();
    expect((await owner.get<{ contractNo: string }>(`/contracts/${id}`)).body.contractNo).to.equal('BEFORE-1');
    expect((await owner.get<{ sha256: string }>(`/files/${upload.id}`)).body.sha256).to.equal(upload.sha256);
    expect((await owner.get(`/files/${upload.id}/download`)).status).to.equal(200);
  });

  it('a backup restored elsewhere while the agent goes on is noticed as a copy', async () => {
    const file = join(folder, 'agent.tar');
    const made = await run('backup', file);
    expect(made.code, made.stderr).to.equal(0);
    // Two more sessions, which the copy does not know of.
    for (let i = 0; i < 2; i += 1) {
      await agent.halt();
      await agent.start();
    }
    await agent.halt();
    for (const name of readdirSync(agent.dataDir)) await rm(join(agent.dataDir, name), { recursive: true });
    expect((await run('restore', file)).code).to.equal(0);
    const starting = agent.start();
    starting.catch(() => undefined); // it waits for a connection, which is refused
    await until(
      async () =>
        (await server.services.tenants.connections.list(tenantId)).some(({ status }) => status === 'suspended'),
      'the connection is suspended',
    );
  });

  it('keeps an identity and a log that are newer than the backup, and refuses those of another agent', async () => {
    const file = join(folder, 'agent.tar');
    await enter('KEPT-1');
    expect((await run('backup', file)).code).to.equal(0);
    await agent.halt();
    const sequence = readFileSync(join(agent.dataDir, 'identity', 'sequence.json'), 'utf8');
    await rm(join(agent.dataDir, 'tenant.db'));
    const restored = await run('restore', file, '--force');
    expect(restored.code, restored.stderr).to.equal(0);
    expect(readFileSync(join(agent.dataDir, 'identity', 'sequence.json'), 'utf8')).to.equal(sequence);
    await rm(join(agent.dataDir, 'tenant.db'));
    const key = join(agent.dataDir, 'identity', 'key.json');
    const other = JSON.parse(readFileSync(key, 'utf8')) as { instanceId: string };
    writeFileSync(key, JSON.stringify({ ...other, instanceId: '11111111-1111-4111-8111-111111111111' }));
    await rm(join(agent.dataDir, 'files'), { recursive: true, force: true });
    const refused = await run('restore', file);
    expect([refused.code, errorOf(refused).code]).to.deep.equal([1, 'OTHER_IDENTITY']);
  });
});
