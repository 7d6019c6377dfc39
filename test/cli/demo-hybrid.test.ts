import { expect } from 'chai';
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { until } from '../support/joined-agent.js';
import { installations, type Installation, type Running } from '../support/cli.js';
import { freePort } from '../support/guardian.js';
import { skipUnless } from '../support/needs-programs.js';

interface Served {
  readonly created: boolean;
  readonly url: string;
  readonly tryIt: readonly string[];
  readonly signIn: { readonly email: string };
  readonly agent?: {
    readonly pid: number;
    readonly url: string;
    readonly dataDir: string;
    readonly operationLog: string;
  };
}

/** Starts the demo and waits for what it prints. */
async function served(
  { start }: Installation,
  args: readonly string[],
  env: Readonly<Record<string, string>>,
): Promise<Served & { readonly running: Running }> {
  const running = start(['demo', '--json', ...args], { env });
  const printed = await running.printed('\n}\n');
  return { ...(JSON.parse(printed) as Served), running };
}

/** Without ids and instants, which differ from one installation to another. */
const comparable = (text: string): unknown =>
  JSON.parse(
    text.replaceAll(/[0-9a-f]{8}-[0-9a-f-]{27}/g, 'an id').replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'an instant'),
    (key, value: unknown) => (key === 'dynamicFields' ? undefined : value),
  );

const curl = (line: string, cwd: string): Record<string, unknown> =>
  JSON.parse(execFileSync('bash', ['-c', `${line} --fail`], { cwd, encoding: 'utf8' })) as Record<string, unknown>;

const CONTRACTS = 'contracts?pageSize=200&sort=contractNo';

/** What the service answers about its contracts. */
async function bookOf({ url, tryIt }: Served): Promise<Record<string, unknown>> {
  const token = /Bearer [^']+/.exec(tryIt[1] ?? '')?.[0] ?? '';
  const answers: Record<string, unknown> = {};
  for (const path of [
    CONTRACTS,
    'contracts?pageSize=200&sort=contractNo&page=2',
    'contracts/trash',
    'payments/stats',
    'analytics/summary',
    'saved-views/contracts',
  ]) {
    const answer = await fetch(`${url}/api/v1/${path}`, { headers: { Authorization: token } });
    expect(answer.status, path).to.equal(200);
    answers[path] = comparable(await answer.text());
  }
  return answers;
}

const isRunning = (pid: number): boolean => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};

const pidOf = ({ agent }: Served): number => {
  if (!agent) throw new Error('the demo has no agent');
  return agent.pid;
};

