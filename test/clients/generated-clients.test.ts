import { cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { CLIENT_TOOLS, needsClientTools, runTool } from '../support/client-tools.js';
import { makeTenant, PASSWORD, signIn } from '../support/accounts.js';
import { aContract, aLine } from '../support/samples.js';
import { root } from '../support/source.js';
import { startServer, type TestServer } from '../support/server.js';

/** Too much for 32 bits to hold with its cents. */
const AMOUNT = 1_234_567.89;

describe('clients are generated from the OpenAPI document, compile unedited, and do the main job', () => {
  needsClientTools();
  let server: TestServer;
  let folder: string;
  before(async () => {
    server = await startServer();
    folder = await mkdtemp(join(tmpdir(), 'duebook-clients-'));
    await writeFile(join(folder, 'openapi.json'), (await server.client.get('/openapi.json')).text);
  });
  after(async () => {
    await server?.stop();
    if (folder) await rm(folder, { recursive: true, force: true });
  });

  it('in TypeScript, by openapi-typescript', async () => {
    const cwd = join(folder, 'typescript');
    await mkdir(cwd);
    await symlink(join(CLIENT_TOOLS, 'typescript', 'node_modules'), join(cwd, 'node_modules'));
    await writeFile(join(cwd, 'package.json'), '{ "type": "module" }');
    await cp(join(root, 'test', 'clients', 'programs', 'clerk.ts.txt'), join(cwd, 'clerk.ts'));
    const tool = (name: string) => [process.execPath, join('node_modules', name)];
    await runTool([...tool('openapi-typescript/bin/cli.js'), '../openapi.json', '-o', 'schema.d.ts'], { cwd });
    await runTool([...tool('typescript/bin/tsc'), ...STRICT, 'clerk.ts'], { cwd });
    await doesTheJob(server, (env) => runTool([process.execPath, 'clerk.js'], { cwd, env }));
  });

  it('in Go, by oapi-codegen', async () => {
    const cwd = join(folder, 'go');
    await cp(join(CLIENT_TOOLS, 'go'), cwd, { recursive: true });
    await rm(join(cwd, 'imports.go'));
    await cp(join(root, 'test', 'clients', 'programs', 'clerk.go'), join(cwd, 'clerk.go'));
    await mkdir(join(cwd, 'duebook'));
    const generate = ['./oapi-codegen', '-generate', 'types,client', '-package', 'duebook'];
    await runTool([...generate, '-o', 'duebook/client.go', '../openapi.json'], { cwd });
    await runTool(['go', 'vet', './...'], { cwd, env: OFFLINE });
    await runTool(['go', 'build', '-o', 'clerk', '.'], { cwd, env: OFFLINE });
    expect(await readFile(join(cwd, 'duebook', 'client.go'), 'utf8')).not.to.contain('float32');
    await doesTheJob(server, (env) => runTool(['./clerk'], { cwd, env }));
  });

  it('in Python, by openapi-python-client', async () => {
    const cwd = join(folder, 'python');
    await mkdir(cwd);
    await cp(join(root, 'test', 'clients', 'programs', 'clerk.py'), join(cwd, 'clerk.py'));
    const generate = ['openapi-python-client', 'generate', '--path', '../openapi.json', '--meta', 'none'];
    const said = await runTool([...generate, '--output-path', 'duebook', '--fail-on-warning'], { cwd });
    expect(said).not.to.match(/warning|unable|omitted/i);
    await runTool(['python', '-W', 'error', '-m', 'compileall', '-q', 'duebook'], { cwd });
    await doesTheJob(server, (env) => runTool(['python', 'clerk.py'], { cwd, env }));
  });
});

const STRICT = ['--strict', '--noUncheckedIndexedAccess', '--target', 'es2022', '--module', 'nodenext'];

const OFFLINE = { GOFLAGS: '-mod=vendor', GOPROXY: 'off', GOTOOLCHAIN: 'local' };

/** An organisation of its own, to which one line is owed. */
async function doesTheJob(
  server: TestServer,
  run: (env: Readonly<Record<string, string>>) => Promise<string>,
): Promise<void> {
  const made = await makeTenant(server.services, { planCode: 'enterprise' });
  const { client } = await signIn(server.client, { tenant: made.tenant, member: made.owner });
  const amount = 2 * AMOUNT;
  const line = aLine({ amount, dueDate: '2020-01-31' });
  const contract = aContract({ subjectId: made.subjectId, ownerId: made.owner.id, payments: [line] });
  const entered = await client.post('/contracts', contract);
  expect(entered.status, entered.text).to.equal(201);
  const said = await run({
    API: server.client.base,
    TENANT: made.tenant.slug,
    EMAIL: made.owner.email,
    PASSWORD,
    AMOUNT: String(AMOUNT),
  });
  expect(JSON.parse(said)).to.deep.equal({ owed: amount, received: AMOUNT, receipt: AMOUNT });
}
