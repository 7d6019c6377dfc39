import { expect } from 'chai';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { answered } from '../../cli/doctor/agent-links.js';
import { systemClock } from '../../data-plane-agent/base/clock.js';
import { diskCheck } from '../../data-plane-agent/base/command-line/disk.js';
import { generateKeyRingText } from '../../data-plane-agent/base/secrets.js';
import { objectStoreAddress } from '../../data-plane-agent/plane/files/objects/object-store-address.js';
import { createS3Store } from '../../data-plane-agent/plane/files/objects/s3-store.js';
import { administration } from '../support/administration.js';
import { fakeClock } from '../support/clock.js';
import { installations, type InProcess, type Installation } from '../support/cli.js';
import { startClamd, type TestClamd } from '../support/clamd.js';
import { startHybrid } from '../support/hybrid.js';
import { startAgent } from '../support/joined-agent.js';
import { sharedMinio } from '../support/minio.js';
import { startOidc, type TestProvider } from '../support/oidc.js';
import { createDatabase, type TestDatabase } from '../support/postgres.js';
import { skip } from '../support/skip.js';
import { startMailServer, type MailServer } from '../support/smtp.js';

interface Check {
  readonly name: string;
  readonly status: 'ok' | 'warn' | 'fail';
  readonly detail: string;
  readonly fix: string | null;
}
type Env = Readonly<Record<string, string>>;
/** `movedBy`: how far the clock of this machine is moved, in seconds. */
type Broken = Omit<InProcess, 'clock'> & { readonly movedBy?: number };

interface Row {
  readonly check: string;
  readonly status: 'warn' | 'fail';
  /** What the healthy installation has besides the usual. */
  readonly with?: Env;
  readonly broken: Broken;
  /** What the check says. */
  readonly says: RegExp;
  /** Checks that could not look because of it: they warn, or are missing. */
  readonly unexamined?: readonly string[];
}

const PASSWORD = 'Correct-Horse-42';
const BOOTSTRAP = 'bootstrap --tenant-slug acme --tenant-name Acme --email ann@acme.example --name Ann'.split(' ');
const TRIAL = { NODE_ENV: 'development', PUBLIC_URL: 'http://localhost:8080' };
const NOWHERE = '127.0.0.1:1';

