import { expect } from 'chai';
import { appendFileSync, chmodSync, existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { get } from 'node:https';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { openOperationLog } from '../../data-plane-agent/agent/operation-log.js';
import { dayFiles, logFolder } from '../../data-plane-agent/agent/operation-log-files.js';
import { createLog } from '../../data-plane-agent/base/log.js';
import { generateKeyRingText } from '../../data-plane-agent/base/secrets.js';
import { agentConfig, joinedFolders, type JoinedFolder } from '../support/agent.js';
import { startAgent, type AgentProcess } from '../support/agent-program.js';
import type { Outcome } from '../support/cli.js';
import { CERTIFICATE, LOCAL_CERTIFICATE, LOCAL_PRIVATE_KEY } from '../support/certificate.js';
import { fakeClock } from '../support/clock.js';
import { freePort } from '../support/guardian.js';

describe('duebook-agent', () => {
  const running: AgentProcess[] = [];
  afterEach(async () => {
    for (const one of running.splice(0)) {
      one.kill('SIGKILL');
      await one.ended;
    }
  });
  const folder = joinedFolders();

  type Env = Readonly<Record<string, string>>;
  const start = (home: JoinedFolder, args: readonly string[], env: Env = {}): AgentProcess => {
    mkdirSync(home.dataDir, { recursive: true });
    const started = startAgent(args, { cwd: join(home.dataDir, '..'), env: { DATA_DIR: home.dataDir, ...env } });
    running.push(started);
    return started;
  };
  const agent = (home: JoinedFolder, args: readonly string[], env: Env = {}): Promise<Outcome> =>
    start(home, args, env).ended;
  const errorOf = ({ stderr }: Outcome): { code: string; message: string } =>
    (JSON.parse(stderr) as { error: { code: string; message: string } }).error;

  it('runs until SIGTERM, which ends it with 0, and refuses a second one in its directory', async () => {
    const home = await folder();
    const port = String(await freePort());
    const first = start(home, ['run'], { PORT: port, METRICS_TOKEN: 'token' });
    await first.printed('listening on');
    expect((await fetch(`http://127.0.0.1:${port}/readyz`)).status).to.equal(200);
    const second = await agent(home, ['run', '--json'], { PORT: '0' });
    expect([second.code, errorOf(second).code]).to.deep.equal([1, 'AGENT_RUNNING']);
    const inTheWay = await agent(await folder(), ['run', '--json'], { PORT: port });
    expect([inTheWay.code, errorOf(inTheWay).message]).to.deep.equal([
      1,
      `127.0.0.1:${port} is in use; set PORT to another port`,
    ]);
    first.kill('SIGTERM');
    const { code, stdout } = await first.ended;
    expect(code, stdout).to.equal(0);
    expect(stdout).to.contain('"failed":[]');
  });

  it('reads its policy again on SIGHUP', async () => {
    const home = await folder();
    const one = start(home, ['run'], { PORT: '0' });
    await one.printed('listening on');
    writeFileSync(join(home.dataDir, 'policy.json'), '{ "readOnly": true }');
    one.kill('SIGHUP');
    await one.printed('"policy":"read-only"');
  });

  it('serves https with a certificate of its own, and refuses one without its key', async () => {
    const home = await folder();
    const port = String(await freePort());
    const tls = { PORT: port, TLS_CERT: LOCAL_CERTIFICATE, TLS_KEY: LOCAL_PRIVATE_KEY };
    const one = start(home, ['run'], tls);
    await one.printed(`listening on https://127.0.0.1:${port}`);
    const body = await new Promise<string>((resolve, reject) => {
      get(`https://127.0.0.1:${port}/livez`, { ca: LOCAL_CERTIFICATE, agent: false }, (response) => {
        text(response).then(resolve, reject);
      }).on('error', reject);
    });
    expect(body).to.equal('{"status":"ok"}');
    const { stdout } = await agent(home, ['doctor'], tls);
    expect(stdout).to.contain('link: the control plane calls this agent');
    for (const [env, said] of [
      [{ TLS_CERT: LOCAL_CERTIFICATE }, 'TLS_KEY is required with TLS_CERT'],
      [{ TLS_CERT: CERTIFICATE, TLS_KEY: LOCAL_PRIVATE_KEY }, 'TLS_KEY is not the key of the certificate'],
      [{ TLS_CERT: 'x', TLS_KEY: LOCAL_PRIVATE_KEY }, 'TLS_CERT must be a certificate in PEM'],
    ] as const) {
      const refused = await agent(home, ['run'], env);
      expect([refused.code, refused.stderr.includes(said)], said).to.deep.equal([78, true]);
    }
  });

  it('does not run with invalid settings or an invalid policy (78), unjoined, or with a key that others can read (1)', async () => {
    const home = await folder();
    const settings = await agent(home, ['run'], { PORT: 'x', OPERATION_LOG_DAYS: '0', FILE_SCAN_MODE: 'clamav' });
    expect(settings.code).to.equal(78);
    for (const name of ['PORT', 'OPERATION_LOG_DAYS', 'CLAMAV_URL']) expect(settings.stderr).to.contain(`  ${name} `);
    const production = await agent(home, ['run'], { NODE_ENV: 'production' });
    expect([production.code, production.stderr.includes('SECRET_KEYS is required')]).to.deep.equal([78, true]);
    writeFileSync(join(home.dataDir, 'policy.json'), '{ "deny": ["dropTables"] }');
    const policy = await agent(home, ['run'], { PORT: '0' });
    expect([policy.code, policy.stderr.includes('"dropTables", which is no operation')]).to.deep.equal([78, true]);
    rmSync(join(home.dataDir, 'policy.json'));
    const missing = await agent(home, ['run'], { PORT: '0', POLICY_FILE: join(home.dataDir, 'none.json') });
    expect([missing.code, missing.stderr.includes('does not exist')]).to.deep.equal([78, true]);
    const key = join(home.dataDir, 'identity', 'key.json');
    chmodSync(key, 0o644);
    const readable = await agent(home, ['run', '--json'], { PORT: '0' });
    expect([readable.code, errorOf(readable).message.includes(`chmod 600 ${key}`)]).to.deep.equal([1, true]);
    rmSync(join(home.dataDir, 'identity'), { recursive: true });
    const unjoined = await agent(home, ['run', '--json'], { PORT: '0' });
    expect([unjoined.code, errorOf(unjoined).code]).to.deep.equal([1, 'NOT_JOINED']);
  });

  it('shows its configuration with the source of each value, secrets masked, and creates nothing', async () => {
    const home = await folder();
    const ring = generateKeyRingText();
    const { code, stdout } = await agent(home, ['config', '--json'], {
      SECRET_KEYS: ring,
      DATA_LOCATION: 'eu-central',
      SCANNER_LOCATION: 'eu-west',
      TENANT_DATABASE_URL: 'postgres://u:hidden@db.test/x',
    });
    const { settings } = JSON.parse(stdout) as { settings: { name: string; value: string | null; source: string }[] };
    const found = new Map(settings.map(({ name, value, source }) => [name, [value, source]]));
    expect(code).to.equal(0);
    expect(found.get('DATABASE_LOCATION')).to.deep.equal(['eu-central', 'default']);
    expect(found.get('SCANNER_LOCATION')).to.deep.equal(['eu-west', 'environment']);
    expect(found.get('PORT')).to.deep.equal(['8090', 'default']);
    expect(stdout).not.to.contain('hidden');
    expect(stdout).not.to.contain(ring);
    expect(existsSync(join(home.dataDir, 'secret-keys'))).to.equal(false);
  });

  it('migrates its database, and shows the state without a change', async () => {
    const home = await folder();
    const state = async (): Promise<{ applied: string[]; pending: string[] } | undefined> =>
      (
        JSON.parse((await agent(home, ['migrate', '--status', '--json'])).stdout) as {
          databases: { applied: string[]; pending: string[] }[];
        }
      ).databases[0];
    const before = await state();
    expect(before?.applied).to.deep.equal([]);
    expect(existsSync(join(home.dataDir, 'tenant.db'))).to.equal(false);
    expect((await agent(home, ['migrate'])).stdout).to.contain('tenant: applied 0001');
    expect((await state())?.applied).to.deep.equal(before?.pending);
    expect((await agent(home, ['migrate'])).stdout).to.equal('tenant: up to date\n');
    const unreachable = await agent(home, ['migrate', '--json'], {
      TENANT_DATABASE_URL: 'postgres://a:b@127.0.0.1:1/x',
    });
    expect([unreachable.code, errorOf(unreachable).code]).to.deep.equal([1, 'DATABASE_UNREACHABLE']);
  });

  it('examines everything that it needs, one line each with the fix', async () => {
    const home = await folder();
    const { code, stdout } = await agent(home, ['doctor', '--json'], { PORT: '1' });
    const { ok, checks } = JSON.parse(stdout) as {
      ok: boolean;
      checks: { name: string; status: string; detail: string; fix: string | null }[];
    };
    expect([code, ok]).to.deep.equal([1, false]);
    expect(checks.map(({ name }) => name)).to.deep.equal([
      'node',
      'environment',
      'configuration',
      'identity',
      'policy',
      'data_dir',
      'disk',
      'tenant_database',
      'keys',
      'object_store',
      'scanner',
      'control_plane',
      'link',
    ]);
    const found = new Map(checks.map((one) => [one.name, one]));
    expect(found.get('identity')).to.include({ status: 'ok' });
    expect(found.get('control_plane')).to.include({ status: 'fail' });
    expect(found.get('link')).to.include({ status: 'warn', fix: 'start it: "duebook-agent run"' });
    expect(checks.filter(({ status, fix }) => (status === 'ok') !== (fix === null))).to.deep.equal([]);
    const text = await agent(home, ['doctor'], { PORT: '1' });
    expect(text.stdout.trimEnd().split('\n')).to.have.length(checks.length);
    expect(existsSync(join(home.dataDir, 'tenant.db'))).to.equal(false);
  });

  it('shows and verifies the log of operations', async () => {
    const home = await folder();
    const config = agentConfig(home.dataDir);
    const clock = fakeClock('2026-11-20T08:00:00.000Z');
    const log = openOperationLog({ ...config, days: 90, clock, log: createLog({ level: 'silent', name: 'test' }) });
    for (const operation of ['listContracts', 'downloadFile', 'listContracts']) {
      log.add({
        operation,
        actorKind: 'user',
        actorId: null,
        requestId: 'r-1',
        outcome: 'ok',
        ms: 1,
        bytesIn: 1,
        bytesOut: 2,
      });
      await log.flush();
      clock.advance(86_400_000);
    }
    await log.close();
    const lines = async (...args: readonly string[]): Promise<string[]> =>
      (await agent(home, ['audit', '--json', ...args])).stdout
        .split('\n')
        .filter((line) => line !== '')
        .map((line) => (JSON.parse(line) as { operation: string }).operation);
    expect(await lines()).to.deep.equal(['listContracts', 'downloadFile', 'listContracts']);
    expect(await lines('--operation', 'downloadFile')).to.deep.equal(['downloadFile']);
    expect(await lines('--since', '2026-11-21')).to.deep.equal(['downloadFile', 'listContracts']);
    expect(await lines('--until', '2026-11-21T00:00:00Z', '--limit', '0')).to.deep.equal(['listContracts']);
    expect((await agent(home, ['audit'])).stdout).to.match(/^2026-11-20T08:00:00.000Z {2}listContracts/);
    const misused = await agent(home, ['audit', '--since', 'yesterday']);
    expect([misused.code, misused.stderr.includes('--since must be a day')]).to.deep.equal([2, true]);

    const verified = await agent(home, ['audit', 'verify', '--json']);
    expect([verified.code, JSON.parse(verified.stdout)]).to.deep.equal([
      0,
      { ok: true, entries: 3, firstDay: '2026-11-20', lastDay: '2026-11-22', faults: [], torn: false },
    ]);
    appendFileSync(dayFiles(logFolder(home.dataDir)).at(-1)?.path ?? '', '{}\n');
    const broken = await agent(home, ['audit', 'verify']);
    expect([broken.code, broken.stdout.startsWith('FAIL  3 operations')]).to.deep.equal([1, true]);
  });

  it('has help with examples for every command, and exits with 2 for what it does not know', async () => {
    const home = await folder();
    const help = await agent(home, ['--help']);
    const commands = [...help.stdout.matchAll(/^ {2}([a-z-]+) \[options\]/gm)].map(([, name = '']) => name);
    expect(commands).to.have.members([
      'join',
      'run',
      'doctor',
      'audit',
      'migrate',
      'backup',
      'restore',
      'rotate-key',
      'rejoin',
      'config',
      'completion',
    ]);
    for (const command of commands) {
      const { code, stdout } = await agent(home, [command, '--help']);
      expect([code, stdout.includes('$ ') && stdout.includes('--json')], command).to.deep.equal([0, true]);
    }
    for (const args of [['nothing'], ['run', '--fast'], []])
      expect((await agent(home, args)).code, args.join(' ')).to.equal(2);
  });
});
