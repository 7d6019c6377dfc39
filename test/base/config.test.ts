import { expect } from 'chai';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  boolean,
  bytes,
  cidrs,
  describeConfig,
  duration,
  integer,
  json,
  list,
  loadDotEnv,
  oneOf,
  readConfig,
  reportFaults,
  setting,
  text,
  url,
  type Kind,
  type Rule,
} from '../../data-plane-agent/base/config.js';

const settings = {
  edition: setting({
    name: 'EDITION',
    about: 'Which edition runs.',
    kind: oneOf('self_hosted', 'saas'),
    default: 'self_hosted',
  }),
  port: setting({ name: 'PORT', about: 'Where it listens.', kind: integer({ min: 0, max: 65_535 }), default: 8080 }),
  dataDir: setting({ name: 'DATA_DIR', about: 'Where files are.', kind: text(), default: './data' }),
  databaseUrl: setting({
    name: 'DATABASE_URL',
    about: 'The database.',
    kind: url({ protocols: ['sqlite', 'postgres'] }),
    default: ({ textOf }) => `sqlite:${textOf('DATA_DIR') ?? ''}/platform.db`,
  }),
  secretKeys: setting({
    name: 'SECRET_KEYS',
    about: 'Keys that seal.',
    kind: text(),
    required: 'in production',
    secret: true,
  }),
  mailFrom: setting({ name: 'MAIL_FROM', about: 'Who mails.', kind: text() }),
  registration: setting({
    name: 'REGISTRATION',
    about: 'Who may come.',
    kind: boolean(),
    default: ({ production }) => !production,
  }),
};

const development = { production: false };

function valuesOf(env: NodeJS.ProcessEnv, options: Parameters<typeof readConfig<typeof settings>>[2] = development) {
  const result = readConfig(settings, env, options);
  if (!result.ok) throw new Error(reportFaults(result.faults));
  return result;
}

function faultsOf(env: NodeJS.ProcessEnv, options: Parameters<typeof readConfig<typeof settings>>[2] = development) {
  const result = readConfig(settings, env, options);
  return result.ok ? [] : result.faults;
}

