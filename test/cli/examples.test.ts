import { expect } from 'chai';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { generateKeyRingText } from '../../data-plane-agent/base/secrets.js';
import { installations, type Installation } from '../support/cli.js';

const GOLDEN = new URL('./golden/', import.meta.url);
const PASSWORD = 'Correct-Horse-42';

interface Example {
  readonly line: string;
  readonly env: Readonly<Record<string, string>>;
  readonly args: readonly string[];
  /** The file that standard output goes to. */
  readonly out: string | undefined;
}

/** The examples of all help texts, once each: variables, `duebook`, words, and where input and output are. */
const examples: readonly Example[] = [
  ...new Set(
    readdirSync(GOLDEN).flatMap((file) =>
      [...readFileSync(new URL(file, GOLDEN), 'utf8').matchAll(/^ {2}\$ (.+)$/gm)].map(([, line = '']) => line),
    ),
  ),
].map((line) => {
  const command = /^eval "\$\((.+)\)"$/.exec(line)?.[1] ?? line;
  const words = [...command.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain ?? '');
  const start = words.indexOf('duebook');
  const redirected = words.findIndex((word) => word === '>' || word === '<');
  return {
    line,
    env: Object.fromEntries(words.slice(0, start).map((word) => word.split('=') as [string, string])),
    args: words.slice(start + 1, redirected < 0 ? undefined : redirected),
    out: words[redirected] === '>' ? words[redirected + 1] : undefined,
  };
});

/** What they do that takes a terminal, or minutes: `demo.test.ts` and `demo-hybrid.test.ts` run these. */
const ELSEWHERE = /^(\S+=\S+ )*duebook demo/;
/** They exit with 1 here: they name an id that does not exist, or need another state of the installation. */
const FAILS: Readonly<Record<string, RegExp>> = {
  // A new installation: events are chained by a running server.
  'audit verify --expect heads.json': /nothing was compared/,
  // Its row names no subject company: a new organisation has none.
  'import incoming.csv --tenant acme --errors rejected.csv': /1 row not entered/,
  'import incoming.csv --tenant acme --json': /1 row not entered/,
  'restore duebook-2026-11-23.tar': /is not empty/,
  'tenants move-data --tenant acme --to agent': /the service uses no agents/,
  'tenants move-data --tenant acme --delete-source': /the service uses no agents|has not been moved/,
  'tenants import-data --tenant acme --from acme-2026-11-23 --dry-run': /has contract data already/,
  'codes revoke 01985f6e-7c3a-7b44-9c1d-2f6b8d0e4a11': /there is no/,
  'outbox discard 01985f6e-7c3a-7b44-9c1d-2f6b8d0e4a11': /nothing was done/,
  'outbox retry 01985f6e-7c3a-7b44-9c1d-2f6b8d0e4a11': /nothing was done/,
};

describe('the examples in the help', function () {
  this.timeout(240_000);
  const install = installations();

  /** Files of the examples are in the folder of the installation. */
  const run = async (
    { inProcess, folder }: Installation,
    { args, env, out, line }: Example,
    more = {},
  ): Promise<void> => {
    const given = args.map((word) =>
      /^(?:\/\S+\/)?[\w-]+\.(?:json|jsonl|csv|xlsx|zip|log|tar)$/.test(word) ||
      ['secret-keys', 'acme-2026-11-23'].includes(word)
        ? join(folder, word.split('/').at(-1) ?? '')
        : word === '/srv/duebook'
          ? join(folder, 'srv')
          : word,
    );
    const passphrase = env['BACKUP_PASSPHRASE_FILE'] && { BACKUP_PASSPHRASE_FILE: join(folder, 'passphrase') };
    const outcome = await inProcess(given, { env: { PORT: '0', ...env, ...passphrase, ...more }, input: PASSWORD });
    const fails = FAILS[args.join(' ')];
    expect(outcome.code, `${line}: ${outcome.stderr}`).to.equal(fails ? 1 : 0);
    if (fails) expect(outcome.stderr, line).to.match(fails);
    if (out !== undefined) writeFileSync(join(folder, out.split('/').at(-1) ?? ''), outcome.stdout);
  };
  const ofAgents = ({ args }: Example): boolean => args[0] === 'agents' || args.includes('--link');

  it('are at least one for each command, and all can be run', async () => {
    expect(examples.length).to.be.greaterThan(40);
    const installation = await install();
    const { folder } = installation;
    writeFileSync(join(folder, 'duebook.log'), '');
    writeFileSync(join(folder, 'passphrase'), PASSWORD);
    writeFileSync(
      join(folder, 'answers.json'),
      JSON.stringify({
        target: 'local',
        publicUrl: 'https://book.example.com',
        platformDatabase: 'sqlite',
        objectStore: 'folder',
        scanner: 'off',
        mail: 'none',
        port: 0,
        out: join(folder, 'answered'),
      }),
    );
    const here = examples.filter((example) => !ELSEWHERE.test(example.line) && !ofAgents(example));
    for (const [at, example] of here.toSorted((one, other) => rank(one) - rank(other)).entries()) {
      // `support-bundle` replaces no file, and `import` of a workbook has its own tests.
      if (example.args.includes('contracts.xlsx')) continue;
      const args = example.args.map((word) => {
        if (word === 'support.zip' && example.args.includes('--log')) return 'other.zip';
        return word === 'contracts.csv' && example.args[0] === 'import' ? 'incoming.csv' : word;
      });
      writeFileSync(join(folder, 'incoming.csv'), csvOf(`HT-${at}`));
      await run(installation, { ...example, args });
    }
  });

  it('of agents too', async () => {
    const installation = await install();
    const hybrid = {
      EDITION: 'enterprise_hybrid',
      PUBLIC_URL: 'https://book.example.com',
      SECRET_KEYS: generateKeyRingText(),
    };
    const [bootstrap] = examples.filter(({ args }) => args[0] === 'bootstrap');
    if (!bootstrap) throw new Error('bootstrap has an example');
    await run(installation, bootstrap, hybrid);
    const ofThem = examples.filter(ofAgents);
    expect(ofThem.length).to.be.greaterThan(3);
    for (const example of ofThem.toSorted((one, other) => rank(one) - rank(other)))
      await run(installation, example, hybrid);
  });
});

const csvOf = (contractNo: string): string =>
  `contractNo,projectName,type,partyA,partyB,totalAmount,currencyCode,signDate\n${contractNo},Cranes,sale,Acme,Ours,100.00,CNY,2026-01-02\n`;

/** Bootstrap and heads before the others; what revokes or suspends after them. */
const rank = ({ args }: Example): number => {
  const command = args.join(' ');
  if (args[0] === 'bootstrap') return 0;
  if (command === 'audit head --json' || command.startsWith('backup duebook')) return 1;
  if (/^(tenants suspend|sessions|agents revoke)/.test(command)) return 4;
  return command.startsWith('tenants resume') ? 5 : 2;
};