describe('duebook demo --hybrid', function () {
  // Creates the demo twice: behind an agent, and without one.
  this.timeout(180_000);
  const install = installations(after);
  let hybrid: Installation;
  let env: Record<string, string>;
  let args: readonly string[];
  let first: Served & { readonly running: Running };

  before('create the demo behind an agent', async () => {
    hybrid = await install();
    env = { PORT: String(await freePort()) };
    args = ['--hybrid', '--agent-port', String(await freePort())];
    first = await served(hybrid, args, env);
  });

  it('starts an agent that stores the contracts of the ordinary demo, and nothing of them is in the service', async () => {
    const { agent } = first;
    expect(first.created).to.equal(true);
    expect(agent?.dataDir).to.equal(join(hybrid.dataDir, 'agent'));
    expect(existsSync(join(hybrid.dataDir, 'agent', 'tenant.db'))).to.equal(true);
    expect(existsSync(join(hybrid.dataDir, 'tenant.db'))).to.equal(false);
    expect(existsSync(join(hybrid.dataDir, 'files'))).to.equal(false);
    expect(existsSync(agent?.operationLog ?? '')).to.equal(true);
    expect(await (await fetch(`${agent?.url}/healthz`)).json()).to.include({ link: 'connected' });

    const ordinary = await served(await install(), [], { PORT: String(await freePort()) });
    const [behind, direct] = [await bookOf(first), await bookOf(ordinary)];
    for (const [path, answer] of Object.entries(behind)) expect(answer, path).to.deep.equal(direct[path]);
    expect(behind[CONTRACTS]).to.have.property('total', 300);
    ordinary.running.kill('SIGTERM');
    expect((await ordinary.running.ended).code).to.equal(0);
  });

  it('prints three lines for a shell that each work alone', function () {
    skipUnless(this, 'bash', 'curl');
    const empty = join(hybrid.folder, 'empty');
    mkdirSync(empty);
    expect(first.tryIt).to.have.length(3);
    const [signIn, contracts, receipt] = first.tryIt.map((line) => curl(line, empty));
    expect(signIn).to.include.keys('accessToken', 'tenant', 'user');
    expect(contracts?.['items']).to.be.an('array').with.length(5);
    expect(receipt).to.deep.include({ paymentStatus: 'paid', outstandingAmount: 0 });
  });

  it('ends with both processes on SIGTERM, and continues with the same data and connection', async () => {
    first.running.kill('SIGTERM');
    expect((await first.running.ended).code).to.equal(0);
    expect(isRunning(pidOf(first))).to.equal(false);

    const keyOfAgent = () => readFileSync(join(hybrid.dataDir, 'agent', 'identity', 'key.json'), 'utf8');
    const key = keyOfAgent();
    const again = await served(hybrid, args, env);
    first = again;
    expect(again.created).to.equal(false);
    expect(again.signIn).to.deep.equal(first.signIn);
    expect(keyOfAgent()).to.equal(key);
  });

  it('ends and reports it if the agent has ended', async () => {
    process.kill(pidOf(first), 'SIGKILL');
    const { code, stderr } = await first.running.ended;
    expect(code).to.equal(1);
    expect(stderr).to.contain('the agent has ended (SIGKILL), so its contract data is not available');
  });

  it('leaves no agent if it is killed itself', async () => {
    const killed = await served(hybrid, args, env);
    killed.running.kill('SIGKILL');
    await until(() => Promise.resolve(!isRunning(pidOf(killed))), 'the agent has ended');
  });

  it('reports that the port of the agent is in use', async () => {
    const other = createServer();
    await new Promise<void>((resolve) => other.listen(Number(args[2]), '127.0.0.1', resolve));
    try {
      const { code, stderr } = await hybrid.inProcess(['demo', ...args, '--json'], { env });
      expect((JSON.parse(stderr) as { error: unknown }).error).to.deep.equal({
        code: 'EADDRINUSE',
        message: `127.0.0.1:${args[2]} is in use; choose another port for the agent with --agent-port`,
      });
      expect(code).to.equal(1);
    } finally {
      await new Promise((resolve) => other.close(resolve));
    }
  });

  it('is refused without a port, and in the directory of a demo of the other kind', async () => {
    const codeOf = async (given: readonly string[], at: Installation, port: string) => {
      const { stderr } = await at.inProcess(['demo', '--json', '--no-serve', ...given], { env: { PORT: port } });
      return (JSON.parse(stderr) as { error: { code: string } }).error.code;
    };
    const fresh = await install();
    expect(await codeOf(['--hybrid'], fresh, '0')).to.equal('PORT_REQUIRED');
    expect(await codeOf([], hybrid, '0')).to.equal('DEMO_OF_OTHER_KIND');
  });

  it('is refused in production', async () => {
    const { inProcess, dataDir } = await install();
    const production = {
      NODE_ENV: 'production',
      PUBLIC_URL: 'https://book.acme.example',
      MFA_REQUIRED_FOR_ADMINS: 'false',
      FILE_SCAN_MODE: 'off',
      SECRET_KEYS: `k1:${Buffer.alloc(32, 7).toString('base64')}`,
    };
    const { code, stderr } = await inProcess(['demo', '--hybrid', '--json'], { env: production });
    expect((JSON.parse(stderr) as { error: { code: string } }).error.code).to.equal('DEMO_IN_PRODUCTION');
    expect(existsSync(dataDir)).to.equal(false);
    expect(code).to.equal(1);
  });
});
