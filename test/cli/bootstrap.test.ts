import { expect } from 'chai';
import { spawnSync } from 'node:child_process';
import { closeSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { installations, type Outcome } from '../support/cli.js';
import { createDatabase, needsPostgres } from '../support/postgres.js';
import { startProcess } from '../support/process.js';
import { COMPILE_CACHE, program } from '../support/programs.js';

interface Answer {
  tenant: { id: string; slug: string };
  user: { id: string; email: string };
  password?: string;
  created: boolean;
}
const answerOf = ({ stdout, stderr }: Outcome): Answer => {
  expect(stderr).to.equal('');
  return JSON.parse(stdout) as Answer;
};
const errorOf = ({ stderr }: Outcome) => (JSON.parse(stderr) as { error: { code: string; message: string } }).error;
const acme = [
  'bootstrap',
  '--tenant-slug',
  'acme',
  '--tenant-name',
  'Acme 机械',
  '--email',
  'Ann@Acme.example',
  '--name',
  'Ann Lee',
];

describe('duebook bootstrap', () => {
  const install = installations();

  it('creates organisation and owner with a password that is shown once, and changes nothing when it runs again', async () => {
    const { inProcess } = await install();
    const first = await inProcess([...acme, '--json']);
    const made = answerOf(first);
    expect(first.code).to.equal(0);
    expect(made).to.have.all.keys('tenant', 'user', 'password', 'created');
    expect(made).to.deep.include({
      created: true,
      tenant: { id: made.tenant.id, slug: 'acme' },
      user: { id: made.user.id, email: 'ann@acme.example' },
    });
    expect(made.password).to.match(/^[\w-]{20,}$/);

    const second = await inProcess([...acme, '--json'], { input: 'another password' });
    expect(second.code).to.equal(0);
    expect(answerOf(second)).to.deep.equal({ tenant: made.tenant, user: made.user, created: false });
    expect((await inProcess(acme)).stdout).to.match(/nothing was changed/);
  });

  it('reads the password from standard input, as a process, and never shows it', async () => {
    const { cli } = await install();
    const password = 'correct horse 电池 staple';
    const { code, stdout, stderr } = await cli([...acme, '--json'], { input: `${password}\n` });
    expect(answerOf({ code, stdout, stderr })).not.to.have.property('password');
    expect(stdout + stderr).not.to.contain(password);
    expect(code).to.equal(0);
  });

  it('reads the password from a file as standard input, and generates one if that is /dev/null', async () => {
    const { folder, dataDir } = await install();
    const file = join(folder, 'password');
    writeFileSync(file, 'correct horse 电池 staple\n');
    const from = (path: string, args: readonly string[]) => {
      const stdin = openSync(path, 'r');
      try {
        const env = { PATH: process.env['PATH'], ...COMPILE_CACHE, DATA_DIR: dataDir };
        const {
          status: code,
          stdout,
          stderr,
        } = spawnSync(process.execPath, [program('cli/main.ts'), ...args, '--json'], {
          cwd: folder,
          env,
          stdio: [stdin, 'pipe', 'pipe'],
          encoding: 'utf8',
        });
        return { code, stdout, stderr };
      } finally {
        closeSync(stdin);
      }
    };
    expect(answerOf(from(file, acme))).not.to.have.property('password');
    expect(
      answerOf(
        from(
          '/dev/null',
          acme.map((arg) => (arg === 'acme' ? 'other' : arg)),
        ),
      ),
    ).to.have.property('password');
  });

  it('creates an enterprise plan by default, and an owner who can sign in', async () => {
    const { cli, dataDir } = await install();
    await cli([...acme], { input: 'a good long password' });
    const server = await startProcess([program('server/main.ts')], {
      path: '/readyz',
      env: { DATA_DIR: dataDir, LOG_LEVEL: 'error' },
    });
    const url = server.origin;
    const signedIn = await fetch(`${url}/api/v1/auth/login`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ tenantSlug: 'acme', email: 'ann@acme.example', password: 'a good long password' }),
    });
    expect(signedIn.status).to.equal(200);
    const { accessToken } = (await signedIn.json()) as { accessToken: string };
    const me = (await (
      await fetch(`${url}/api/v1/auth/me`, { headers: { Authorization: `Bearer ${accessToken}` } })
    ).json()) as { user: { roleCode: string }; featureFlags: Record<string, boolean> };
    expect(me.user.roleCode).to.equal('owner');
    expect(me.featureFlags).to.include({ workflowAutomation: true, aiGateway: true });
    await server.stop();
  });

  it('asks twice for the password at a terminal', async () => {
    const { inProcess } = await install();
    const differ = await inProcess([...acme, '--json'], { answers: ['one password', 'another password'] });
    expect(differ.stderr).to.contain('PASSWORDS_DIFFER');
    expect(differ.code).to.equal(1);
    const { code, stdout, stderr } = await inProcess(acme, { answers: ['one password', 'one password'] });
    expect(stdout).to.equal('Created the organisation acme with its owner ann@acme.example.\n');
    expect(stderr).to.match(/Password for ann@acme.example .*Once more: /);
    expect(code).to.equal(0);
  });

  it('generates one at a terminal if nothing is entered', async () => {
    const { inProcess } = await install();
    expect((await inProcess(acme, { answers: [''] })).stdout).to.match(/Password: \S{20,}\nIt is not shown again/);
  });

  it('refuses a password that is too short, and creates nothing', async () => {
    const { inProcess } = await install();
    const short = await inProcess([...acme, '--json'], { input: 'short' });
    expect(errorOf(short)).to.include({ code: 'PASSWORD_LENGTH' });
    expect(short.code).to.equal(1);
    expect(answerOf(await inProcess([...acme, '--json'])).created).to.equal(true);
  });

  it('refuses a common or breached password, unless the rules are off', async () => {
    const { inProcess } = await install();
    for (const input of ['password123', '277rte87hryloitru']) {
      const weak = await inProcess([...acme, '--json'], { input });
      expect(errorOf(weak)).to.include({ code: 'PASSWORD_TOO_WEAK' });
      expect(weak.code).to.equal(1);
    }
    expect(
      answerOf(await inProcess([...acme, '--json'], { input: 'password123', env: { PASSWORD_RULES: 'off' } })).created,
    ).to.equal(true);
  });

  it('refuses a common password in production', async () => {
    const { inProcess } = await install();
    const env = {
      NODE_ENV: 'production',
      PUBLIC_URL: 'https://book.acme.example',
      MFA_REQUIRED_FOR_ADMINS: 'false',
      FILE_SCAN_MODE: 'off',
      SECRET_KEYS: `k1:${Buffer.alloc(32, 7).toString('base64')}`,
    };
    const common = await inProcess([...acme, '--json'], { env, input: 'password123' });
    expect(errorOf(common)).to.include({ code: 'PASSWORD_TOO_WEAK' });
    expect(common.code).to.equal(1);
  });

  it('does not change an existing organisation of which the owner is not a member', async () => {
    const { inProcess } = await install();
    await inProcess(acme);
    const other = await inProcess([
      'bootstrap',
      '--tenant-slug',
      'acme',
      '--tenant-name',
      'Other',
      '--email',
      'bob@other.example',
      '--name',
      'Bob',
      '--json',
    ]);
    expect(errorOf(other)).to.include({ code: 'TENANT_SLUG_TAKEN' });
    expect(other.code).to.equal(1);
  });

  it('accepts no password as an argument, because every user of the machine could read it', async () => {
    const { inProcess } = await install();
    const { code, stderr } = await inProcess([...acme, '--password', 'a good long password']);
    expect(stderr).to.match(/unknown option '--password'/);
    expect(code).to.equal(2);
  });

  it('reads .env in the current folder, like the server', async () => {
    const { cli, folder } = await install();
    writeFileSync(`${folder}/.env`, 'PRODUCT_NAME=From the file\n');
    const { stdout } = await cli(['config', '--json']);
    expect(
      (JSON.parse(stdout) as { settings: { name: string; value: string }[] }).settings.find(
        ({ name }) => name === 'PRODUCT_NAME',
      )?.value,
    ).to.equal('From the file');
  });

  describe('on PostgreSQL', () => {
    needsPostgres();

    it('does the same', async () => {
      const { inProcess, dataDir } = await install();
      const [platform, tenant] = await Promise.all([createDatabase(), createDatabase()]);
      const env = { PLATFORM_DATABASE_URL: platform.url, TENANT_DATABASE_URL: tenant.url };
      try {
        const made = answerOf(await inProcess([...acme, '--json'], { env }));
        expect(made.created).to.equal(true);
        expect(answerOf(await inProcess([...acme, '--json'], { env }))).to.deep.equal({
          tenant: made.tenant,
          user: made.user,
          created: false,
        });
        const { stdout, code } = await inProcess(['doctor', '--json'], { env: { ...env, PORT: '0' } });
        expect(JSON.parse(stdout)).to.deep.include({ ok: true });
        const { checks } = JSON.parse(stdout) as { checks: { name: string; status: string }[] };
        expect(checks.filter(({ status }) => status !== 'ok').map(({ name }) => name)).to.deep.equal([
          'environment',
          'mail',
        ]);
        expect(checks.map(({ name }) => name)).to.include.members([
          'platform_database',
          'platform_role',
          'tenant_database',
          'tenant_clock',
          'tenant_role',
        ]);
        expect(stdout).not.to.contain(new URL(platform.url).password);
        expect(code).to.equal(0);
        expect(readFileSync(`${dataDir}/secret-keys`, 'utf8')).to.match(/^k[0-9a-f]{8}:/);
      } finally {
        await platform.drop();
        await tenant.drop();
      }
    });
  });
});
