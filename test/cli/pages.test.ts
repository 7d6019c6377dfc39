import { expect } from 'chai';
import type { Command } from 'commander';
import { wholeProgram } from '../support/cli-program.js';
import { installations } from '../support/cli.js';
import { read, sourceFiles } from '../support/source.js';

const product = sourceFiles().filter((file) => !file.startsWith('test/'));

const program = await wholeProgram();

describe('docs/cli.md', function () {
  this.timeout(180_000);
  const install = installations();
  const page = read('docs/cli.md');
  /** By command: the second cell of its row. */
  const rows = new Map(
    page.split('\n').flatMap((line) => {
      const [, first = '', second = ''] = line.split(/(?<!\\)\|/);
      return [...first.matchAll(/`([a-z -]+)`/g)].map(([, command = '']) => [command, second] as const);
    }),
  );
  const leaves = (command: Command, before = ''): string[] =>
    command.commands.flatMap((one) =>
      one.commands.length > 0 ? leaves(one, `${before}${one.name()} `) : [`${before}${one.name()}`],
    );

  it('lists every command', () => {
    const all = leaves(program);
    expect(all.filter((command) => !rows.has(command))).to.deep.equal([]);
    const ofDoctor = page.indexOf('## The checks of doctor');
    const listed = [...rows.keys()].filter((command) => page.indexOf(`\`${command}\``) < ofDoctor);
    expect(listed).to.have.members(all);
  });

  it('lists every check of doctor', async () => {
    const { inProcess } = await install();
    const { stdout } = await inProcess(['doctor', '--json'], { env: { PORT: '0' } });
    const { checks } = JSON.parse(stdout) as { checks: { name: string }[] };
    for (const { name } of checks) expect(page, name).to.contain(`\`${name}\``);
  });

  it('names the members of what the commands print', async () => {
    const { inProcess, folder } = await install();
    const run = async (line: string): Promise<Record<string, unknown>> => {
      const { code, stdout, stderr } = await inProcess([...line.split(' '), '--json'], {
        env: { PORT: '0' },
        input: 'Correct-Horse-42',
      });
      expect(code, stderr).to.equal(0);
      return JSON.parse(stdout) as Record<string, unknown>;
    };
    const check = (command: string, answer: object): void => {
      const { required, optional } = membersOf(rows.get(command) ?? '');
      expect(required.length, command).to.be.greaterThan(0);
      expect(Object.keys(answer), command).to.include.members(required);
      expect([...required, ...optional], command).to.include.members(Object.keys(answer));
    };
    const ann = '--tenant acme --email ann@acme.example';
    check(
      'bootstrap',
      await run('bootstrap --tenant-slug acme --tenant-name Acme --email ann@acme.example --name Ann'),
    );
    const { codes } = await run('codes list');
    expect(codes).to.deep.equal([]);
    const issued = await run('codes issue --plan pro');
    check('codes issue', issued);
    const listed = await run('codes list');
    check('codes list', listed);
    const [{ id = '' } = {}] = listed['codes'] as { id?: string }[];
    check('codes revoke', await run(`codes revoke ${id}`));
    for (const [command, line] of [
      ['audit head', 'audit head'],
      ['audit verify', 'audit verify'],
      ['config', 'config'],
      ['doctor', 'doctor'],
      ['completion', 'completion bash'],
      ['keys status', 'keys status'],
      ['keys rotate', 'keys rotate'],
      ['keys reencrypt', 'keys reencrypt'],
      ['members list', 'members list --tenant acme'],
      ['members reset-mfa', `members reset-mfa ${ann}`],
      ['members reset-password', `members reset-password ${ann}`],
      ['members unlock', `members unlock ${ann}`],
      ['migrate', 'migrate'],
      ['outbox list', 'outbox list'],
      ['sessions revoke', `sessions revoke ${ann}`],
      ['support-bundle', `support-bundle ${folder}/support.zip`],
      ['tenants list', 'tenants list'],
      ['tenants show', 'tenants show acme'],
      ['tenants set-plan', 'tenants set-plan acme business'],
      ['tenants suspend', 'tenants suspend acme'],
      ['tenants resume', 'tenants resume acme'],
    ] as const)
      check(command, await run(line));
  });
});

/** The members of the outermost object of the first shape, such as `{ "a": [{ "b" }], "c"? }`. */
function membersOf(cell: string): { readonly required: string[]; readonly optional: string[] } {
  let inner = /`\{(.*?)\}`/.exec(cell)?.[1] ?? '';
  for (let before = ''; before !== inner;) {
    before = inner;
    inner = inner.replaceAll(/\{[^{}]*\}|\[[^[\]{}]*\]/g, '');
  }
  const found = [...inner.matchAll(/"(\w+)"(\?)?/g)];
  return {
    required: found.filter(([, , mark]) => mark === undefined).map(([, name = '']) => name),
    optional: found.filter(([, , mark]) => mark !== undefined).map(([, name = '']) => name),
  };
}

describe('docs/troubleshooting.md', () => {
  const page = read('docs/troubleshooting.md');
  const everything = product.map((file) => read(file)).join('\n');

  it('quotes texts that the product prints', () => {
    const quoted = [...page.matchAll(/"([^"\n]+)"/g)].map(([, text = '']) => text).filter((text) => text.includes(' '));
    expect(quoted.length).to.be.greaterThan(15);
    for (const text of quoted)
      for (const part of text
        .split('…')
        .map((one) => one.trim())
        .filter((one) => one !== ''))
        expect(everything.includes(part), part).to.equal(true);
  });

  it('names checks, codes and settings that exist', () => {
    const named = [...page.matchAll(/`([A-Z][A-Z0-9]*(?:_[A-Z0-9]+)*|[a-z]+_[a-z_]+)`/g)].map(([, name = '']) => name);
    expect(named.length).to.be.greaterThan(15);
    // The names of checks of databases are composed: `${managed.name}_database`.
    for (const name of named)
      expect(everything.includes(name.replace(/^(platform|tenant)_(?=clock|role)/, '}_')), name).to.equal(true);
  });

  it('names commands that exist', () => {
    for (const [, command = ''] of page.matchAll(/`duebook ([a-z-]+(?: [a-z]+[a-z-]*)?)/g)) {
      const [first = '', second] = command.split(' ');
      expect(everything, command).to.match(new RegExp(`command\\('${first}[ ']`));
      if (second !== undefined && !second.includes('.') && first !== 'support-bundle')
        expect(everything, command).to.match(new RegExp(`command\\('${second}[ ']`));
    }
  });
});