/** Real servers: each check is broken alone, and no other may change. */
describe('duebook doctor with one thing broken', function () {
  this.timeout(180_000);
  const install = installations(after);
  const undo: (() => Promise<unknown>)[] = [];
  let installation: Installation;
  let healthy: Env;
  let database: { readonly platform: TestDatabase; readonly tenant: TestDatabase };
  let clamd: TestClamd;
  let mail: MailServer;
  let sso: TestProvider;
  let busy: number;
  let bucket: { readonly url: string; readonly wrong: string };

  before(async function () {
    const available = async <T>(what: Promise<T>): Promise<T> =>
      what.catch((error: unknown) => skip(this, error instanceof Error ? error.message : String(error)));
    const minio = await available(sharedMinio());
    clamd = await available(startClamd());
    undo.push(() => clamd.stop());
    database = {
      platform: await available(createDatabase({ migrated: 'platform' })),
      tenant: await createDatabase({ migrated: 'tenant' }),
    };
    mail = await startMailServer();
    undo.push(mail.stop);
    sso = await startOidc({ publicUrl: TRIAL.PUBLIC_URL });
    undo.push(() => sso.stop());
    const holder = createServer((socket) => socket.destroy()).listen(0, '127.0.0.1');
    await once(holder, 'listening');
    undo.push(() => new Promise((resolve) => holder.close(resolve)));
    busy = (holder.address() as AddressInfo).port;

    const url = minio.url(`duebook-b-${process.pid}`);
    bucket = { url, wrong: url.replace(/:[^:@/]+@/, ':another-secret@') };
    const address = objectStoreAddress().parse(url);
    if (!address.ok || address.value.provider !== 's3') throw new Error('the URL names a bucket');
    const store = createS3Store({ address: address.value, clock: systemClock });
    expect(await store.probe()).to.deep.equal([]);
    await store.close();

    installation = await install();
    healthy = {
      NODE_ENV: 'production',
      SECRET_KEYS: generateKeyRingText(),
      // Warned about in each mode: passkeys need a domain name, and no name resolves on every machine.
      PUBLIC_URL: 'https://192.0.2.7',
      PORT: '0',
      OBJECT_STORE_URL: url,
      OBJECT_STORE_PUBLIC_URL: 'https://files.example',
      FILE_SCAN_MODE: 'clamav',
      CLAMAV_URL: clamd.url,
      SMTP_URL: mail.url,
      MAIL_FROM: 'Duebook <duebook@book.example>',
    };
    const { code, stderr } = await installation.inProcess(BOOTSTRAP, { env: healthy, input: PASSWORD });
    expect(code, stderr).to.equal(0);
    writeFileSync(join(installation.folder, 'file'), '');
  });
  after(async () => {
    for (const stop of undo.toReversed()) await stop();
    await database?.platform.drop();
    await database?.tenant.drop();
  });

  const examined = async ({ movedBy, ...options }: Broken): Promise<Map<string, Check>> => {
    const { stdout, stderr } = await installation.inProcess(['doctor', '--json'], {
      ...options,
      ...(movedBy === undefined ? {} : { clock: fakeClock(Date.now() + movedBy * 1_000) }),
    });
    if (stdout === '') throw new Error(stderr);
    const { checks } = JSON.parse(stdout) as { readonly checks: readonly Check[] };
    return new Map(checks.map((check) => [check.name, check]));
  };

  const rows = (): readonly Row[] => [
    { check: 'node', status: 'fail', broken: { nodeVersion: '20.18.3' }, says: /20\.18\.3/ },
    { check: 'environment', status: 'warn', broken: { env: { NODE_ENV: 'development' } }, says: /not a production/ },
    { check: 'configuration', status: 'warn', broken: { env: { DUEBOOK_PORT: '1' } }, says: /DUEBOOK_PORT/ },
    {
      check: 'public_url',
      status: 'warn',
      with: TRIAL,
      broken: { env: { PUBLIC_URL: 'http://0.0.0.0:8080' } },
      says: /no address that a browser can open/,
    },
    { check: 'port', status: 'fail', broken: { env: { PORT: String(busy) } }, says: /in use by another program/ },
    {
      check: 'data_dir',
      status: 'fail',
      with: files(installation),
      broken: { env: { DATA_DIR: join(installation.folder, 'file', 'data') } },
      says: /file/,
    },
    {
      check: 'platform_database',
      status: 'fail',
      with: { PLATFORM_DATABASE_URL: database.platform.url },
      broken: { env: { PLATFORM_DATABASE_URL: `postgres://ann:word@${NOWHERE}/book` } },
      says: /127\.0\.0\.1:1/,
      unexamined: ['platform_clock', 'platform_role', 'clock', 'keys'],
    },
    {
      check: 'platform_clock',
      status: 'warn',
      with: { PLATFORM_DATABASE_URL: database.platform.url },
      broken: { movedBy: 20 },
      says: /differs by (19|20) s/,
    },
    {
      check: 'platform_role',
      status: 'warn',
      with: { PLATFORM_DATABASE_URL: database.platform.url },
      broken: { env: { PLATFORM_DATABASE_URL: database.platform.adminUrl } },
      says: /superuser/,
    },
    {
      check: 'tenant_database',
      status: 'fail',
      with: { TENANT_DATABASE_URL: database.tenant.url },
      broken: { env: { TENANT_DATABASE_URL: `postgres://ann:word@${NOWHERE}/book` } },
      says: /127\.0\.0\.1:1/,
      unexamined: ['tenant_clock', 'tenant_role'],
    },
    {
      check: 'tenant_clock',
      status: 'warn',
      with: { TENANT_DATABASE_URL: database.tenant.url },
      broken: { movedBy: 20 },
      says: /differs by/,
    },
    {
      check: 'tenant_role',
      status: 'warn',
      with: { TENANT_DATABASE_URL: database.tenant.url },
      broken: { env: { TENANT_DATABASE_URL: database.tenant.adminUrl } },
      says: /superuser/,
    },
    {
      check: 'clock',
      status: 'fail',
      with: { OBJECT_STORE_URL: `file:${join(installation.dataDir, 'files')}` },
      broken: { movedBy: -86_400 },
      says: /86\d\d\d s before the newest recorded event/,
    },
    { check: 'keys', status: 'fail', broken: { env: { SECRET_KEYS: generateKeyRingText() } }, says: /do not open/ },
    {
      check: 'object_store',
      status: 'fail',
      broken: { env: { OBJECT_STORE_URL: bucket.wrong } },
      says: /secret key does not match/,
    },
    { check: 'object_store_clock', status: 'fail', broken: { movedBy: 60 }, says: /(59|60|61) s behind/ },
    { check: 'scanner', status: 'fail', broken: { env: { CLAMAV_URL: `tcp://${NOWHERE}` } }, says: /does not answer/ },
    {
      check: 'scanner',
      status: 'fail',
      broken: { env: { CLAMAV_URL: 'unix:/nowhere/clamd.ctl' } },
      says: /there is no socket \/nowhere\/clamd\.ctl/,
    },
    {
      check: 'agent_links',
      status: 'warn',
      with: { EDITION: 'enterprise_hybrid', TENANT_DATABASE_URL: '' },
      broken: { env: { PLATFORM_DATABASE_URL: `sqlite:${join(installation.folder, 'none.db')}` } },
      says: /not examined/,
      unexamined: ['platform_database'],
    },
    {
      check: 'sso',
      status: 'fail',
      with: { ...TRIAL, SSO_PROVIDERS: JSON.stringify([sso.settings()]) },
      broken: { env: { SSO_PROVIDERS: JSON.stringify([{ ...sso.settings(), issuer: 'http://127.0.0.1:1024' }]) } },
      says: /cannot be reached/,
    },
    {
      check: 'mail',
      status: 'fail',
      broken: { env: { SMTP_URL: `smtp://${NOWHERE}` } },
      says: /cannot be used \(ESOCKET: .*ECONNREFUSED/,
    },
  ];

  it('reports that check, with a fix, and changes no other', async () => {
    for (const { check, status, with: more = {}, broken, says, unexamined = [] } of rows()) {
      const env = { ...healthy, ...more };
      const before = await examined({ env });
      expect(
        [...before.values()].filter((one) => one.status === 'fail'),
        `${check}: healthy`,
      ).to.deep.equal([]);
      const after = await examined({ ...broken, env: { ...env, ...broken.env } });
      const found = after.get(check);
      expect([check, found?.status], found?.detail).to.deep.equal([check, status]);
      expect(before.get(check)?.status, `${check}: healthy`).not.to.equal(status);
      expect(found?.detail).to.match(says);
      expect(found?.fix ?? '', check).not.to.equal('');
      const others = [...before.keys()].filter(
        (name) => name !== check && after.get(name)?.status !== before.get(name)?.status,
      );
      expect(others, `${check}: others`).to.have.members(unexamined);
      for (const name of others) expect(after.get(name)?.status ?? 'missing', name).to.be.oneOf(['warn', 'missing']);
    }
  });

  it('has a row for every check', async () => {
    const env = { ...healthy, PLATFORM_DATABASE_URL: database.platform.url, TENANT_DATABASE_URL: database.tenant.url };
    const names = [...(await examined({ env })).keys()].filter((name) => name !== 'disk');
    expect([...new Set(rows().map(({ check }) => check))]).to.have.members(names);
  });

  it('reports a disk that is nearly full', () => {
    const withFree = (mebibytes: number) =>
      diskCheck({ dataDir: installation.dataDir }, { statfs: () => ({ bavail: mebibytes, bsize: 2 ** 20 }) });
    expect([50, 500, 5_000].map((free) => withFree(free).status)).to.deep.equal(['fail', 'warn', 'ok']);
    expect([50, 5_000].map((free) => withFree(free).detail.split(' free')[0])).to.deep.equal(['50 MiB', '4.9 GiB']);
    expect(withFree(50).fix).to.contain('DATA_DIR');
  });
});

/** Where files are on the disk, so that the data folder matters for nothing else. */
const files = ({ folder, dataDir }: Installation): Env => ({
  PLATFORM_DATABASE_URL: `sqlite:${join(dataDir, 'platform.db')}`,
  TENANT_DATABASE_URL: `sqlite:${join(dataDir, 'tenant.db')}`,
  OBJECT_STORE_URL: `file:${join(folder, 'files')}`,
});

describe('duebook doctor: the links to agents', function () {
  this.timeout(180_000);
  const install = installations();
  const agentLinks = async ({ inProcess }: Installation, options: InProcess): Promise<Check | undefined> => {
    const { stdout, stderr } = await inProcess(['doctor', '--json'], options);
    if (stdout === '') throw new Error(stderr);
    return (JSON.parse(stdout) as { checks: Check[] }).checks.find(({ name }) => name === 'agent_links');
  };

  it('asks each agent, through the server that holds its session', async () => {
    const installation = await install();
    const server = await startHybrid();
    const { dataDir, publicUrl } = server.config;
    const env = {
      EDITION: 'enterprise_hybrid',
      DATA_DIR: dataDir,
      PORT: new URL(server.url).port,
      PUBLIC_URL: publicUrl,
    };
    try {
      expect((await agentLinks(installation, { env }))?.detail).to.equal('no agent was invited yet');
      const org = await administration(server);
      const agent = await startAgent(server, org.tenant.id);
      try {
        const well = await agentLinks(installation, { env });
        expect([well?.status, well?.detail]).to.deep.equal(['ok', well?.detail]);
        expect(well?.detail).to.match(new RegExp(`^${org.tenant.slug}: connected, \\d+ ms, version `));
        await agent.halt();
        const away = await agentLinks(installation, { env });
        expect(away?.status).to.equal('fail');
        expect(away?.detail).to.match(
          new RegExp(`^1 of 1 agent: ${org.tenant.slug}: does not answer \\(.+\\); last seen 2`),
        );
        expect(away?.fix).to.contain('duebook-agent doctor');
      } finally {
        await agent.stop();
      }
    } finally {
      await server.stop();
    }
  });

  it('warns of an agent with another version or clock, and of a slow one', () => {
    const at = Date.UTC(2026, 10, 20, 8);
    const said = (of: Partial<Parameters<typeof answered>[0]>, how: Partial<Parameters<typeof answered>[1]>) => {
      const { status, detail, fix } = answered(
        { slug: 'acme', agentVersion: '1.2.3', protocolVersion: 1, ...of },
        { began: at, ended: at + 20, signedAt: at, version: '1.2.3', ...how },
      );
      return [status, detail.replace('connected, 20 ms, version 1.2.3', '…'), fix];
    };
    expect(said({}, {})).to.deep.equal(['ok', '…', undefined]);
    expect(said({}, { signedAt: at - 10_000 })[0]).to.equal('ok');
    expect(said({}, { signedAt: at + 30_020 })).to.deep.equal([
      'warn',
      '…; its clock is 30 s ahead',
      'synchronise the clocks of both machines (NTP): 60 s are tolerated',
    ]);
    expect(said({}, { signedAt: at - 31_000 })[1]).to.equal('…; its clock is 30 s behind');
    expect(said({}, { version: '1.3.0' })).to.deep.equal([
      'warn',
      '…; the service has version 1.3.0',
      'upgrade the older of the two programs',
    ]);
    expect(said({ protocolVersion: 0 }, {})[1]).to.equal('…; it speaks protocol 0, the service 1');
    expect(said({}, { ended: at + 1_500 })[1]).to.equal('connected, 1500 ms, version 1.2.3; which is slow');
  });
});