describe('the configuration', () => {
  it('consists of defaults and of values from the environment', () => {
    expect(valuesOf({ DATA_DIR: '/var/lib/d', PORT: '0', MAIL_FROM: '' }).values).to.deep.equal({
      edition: 'self_hosted',
      port: 0,
      dataDir: '/var/lib/d',
      databaseUrl: 'sqlite:/var/lib/d/platform.db',
      secretKeys: undefined,
      mailFrom: undefined,
      registration: true,
    });
  });

  it('gives each value the type of its kind', () => {
    const { values } = valuesOf({});
    // These lines compile only as long as the types are inferred.
    const port: number = values.port;
    const edition: 'self_hosted' | 'saas' = values.edition;
    // @ts-expect-error without a default it may be undefined
    const mailFrom: string = values.mailFrom;
    expect([port, edition, mailFrom]).to.deep.equal([8080, 'self_hosted', undefined]);
  });

  it('reports all errors at once, including contradictions between settings', () => {
    const portIsNotEdition: Rule<typeof settings> = () => [{ name: 'EDITION', problem: 'needs more' }];
    const faults = faultsOf(
      { PORT: '80a', REGISTRATION: 'yes', DATABASE_URL: 'mysql://x', EDITION: 'Saas' },
      { production: true, rules: [portIsNotEdition] },
    );
    expect(faults).to.deep.equal([
      { name: 'EDITION', problem: 'must be one of self_hosted, saas, not "Saas"' },
      { name: 'PORT', problem: 'must be an integer from 0 to 65535, not "80a"' },
      { name: 'DATABASE_URL', problem: 'must be a URL that begins with sqlite: or postgres:' },
      { name: 'SECRET_KEYS', problem: 'is required' },
      { name: 'REGISTRATION', problem: 'must be true or false, not "yes"' },
      { name: 'EDITION', problem: 'needs more' },
    ]);
    expect(reportFaults(faults.slice(0, 2)).split('\n')).to.have.length(3);
    expect(reportFaults(faults.slice(3, 4))).to.equal('The configuration has a fault:\n  SECRET_KEYS is required');
  });

  it('skips a rule about an invalid setting, and does not swallow errors thrown by rules', () => {
    const looksAtPort: Rule<typeof settings> = ({ port }) => [{ name: 'PORT', problem: `must not be ${port}` }];
    expect(faultsOf({ PORT: 'x' }, { production: false, rules: [looksAtPort] })).to.have.length(1);
    expect(faultsOf({}, { production: false, rules: [looksAtPort] })).to.deep.equal([
      { name: 'PORT', problem: 'must not be 8080' },
    ]);
    const broken: Rule<typeof settings> = () => {
      throw new TypeError('a mistake in the rule');
    };
    expect(() => faultsOf({}, { production: false, rules: [broken] })).to.throw('a mistake in the rule');
  });

  it('only warns about discouraged values and about unknown names with the product prefix', () => {
    const open: Rule<typeof settings> = ({ registration }) =>
      registration ? [{ name: 'REGISTRATION', problem: 'is open' }] : [];
    const result = valuesOf(
      { DUEBOOK_PORT: '1', DUEBOOK_PROT: '1', OTHER: '1' },
      { production: false, cautions: [open] },
    );
    expect(result.warnings).to.deep.equal([
      { name: 'DUEBOOK_PORT', problem: 'is not a setting; use PORT' },
      { name: 'DUEBOOK_PROT', problem: 'is not a setting' },
      { name: 'REGISTRATION', problem: 'is open' },
    ]);
  });

  it('describes itself with sources, and with secrets and passwords masked', () => {
    const result = valuesOf(
      { DATABASE_URL: 'postgres://app:hunter2@db:5432/x', PORT_FILE: '/run/port' },
      { production: false, generated: { SECRET_KEYS: 'k:generated', PORT: '9' }, readFile: () => '81\n' },
    );
    const rows = describeConfig(settings, result);
    expect(rows.map(({ name, value, source }) => [name, value, source])).to.deep.equal([
      ['EDITION', 'self_hosted', 'default'],
      ['PORT', '81', 'file'],
      ['DATA_DIR', './data', 'default'],
      ['DATABASE_URL', 'postgres://app:••••@db:5432/x', 'environment'],
      ['SECRET_KEYS', '••••', 'generated'],
      ['MAIL_FROM', null, 'default'],
      ['REGISTRATION', 'true', 'default'],
    ]);
    expect(rows[0]).to.have.property('about', 'Which edition runs.');
  });
});

describe('NAME_FILE and .env', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'config-'));
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  it('read a setting from a file, without the newline at its end', () => {
    const path = join(folder, 'keys');
    writeFileSync(path, ' k:abc \r\n');
    expect(valuesOf({ SECRET_KEYS_FILE: path }).values.secretKeys).to.equal(' k:abc ');
    expect(valuesOf({ SECRET_KEYS_FILE: path, SECRET_KEYS: '' }).sources.SECRET_KEYS).to.equal('file');
  });

  it('refuse a setting given twice, and a missing or empty file', () => {
    const empty = join(folder, 'empty');
    writeFileSync(empty, '\n');
    const missing = join(folder, 'missing');
    expect(faultsOf({ PORT: '1', PORT_FILE: empty, DATA_DIR_FILE: missing, MAIL_FROM_FILE: empty })).to.deep.equal([
      { name: 'PORT', problem: 'is set twice: by PORT and by PORT_FILE' },
      { name: 'DATA_DIR', problem: `cannot be read from the file that DATA_DIR_FILE names (${missing}: ENOENT)` },
      { name: 'MAIL_FROM', problem: 'is empty in the file that MAIL_FROM_FILE names' },
    ]);
  });

  it('prefer the environment to .env, which is not read in production', () => {
    const path = join(folder, '.env');
    writeFileSync(
      path,
      '# a comment\nPORT=1\nMAIL_FROM="A <a@b.example>" # who\nDATA_DIR=\'/x y\'\n\nexport EDITION=saas\n',
    );
    expect(loadDotEnv(path, { PORT: '2' })).to.deep.equal({
      PORT: '2',
      MAIL_FROM: 'A <a@b.example>',
      DATA_DIR: '/x y',
      EDITION: 'saas',
    });
    expect(loadDotEnv(path, { NODE_ENV: 'production' })).to.deep.equal({ NODE_ENV: 'production' });
    expect(loadDotEnv(join(folder, 'none'), { PORT: '2' })).to.deep.equal({ PORT: '2' });
    expect(() => loadDotEnv(folder, {})).to.throw(folder);
  });
});

