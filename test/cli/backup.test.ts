import { expect } from 'chai';
import Connection from 'better-sqlite3';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { installations, type Installation, type Outcome } from '../support/cli.js';
import { program } from '../support/programs.js';
import { skip } from '../support/skip.js';
import { alteredMember, membersIn } from '../support/backup-archive.js';

const PASSPHRASE = 'a lost disk is no lost book';
const KEYS = 'k1:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=';

interface Json {
  readonly error: { readonly code: string; readonly message: string };
}
const errorOf = ({ stderr }: Outcome): Json['error'] => (JSON.parse(stderr) as Json).error;

describe('duebook backup', () => {
  const install = installations();
  let installation: Installation;
  let file = '';

  /** Runs a command with `--json` and the passphrase on standard input. */
  const run = (args: readonly string[], options: { env?: Record<string, string>; input?: string } = {}) =>
    installation.inProcess([...args, '--json'], { input: PASSPHRASE, ...options });

  const elsewhere = (name = 'other') => ({ DATA_DIR: join(installation.folder, name) });

  beforeEach('an installation with an organisation and two files', async () => {
    installation = await install();
    file = join(installation.folder, 'book.tar');
    const made = await installation.inProcess(
      ['bootstrap', '--tenant-slug', 'acme', '--tenant-name', 'Acme', '--email', 'ann@acme.example', '--name', 'Ann'],
      { input: 'Correct-Horse-42' },
    );
    expect(made.code, made.stderr).to.equal(0);
    for (const [key, content] of [
      ['tenants/acme/2026/11/one', 'first'],
      ['tenants/acme/2026/11/two', 'x'.repeat(700_000)],
    ] as const) {
      const path = join(installation.dataDir, 'files', key);
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, content);
    }
  });

  const backUp = async (): Promise<void> => {
    const { code, stderr } = await run(['backup', file]);
    expect(code, stderr).to.equal(0);
  };

  describe('writing', () => {
    it('writes one private tar archive that tar programs read, and nothing beside it', async () => {
      const { code, stdout } = await run(['backup', file]);
      expect(code).to.equal(0);
      const printed = JSON.parse(stdout) as Record<string, unknown>;
      expect(printed).to.include({ file, bytes: statSync(file).size, product: 'duebook', objects: 0 });
      expect(printed['files']).to.deep.equal({ store: 'filesystem', copied: true, count: 2, bytes: 700_005 });
      expect(statSync(file).mode & 0o777).to.equal(0o600);
      expect(readdirSync(installation.folder).toSorted()).to.deep.equal(['book.tar', 'data']);
      const members = membersIn(file);
      // A file system lists the files of a folder in any order.
      expect([...members.slice(0, 4), ...members.slice(4, 6).toSorted(), ...members.slice(6)]).to.deep.equal([
        'backup.json',
        'databases/tenant.db',
        'databases/platform.db',
        'objects.jsonl',
        'files/tenants/acme/2026/11/one',
        'files/tenants/acme/2026/11/two',
        'secrets.sealed',
        'index.jsonl',
        'manifest.json',
        'manifest.mac',
      ]);
    });

    it('contains the keys only encrypted, and the passphrase not at all', async () => {
      await backUp();
      const content = readFileSync(file, 'latin1');
      const [, key = ''] = readFileSync(join(installation.dataDir, 'secret-keys'), 'utf8').trim().split(':');
      expect(key).to.have.length(44);
      expect(content).not.to.contain(key);
      expect(content).not.to.contain(PASSPHRASE);
    });

    it('is recorded in the audit', async () => {
      await backUp();
      const platform = new Connection(join(installation.dataDir, 'platform.db'), { readonly: true });
      const row = platform.prepare("SELECT actor_kind, changes FROM audit_log WHERE action = 'backup_made'").get();
      platform.close();
      expect(row).to.deep.equal({ actor_kind: 'cli', changes: JSON.stringify({ bytes: statSync(file).size }) });
    });

    it('never replaces a file, nor one that another backup is writing', async () => {
      writeFileSync(file, 'precious');
      const refused = await run(['backup', file]);
      expect([refused.code, errorOf(refused).message]).to.deep.equal([
        2,
        `${file} already exists: a backup never replaces a file`,
      ]);
      expect(readFileSync(file, 'utf8')).to.equal('precious');
      await rm(file);
      writeFileSync(`${file}.partial`, 'half');
      const second = await run(['backup', file]);
      expect([second.code, errorOf(second).message]).to.satisfy(
        ([code, message]: [number, string]) => code === 2 && message.includes('another backup into the same file'),
      );
      expect(readFileSync(`${file}.partial`, 'utf8')).to.equal('half');
    });

    it('says what is wrong with the folder', async () => {
      const missing = await run(['backup', join(installation.folder, 'nowhere', 'book.tar')]);
      expect([missing.code, errorOf(missing).code]).to.deep.equal([1, 'BACKUP_NOT_WRITTEN']);
      expect(errorOf(missing).message).to.contain('nowhere does not exist: create it');
    });

    it('says that the disk is full, and leaves nothing', async function () {
      if (process.platform !== 'linux') skip(this, 'the size of files is limited by a shell of Linux');
      // A limit of the size of files, in units of 512 bytes: more than a database has, and less than the backup.
      const limited = spawn(
        'sh',
        ['-c', 'ulimit -f 3000; exec "$@"', 'sh', process.execPath, program('cli/main.ts'), 'backup', file, '--json'],
        { env: { PATH: process.env['PATH'], DATA_DIR: installation.dataDir, BACKUP_PASSPHRASE: PASSPHRASE } },
      );
      let stderr = '';
      limited.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
      limited.stdin.end();
      const [code] = (await once(limited, 'close')) as [number];
      expect(code, stderr).to.equal(1);
      expect(errorOf({ code, stdout: '', stderr }).code).to.equal('DISK_FULL');
      expect(errorOf({ code, stdout: '', stderr }).message).to.contain('nothing was left there: free space');
      expect(readdirSync(installation.folder)).to.deep.equal(['data']);
    });

    it('leaves nothing when it is interrupted', async () => {
      const running = installation.start(['backup', file, '--json'], { env: { BACKUP_PASSPHRASE: PASSPHRASE } });
      while (!existsSync(`${file}.partial`)) await sleep(2);
      running.kill('SIGTERM');
      const ended = await running.ended;
      expect([ended.code, errorOf(ended).code]).to.deep.equal([1, 'INTERRUPTED']);
      expect(readdirSync(installation.folder)).to.deep.equal(['data']);
    });

    it('needs a passphrase of at least 12 characters, which is asked for twice on a terminal', async () => {
      const none = await run(['backup', file], { input: '' });
      expect([none.code, errorOf(none).code]).to.deep.equal([2, 'USAGE']);
      expect(errorOf(none).message).to.match(/^no passphrase: set BACKUP_PASSPHRASE/);
      const short = await run(['backup', file], { input: 'too short' });
      expect(errorOf(short).message).to.contain('at least 12 characters');
      const differing = await installation.inProcess(['backup', file], { answers: [PASSPHRASE, `${PASSPHRASE}!`] });
      expect([differing.code, existsSync(file)]).to.deep.equal([1, false]);
      expect(differing.stderr).to.contain('the two passphrases differ');
      const asked = await installation.inProcess(['backup', file], { answers: [PASSPHRASE, PASSPHRASE] });
      expect(asked.code, asked.stderr).to.equal(0);
      writeFileSync(join(installation.folder, 'passphrase'), `${PASSPHRASE}\n`);
      const verified = await run(['backup', 'verify', file], {
        input: '',
        env: { BACKUP_PASSPHRASE_FILE: join(installation.folder, 'passphrase') },
      });
      expect(verified.code, verified.stderr).to.equal(0);
    });

    it('warns of files that the contract data refers to and the store lacks', async () => {
      const tenant = new Connection(join(installation.dataDir, 'tenant.db'));
      const columns = tenant.pragma('table_info(files)') as { name: string; notnull: number; type: string }[];
      const values = Object.fromEntries(
        columns
          .filter(({ notnull }) => notnull === 1)
          .map(({ name, type }) => [name, type === 'INTEGER' ? 7 : name === 'object_key' ? 'tenants/acme/lost' : 'v']),
      );
      tenant.pragma('foreign_keys = OFF');
      tenant
        .prepare(
          `INSERT INTO files (${Object.keys(values).join(', ')}) VALUES (${Object.keys(values)
            .map(() => '?')
            .join(', ')})`,
        )
        .run(Object.values(values));
      tenant.close();
      const { code, stdout } = await run(['backup', file]);
      expect(code).to.equal(0);
      const { missing, objects } = JSON.parse(stdout) as { missing: object; objects: number };
      expect([missing, objects]).to.deep.equal([{ count: 1, keys: ['tenants/acme/lost'] }, 1]);
    });
  });

  describe('verify', () => {
    beforeEach(backUp);

    it('accepts what was written, and says what it is', async () => {
      const { code, stdout } = await run(['backup', 'verify', file]);
      expect(code).to.equal(0);
      const printed = JSON.parse(stdout) as { ok: boolean; databases: { name: string; schema: string }[] };
      expect(printed.ok).to.equal(true);
      expect(printed.databases.map(({ name }) => name)).to.deep.equal(['tenant', 'platform']);
    });

    it('tells a wrong passphrase', async () => {
      const refused = await run(['backup', 'verify', file], { input: 'another passphrase' });
      expect([refused.code, errorOf(refused).code]).to.deep.equal([1, 'WRONG_PASSPHRASE']);
    });

    for (const [member, code] of [
      ['backup.json', /^(WRONG_PASSPHRASE|BACKUP_ALTERED|BACKUP_DAMAGED)$/],
      ['databases/tenant.db', /^BACKUP_ALTERED$/],
      ['files/tenants/acme/2026/11/two', /^BACKUP_ALTERED$/],
      ['secrets.sealed', /^BACKUP_ALTERED$/],
      ['index.jsonl', /^BACKUP_ALTERED$/],
      ['manifest.json', /^BACKUP_ALTERED$/],
      ['manifest.mac', /^BACKUP_ALTERED$/],
    ] as const)
      it(`finds one altered byte of ${member}`, async () => {
        alteredMember(file, member);
        const refused = await run(['backup', 'verify', file]);
        expect([refused.code, errorOf(refused).code], errorOf(refused).message).to.satisfy(
          ([exit, found]: [number, string]) => exit === 1 && code.test(found),
        );
        if (member.startsWith('files/')) expect(errorOf(refused).message).to.contain(member);
      });

    it('finds that the end is missing, wherever the file was cut', async () => {
      const { size } = statSync(file);
      for (const kept of [size - 1024, size - 2048, Math.floor(size / 2), 2000, 512, 0]) {
        truncateSync(file, kept);
        const refused = await run(['backup', 'verify', file]);
        expect([refused.code, errorOf(refused).code], String(kept)).to.deep.equal([1, 'BACKUP_DAMAGED']);
      }
    });

    it('tells a file that is no backup', async () => {
      writeFileSync(file, 'Dear operator, this is a letter. '.repeat(100));
      const refused = await run(['backup', 'verify', file]);
      expect([refused.code, errorOf(refused).code]).to.deep.equal([1, 'BACKUP_DAMAGED']);
      const missing = await run(['backup', 'verify', `${file}.gone`]);
      expect([missing.code, errorOf(missing).message]).to.deep.equal([2, `${file}.gone cannot be read (ENOENT)`]);
    });
  });

  describe('restore', () => {
    beforeEach(backUp);

    it('restores databases, files and keys into an empty installation', async () => {
      const { code, stdout, stderr } = await run(['restore', file], { env: elsewhere() });
      expect(code, stderr).to.equal(0);
      expect(JSON.parse(stdout)).to.include({ restoredFiles: 2, keysWritten: true });
      const { DATA_DIR } = elsewhere();
      for (const name of ['secret-keys', 'files/tenants/acme/2026/11/one', 'files/tenants/acme/2026/11/two'])
        expect(
          readFileSync(join(DATA_DIR, name)).equals(readFileSync(join(installation.dataDir, name))),
          name,
        ).to.equal(true);
      expect(statSync(join(DATA_DIR, 'secret-keys')).mode & 0o777).to.equal(0o600);
      expect(statSync(join(DATA_DIR, 'platform.db')).mode & 0o777).to.equal(0o600);
      expect(readdirSync(DATA_DIR).filter((name) => /restor/.test(name))).to.deep.equal([]);
      const shown = await run(['tenants', 'show', 'acme'], { env: elsewhere() });
      expect(shown.code, shown.stderr).to.equal(0);
      const verified = await run(['audit', 'verify'], { env: elsewhere() });
      expect(verified.code, verified.stdout).to.equal(0);
    });

    it('refuses an installation that is not empty, unless forced', async () => {
      const refused = await run(['restore', file]);
      expect([refused.code, errorOf(refused).code]).to.deep.equal([1, 'TARGET_NOT_EMPTY']);
      expect(errorOf(refused).message).to.contain('its tenant database has tables; its platform database has tables');
      expect((await run(['tenants', 'show', 'acme'])).code).to.equal(0);
      await installation.inProcess(
        ['bootstrap', '--tenant-slug', 'late', '--tenant-name', 'Late', '--email', 'l@l.example', '--name', 'L'],
        { input: 'Correct-Horse-42' },
      );
      const forced = await run(['restore', file, '--force', '--yes']);
      expect(forced.code, forced.stderr).to.equal(0);
      expect((await run(['tenants', 'show', 'late'])).code).to.equal(1);
      expect((await run(['tenants', 'show', 'acme'])).code).to.equal(0);
    });

    it('refuses files in the store of an otherwise empty installation', async () => {
      const env = elsewhere();
      mkdirSync(join(env.DATA_DIR, 'files', 'tenants'), { recursive: true });
      writeFileSync(join(env.DATA_DIR, 'files', 'tenants', 'kept'), 'mine');
      const refused = await run(['restore', file], { env });
      expect(errorOf(refused).message).to.contain('its object store has files');
      expect(existsSync(join(env.DATA_DIR, 'platform.db'))).to.equal(false);
    });

    it('refuses other keys, and writes those of the backup for SECRET_KEYS_FILE', async () => {
      const env = { ...elsewhere(), SECRET_KEYS: KEYS };
      const refused = await run(['restore', file], { env });
      expect([refused.code, errorOf(refused).code]).to.deep.equal([1, 'KEYS_DIFFER']);
      expect(readdirSync(env.DATA_DIR)).to.deep.equal([]);
      const out = join(installation.folder, 'keys');
      const production = { ...elsewhere(), NODE_ENV: 'production', FILE_SCAN_MODE: 'off' };
      const keys = await run(['restore', file, '--keys-out', out], { env: production });
      expect(keys.code, keys.stderr).to.equal(0);
      expect(readFileSync(out, 'utf8')).to.equal(readFileSync(join(installation.dataDir, 'secret-keys'), 'utf8'));
      expect(statSync(out).mode & 0o777).to.equal(0o600);
      const restored = await run(['restore', file], { env: { ...production, SECRET_KEYS_FILE: out } });
      expect(restored.code, restored.stderr).to.equal(0);
      expect(existsSync(join(production.DATA_DIR, 'secret-keys'))).to.equal(false);
    });

    it('refuses a backup of a newer schema, and changes nothing', async () => {
      const newer = join(installation.folder, 'newer.tar');
      const platform = new Connection(join(installation.dataDir, 'platform.db'));
      platform.prepare('INSERT INTO schema_migrations VALUES (?, ?)').run('9999-from-the-future', 'f'.repeat(64));
      platform.close();
      const made = await run(['backup', newer]);
      expect(made.code, made.stderr).to.equal(0);
      const refused = await run(['restore', newer], { env: elsewhere() });
      expect([refused.code, errorOf(refused).code]).to.deep.equal([1, 'SCHEMA_NEWER']);
      expect(errorOf(refused).message).to.contain('9999-from-the-future');
      expect(readdirSync(elsewhere().DATA_DIR)).to.deep.equal([]);
    });

    it('restores an altered backup not at all', async () => {
      alteredMember(file, 'files/tenants/acme/2026/11/two');
      const refused = await run(['restore', file], { env: elsewhere() });
      expect([refused.code, errorOf(refused).code]).to.deep.equal([1, 'BACKUP_ALTERED']);
      expect(readdirSync(elsewhere().DATA_DIR)).to.deep.equal([]);
    });

    it('refuses databases that another process has open, even idle', async () => {
      const open = new Connection(join(installation.dataDir, 'tenant.db'));
      open.pragma('journal_mode = WAL');
      open.prepare('SELECT count(*) FROM sqlite_schema').get();
      const refused = await run(['restore', file, '--force', '--yes']);
      open.close();
      expect([refused.code, errorOf(refused).code]).to.deep.equal([1, 'DATABASE_IN_USE']);
      expect((await run(['restore', file, '--force', '--yes'])).code).to.equal(0);
    });

    it('refuses an agent and another database system', async () => {
      const env = { ...elsewhere(), EDITION: 'enterprise_hybrid' };
      const refused = await run(['restore', file], { env });
      expect([refused.code, errorOf(refused).code]).to.deep.equal([1, 'BACKUP_UNFIT']);
    });
  });
});
