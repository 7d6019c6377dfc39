import { expect } from 'chai';
import type { Command } from 'commander';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { wholeProgram } from '../support/cli-program.js';
import { installations } from '../support/cli.js';

const GOLDEN = new URL('./golden/', import.meta.url);
const program = await wholeProgram();
/** All commands: `''` for the program itself, `codes`, `codes issue` and so on. */
const commands = ['', ...namesOf(program)];

/** Including those of its subcommands. */
function namesOf(command: Command): string[] {
  return command.commands.flatMap((one) => [one.name(), ...namesOf(one).map((name) => `${one.name()} ${name}`)]);
}

const fileOf = (command: string): string => `${command.replace(' ', '-') || 'duebook'}.txt`;

describe('duebook --help', () => {
  const install = installations();

  for (const command of commands) {
    it(`prints the golden text for "${`duebook ${command}`.trim()}"`, async () => {
      const { inProcess } = await install();
      const { code, stdout, stderr } = await inProcess([...command.split(' ').filter((word) => word !== ''), '--help']);
      // UPDATE_GOLDEN=1 regenerates the texts: review the diff before you commit it.
      const golden = new URL(fileOf(command), GOLDEN);
      if (process.env['UPDATE_GOLDEN'] === '1') writeFileSync(golden, stdout);
      expect(stdout).to.equal(readFileSync(golden, 'utf8'));
      expect(stderr).to.equal('');
      expect(code).to.equal(0);
    });
  }

  it('shows an example for every command', () => {
    for (const command of commands.slice(1))
      expect(readFileSync(new URL(fileOf(command), GOLDEN), 'utf8'), command).to.match(/\$ .*duebook/);
  });

  it('has no golden text of an unknown command', () => {
    expect(readdirSync(GOLDEN)).to.have.members(commands.map(fileOf));
  });

  it('prints the version', async () => {
    const { inProcess } = await install();
    const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
      version: string;
    };
    expect(await inProcess(['--version'])).to.deep.equal({ code: 0, stdout: `${version}\n`, stderr: '' });
  });
});

describe('an invalid command', () => {
  const install = installations();
  const misused: [string[], RegExp][] = [
    [[], /no command given/],
    [['codes'], /no command given/],
    [['launch'], /unknown command 'launch'/],
    [['migrate', '--fast'], /unknown option '--fast'/],
    [['migrate', 'now'], /too many arguments/],
    [['migrate', '--status', '--dry-run'], /cannot be combined/],
    [['codes', 'issue'], /required option '--plan/],
    [['codes', 'issue', '--plan', 'gold'], /Allowed choices are free, pro, business, enterprise/],
    [['codes', 'issue', '--plan', 'pro', '--count', '0'], /from 1 to 1000/],
    [['codes', 'issue', '--plan', 'pro', '--count', '1e2'], /from 1 to 1000/],
    [['codes', 'issue', '--plan', 'pro', '--expires', 'soon'], /must be a duration/],
    [['codes', 'revoke'], /missing required argument 'id'/],
    [['tenants', 'set-plan', 'acme', 'gold'], /Allowed choices are free, pro, business, enterprise/],
    [['tenants', 'suspend'], /missing required argument 'slug'/],
    [['members', 'unlock', '--tenant', 'acme'], /required option '--email/],
    [['sessions', 'revoke', '--email', 'a@b.example'], /required option '--tenant/],
    [['audit', 'verify', '--expect', '/nowhere/heads.json'], /--expect \/nowhere\/heads.json cannot be read: ENOENT/],
    [['audit', 'verify', '--source', 'moon'], /Allowed choices are platform, data/],
    [['audit', 'export', '--from', 'soon', '--to', '2026-02-30'], /--from must be a day .*--to must be a day/],
    [
      ['bootstrap', '--tenant-slug', 'Acme!', '--tenant-name', 'A', '--email', 'nobody', '--name', ' '],
      /--tenant-slug .*--tenant-name .*--name .*--email /,
    ],
  ];

  for (const [args, says] of misused) {
    it(`exits 2 and says why: duebook ${args.join(' ')}`, async () => {
      const { inProcess } = await install();
      const { code, stdout, stderr } = await inProcess(args);
      expect(stderr).to.match(says);
      expect(stdout).to.equal('');
      expect(code).to.equal(2);
    });

    it(`prints only JSON: duebook ${args.join(' ')} --json`, async () => {
      const { inProcess } = await install();
      const { code, stdout, stderr } = await inProcess([...args, '--json']);
      const { error } = JSON.parse(stderr) as { error: { code: string; message: string } };
      expect(error).to.have.all.keys('code', 'message');
      expect(error.code).to.equal('USAGE');
      expect(stdout).to.equal('');
      expect(code).to.equal(2);
    });
  }
});

describe('a bad configuration', () => {
  const install = installations();
  const env = { PORT: 'eighty', LOG_LEVEL: 'loud', PUBLIC_URL: 'ftp://x' };

  for (const args of [
    ['migrate'],
    ['codes', 'list'],
    ['config'],
    ['doctor'],
    ['demo'],
    ['bootstrap', '--tenant-slug', 'acme', '--tenant-name', 'Acme', '--email', 'a@acme.example', '--name', 'Ann'],
  ]) {
    it(`makes "duebook ${args[0]}" exit with 78 and all errors`, async () => {
      const { inProcess } = await install();
      const { code, stdout, stderr } = await inProcess(args, { env });
      expect(stderr).to.match(/PORT must be .*\n.*PUBLIC_URL must be .*\n.*LOG_LEVEL must be /);
      expect(stdout).to.equal('');
      expect(code).to.equal(78);
    });
  }

  it('is printed as JSON with --json, also by the real process', async () => {
    const { cli } = await install();
    const { code, stdout, stderr } = await cli(['config', '--json'], { env });
    const { error } = JSON.parse(stderr) as { error: { code: string; message: string; faults: { name: string }[] } };
    expect(error.code).to.equal('CONFIG_INVALID');
    expect(error.faults.map(({ name }) => name)).to.deep.equal(['PORT', 'PUBLIC_URL', 'LOG_LEVEL']);
    expect(stdout).to.equal('');
    expect(code).to.equal(78);
  });
});