describe('a kind of setting', () => {
  function check<T>(kind: Kind<T>, { good, bad }: { good: [given: string, value: T][]; bad: string[] }): void {
    for (const [given, value] of good) expect(kind.parse(given), given).to.deep.equal({ ok: true, value });
    for (const given of bad) expect(kind.parse(given), given).to.have.property('ok', false);
  }

  it('reads integers within bounds, and bytes', () => {
    check(integer({ min: -5, max: 5 }), {
      good: [
        ['5', 5],
        ['-5', -5],
        [' 3 ', 3],
      ],
      bad: ['6', '-6', '1.0', '1e0', '0x1', '', '+1'],
    });
    check(bytes(), { good: [['52428800', 52_428_800]], bad: ['-1', '50MB', '9007199254740993'] });
  });

  it('reads durations', () => {
    check(duration(), {
      good: [
        ['45s', { text: '45s', ms: 45_000 }],
        ['15m', { text: '15m', ms: 900_000 }],
        ['12h', { text: '12h', ms: 43_200_000 }],
        ['30d', { text: '30d', ms: 2_592_000_000 }],
      ],
      bad: ['0s', '15', '15 m', '1.5h', '-1s', '1w', '3651d', 'm'],
    });
  });

  it('reads URLs, and hides their passwords', () => {
    check(url({ protocols: ['http', 'https', 'unix', 's3'] }), {
      good: [
        ['https://a.example', 'https://a.example'],
        ['unix:/run/clamd.sock', 'unix:/run/clamd.sock'],
      ],
      bad: ['a.example', 'ftp://a.example', 'https://', 'unix:', 'javascript:1', ''],
    });
    const database = url({ protocols: ['sqlite', 'postgres'] });
    for (const password of ['p@ss:w/rd#1', 'a/b', 'a?b', '12#b', 'a%b', '%zz']) {
      const read = database.parse(`postgres://duebook:${password}@db.example/book`);
      const problem = read.ok ? '' : read.problem;
      expect(problem, password).to.match(
        /^begins with postgres: but cannot be parsed as a URL: .*\(\/ # \? @ : %\) must be percent-encoded, such as \/ as %2F/,
      );
      expect(problem).not.to.contain(`:${password}`).and.not.to.contain('db.example');
    }
    check(database, {
      good: [
        ['postgres://u:p%40s%2F%23%25@db/book', 'postgres://u:p%40s%2F%23%25@db/book'],
        ['sqlite:./a#1@2?/%.db', 'sqlite:./a#1@2?/%.db'],
      ],
      bad: ['postgres:', 'postgres://db:port/book', 'mysql://u:p@db/book'],
    });
    const { show } = url({ protocols: ['s3'] });
    expect(show('s3://key:se:cr@t@host:9000/b?tls=true')).to.equal('s3://key:••••@host:9000/b?tls=true');
    expect(show('redis://:pw@host')).to.equal('redis://:••••@host');
    expect(show('http://host:8080/a@b:c')).to.equal('http://host:8080/a@b:c');
  });

  it('reads lists and address ranges', () => {
    check(list(), {
      good: [
        ['a, b ,,c', ['a', 'b', 'c']],
        ['', []],
      ],
      bad: [],
    });
    check(cidrs(), {
      good: [
        ['10.0.0.0/8, fd00::/8', ['10.0.0.0/8', 'fd00::/8']],
        ['0.0.0.0/0', ['0.0.0.0/0']],
      ],
      bad: [
        '10.0.0.0',
        '10.0.0.0/33',
        'fd00::/129',
        '10.0.0/8',
        'host/8',
        '10.0.0.0/8/8',
        'fe80::1%eth0/64',
        '10.0.0.0/',
      ],
    });
  });

  it('reads and validates JSON without quoting it in errors', () => {
    const names = json((value) =>
      Array.isArray(value) ? { ok: true, value: value.length } : { ok: false, problem: 'must be a list' },
    );
    check(names, { good: [['[1,2]', 2]], bad: ['{}'] });
    expect(names.parse('{"clientSecret": hunter2')).to.deep.equal({ ok: false, problem: 'must be valid JSON' });
  });

  it('limits the length of text', () => {
    check(text({ max: 3 }), { good: [[' a ', ' a ']], bad: ['abcd'] });
  });
});
