import { expect } from 'chai';
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { generateKeyRingText } from '../../data-plane-agent/base/secrets.js';
import { readServerConfig, SETTINGS } from '../../server/config.js';
import { workersFor } from '../../server/workers-setting.js';
import { loadServerConfig } from '../../server/config-load.js';

const faults = (env: NodeJS.ProcessEnv) => {
  const result = readServerConfig(env);
  return result.ok ? [] : result.faults;
};
const production = {
  NODE_ENV: 'production',
  SECRET_KEYS: generateKeyRingText(),
  PUBLIC_URL: 'https://book.example.com',
  MFA_REQUIRED_FOR_ADMINS: 'false',
  CLAMAV_URL: 'tcp://127.0.0.1:3310',
};

describe('the configuration of the server', () => {
  it('has one process outside production, and one per core in production, unless told otherwise', () => {
    const workersOf = (env: NodeJS.ProcessEnv) => {
      const read = readServerConfig(env);
      return read.ok ? read.values.workers : read.faults;
    };
    expect(workersOf({})).to.equal(1);
    expect(workersOf({ WORKERS: 'auto' })).to.equal('auto');
    expect(workersOf(production)).to.equal('auto');
    expect(workersOf({ ...production, EDITION: 'enterprise_hybrid' })).to.equal(1);
    expect(workersOf({ ...production, WORKERS: '3' })).to.equal(3);
    for (const WORKERS of ['0', '129', 'many', '1.5'])
      expect(workersOf({ WORKERS })).to.deep.equal([
        { name: 'WORKERS', problem: 'must be auto or an integer from 1 to 128' },
      ]);
  });

  it('has no more processes than there is memory for', () => {
    const GIB = 1024 ** 3;
    expect(workersFor({ cores: 16, memory: 64 * GIB })).to.equal(16);
    expect(workersFor({ cores: 16, memory: 2 * GIB })).to.equal(4);
    expect(workersFor({ cores: 4, memory: 0.25 * GIB })).to.equal(1);
    expect(workersFor({ cores: 400, memory: 1024 * GIB })).to.equal(128);
  });

  it('can be read again from the texts that are not defaults, also those from files', () => {
    const env = { ...production, LOG_LEVEL: 'warn', METRICS_TOKEN_FILE: '/a/file' };
    const read = readServerConfig(env, { readFile: () => 'from a file\n' });
    if (!read.ok) throw new Error('it has no fault');
    expect(read.given).to.include({ METRICS_TOKEN: 'from a file', LOG_LEVEL: 'warn' }).and.not.have.property('PORT');
    const again = readServerConfig({ ...read.given, NODE_ENV: 'production' });
    if (!again.ok) throw new Error('it has no fault');
    expect({ ...again.values, keyRing: again.values.keyRing?.reveal() }).to.deep.equal({
      ...read.values,
      keyRing: read.values.keyRing?.reveal(),
    });
  });

  it('has defaults for a development machine', () => {
    const result = readServerConfig({});
    expect(result).to.have.property('ok', true);
    if (result.ok) {
      expect(result.values).to.include({
        edition: 'self_hosted',
        host: '127.0.0.1',
        port: 8080,
        publicUrl: 'http://localhost:8080',
        dataDir: './data',
        platformDatabaseUrl: 'sqlite:./data/platform.db',
        tenantDatabaseUrl: 'sqlite:./data/tenant.db',
        databasePoolMax: 10,
        publicRegistrationEnabled: true,
        mfaRequiredForAdmins: false,
        rateLimitPerMinute: 0,
        trustProxy: 0,
        loginFailuresPerAccount: 10,
        loginFailuresPerIp: 100,
        loginResolvesPerMinute: 120,
        productName: 'Duebook',
        logLevel: 'info',
        metricsToken: undefined,
        keyRing: undefined,
        planCatalog: undefined,
      });
      expect(result.values.accessTtl).to.deep.equal({ text: '15m', ms: 900_000 });
      expect(result.values.refreshTtl.text).to.equal('30d');
    }
  });

  it('reports all errors at once', () => {
    expect(
      faults({
        EDITION: 'cloud',
        PORT: '99999',
        PUBLIC_URL: 'https://x.test/path',
        SECRET_KEYS: 'k1:short',
        CORS_ORIGINS: 'https://a.test,b.test',
        PLAN_CATALOG: '{"free":1}',
      }).map(({ name }) => name),
    ).to.have.members(['EDITION', 'PORT', 'PUBLIC_URL', 'SECRET_KEYS', 'CORS_ORIGINS', 'PLAN_CATALOG']);
  });

  it('reports an invalid port for PORT only', () => {
    for (const PORT of ['80000', '99999', 'x', '-1'])
      expect(
        faults({ PORT }).map(({ name }) => name),
        PORT,
      ).to.deep.equal(['PORT']);
  });

  it('warns if only one database is PostgreSQL, unless the SQLite file of the other is set', () => {
    const postgres = 'postgres://u:p@localhost/book';
    const warned = (env: NodeJS.ProcessEnv) =>
      readServerConfig({ DATA_DIR: '/srv/book', ...env }).warnings.map(({ name, problem }) => `${name} ${problem}`);
    expect(warned({ PLATFORM_DATABASE_URL: postgres })).to.deep.equal([
      'TENANT_DATABASE_URL is not set, but PLATFORM_DATABASE_URL is PostgreSQL: contract data are stored in the SQLite file /srv/book/tenant.db; set TENANT_DATABASE_URL to a second PostgreSQL database, or to sqlite:/srv/book/tenant.db if that is intended',
    ]);
    expect(warned({ TENANT_DATABASE_URL: postgres })).to.deep.equal([
      'PLATFORM_DATABASE_URL is not set, but TENANT_DATABASE_URL is PostgreSQL: accounts are stored in the SQLite file /srv/book/platform.db; set PLATFORM_DATABASE_URL to a second PostgreSQL database, or to sqlite:/srv/book/platform.db if that is intended',
    ]);
    for (const env of [
      {},
      { PLATFORM_DATABASE_URL: postgres, TENANT_DATABASE_URL: 'sqlite:/srv/book/tenant.db' },
      { PLATFORM_DATABASE_URL: postgres, TENANT_DATABASE_URL: `${postgres}_contracts` },
      { PLATFORM_DATABASE_URL: postgres, EDITION: 'enterprise_hybrid' },
    ])
      expect(warned(env)).to.deep.equal([]);
  });

  it('warns in production about links to files that open on this machine only', () => {
    const bucket = 's3://key:secret@127.0.0.1:9000/book?tls=false';
    const warned = (env: NodeJS.ProcessEnv) =>
      readServerConfig({ ...production, OBJECT_STORE_URL: bucket, ...env })
        .warnings.filter(({ name }) => name === 'OBJECT_STORE_PUBLIC_URL')
        .map(({ problem }) => problem);
    const only =
      'links to files begin with it and open on this machine only: set it to the https URL of the object store for users';
    expect(warned({ PUBLIC_URL: 'https://book.example.com' })).to.deep.equal([
      `is not set, and OBJECT_STORE_URL names this machine: ${only}`,
    ]);
    expect(
      warned({ PUBLIC_URL: 'https://book.example.com', OBJECT_STORE_PUBLIC_URL: 'https://localhost:9000' }),
    ).to.deep.equal([`names this machine: ${only}`]);
    for (const env of [
      { PUBLIC_URL: 'https://book.example.com', OBJECT_STORE_PUBLIC_URL: 'https://files.example.com' },
      { PUBLIC_URL: 'https://book.example.com', OBJECT_STORE_URL: 'file:/srv/files' },
      { PUBLIC_URL: 'https://localhost' },
      { PUBLIC_URL: 'https://book.example.com', NODE_ENV: 'development' },
    ])
      expect(warned(env), JSON.stringify(env)).to.deep.equal([]);
  });

  it('is refused in production without keys, and with plain http on a public host', () => {
    expect(faults({ ...production, SECRET_KEYS: '' })).to.deep.equal([
      {
        name: 'SECRET_KEYS',
        problem:
          'is required: make a key with: echo "k1:$(openssl rand -base64 32)" ; then set SECRET_KEYS to it and keep a copy elsewhere',
      },
    ]);
    expect(faults({ ...production, PUBLIC_URL: 'http://book.example.com' }).map(({ name }) => name)).to.deep.equal([
      'PUBLIC_URL',
    ]);
    for (const address of [
      'http://localhost:8080',
      'http://127.0.0.1',
      'http://[::1]:8080',
      'https://book.example.com',
    ])
      expect(faults({ ...production, PUBLIC_URL: address }), address).to.deep.equal([]);
    expect(faults({ ...production, PUBLIC_URL: 'http://127.0.0.1.evil.test' })).to.have.length(1);
  });

  it('requires a second factor of admins by default in production, and elsewhere when configured', () => {
    for (const [env, required] of [
      [{ ...production, MFA_REQUIRED_FOR_ADMINS: '' }, true],
      [production, false],
      [{ MFA_REQUIRED_FOR_ADMINS: 'true' }, true],
      [{}, false],
    ] as const) {
      const result = readServerConfig(env);
      expect(result.ok && result.values.mfaRequiredForAdmins).to.equal(required);
    }
  });

  it('warns in production about open registration and admins without a second factor', () => {
    const result = readServerConfig({ ...production, PUBLIC_REGISTRATION_ENABLED: 'true' });
    expect(result.ok).to.equal(true);
    expect(result.warnings.map(({ name }) => name)).to.deep.equal([
      'MFA_REQUIRED_FOR_ADMINS',
      'PUBLIC_REGISTRATION_ENABLED',
    ]);
    expect(readServerConfig({}).warnings).to.deep.equal([]);
  });

  it('warns about unencrypted connections: a PostgreSQL on another machine, mail', () => {
    const warned = (env: NodeJS.ProcessEnv) =>
      readServerConfig({ TENANT_DATABASE_URL: 'sqlite:t.db', ...env }).warnings.map(({ name }) => name);
    for (const address of [
      'postgres://u:p@db.example.com/x',
      'postgresql://10.0.0.5:5432/x?sslmode=disable',
      'postgres://db/x?ssl=0',
      'postgres:///x?host=10.0.0.5',
      'postgres://localhost/x?host=db',
      'postgres://127.0.0.1.example.com/x',
      'postgres://db/x?sslmode=',
    ]) {
      expect(warned({ PLATFORM_DATABASE_URL: address }), address).to.deep.equal(['PLATFORM_DATABASE_URL']);
      expect(warned({ PLATFORM_DATABASE_URL: address, TENANT_DATABASE_URL: address }), address).to.deep.equal([
        'PLATFORM_DATABASE_URL',
        'TENANT_DATABASE_URL',
      ]);
    }
    for (const address of [
      'sqlite:x.db',
      'postgres://db/x?sslmode=require',
      'postgres://db/x?sslmode=verify-full',
      'postgres://db/x?ssl=true',
      'postgres://db/x?sslrootcert=/ca.pem',
      'postgres://localhost/x',
      'postgres://127.0.0.1/x',
      'postgres://[::1]/x',
      'postgres:///x?host=/run/postgresql',
      'postgres://%2Frun%2Fpostgresql/x',
      'postgres:///x?host=::1',
    ]) {
      expect(warned({ PLATFORM_DATABASE_URL: address }), address).to.deep.equal([]);
    }
    for (const [url, names] of [
      ['smtp://mail.example.com', []],
      ['smtp://mail.example.com?requireTLS=false', ['SMTP_URL']],
      ['smtp://localhost?requireTLS=false', []],
    ] as const)
      expect(warned({ SMTP_URL: url, MAIL_FROM: 'a@example.com' }), url).to.deep.equal(names);
  });

  it('is refused without the address of the scanner that production requires by default, and the error names both solutions', () => {
    for (const env of [{ ...production, CLAMAV_URL: '' }, { FILE_SCAN_MODE: 'clamav' }]) {
      expect(faults(env)).to.have.length(1);
      expect(faults(env)[0]).to.have.property('name', 'CLAMAV_URL');
      expect(faults(env)[0]?.problem).to.contain('clamd').and.to.contain('FILE_SCAN_MODE=off');
    }
    const read = (env: NodeJS.ProcessEnv) => {
      const result = readServerConfig(env);
      return {
        scan: result.ok && [result.values.fileScanMode, result.values.fileDownloadRequiresCleanScan],
        warnings: result.warnings.map(({ name }) => name),
      };
    };
    expect(read({})).to.deep.equal({ scan: ['off', true], warnings: [] });
    expect(read({ ...production, CLAMAV_URL: '', FILE_SCAN_MODE: 'off' })).to.deep.equal({
      scan: ['off', true],
      warnings: ['MFA_REQUIRED_FOR_ADMINS', 'FILE_SCAN_MODE'],
    });
    expect(read({ ...production, FILE_DOWNLOAD_REQUIRES_CLEAN_SCAN: 'false' })).to.deep.equal({
      scan: ['clamav', false],
      warnings: ['MFA_REQUIRED_FOR_ADMINS', 'FILE_DOWNLOAD_REQUIRES_CLEAN_SCAN'],
    });
    for (const [FILE_MAX_BYTES, warnings] of [
      ['2147483645', []],
      ['2147483646', ['FILE_MAX_BYTES']],
    ] as const)
      expect(read({ FILE_SCAN_MODE: 'clamav', CLAMAV_URL: 'tcp://clamd', FILE_MAX_BYTES }).warnings).to.deep.equal(
        warnings,
      );
    for (const url of ['tcp://clamd:3310', 'unix:/run/clamav/clamd.sock'])
      expect(faults({ FILE_SCAN_MODE: 'clamav', CLAMAV_URL: url })).to.deep.equal([]);
    for (const url of ['clamd:3310', 'http://clamd:3310', 'unix:clamd.sock'])
      expect(faults({ CLAMAV_URL: url })).to.deep.equal([
        { name: 'CLAMAV_URL', problem: 'must be tcp://host:port or unix:/path' },
      ]);
  });

  it('allows codes by mail in production for members without admin rights only, and warns about more', () => {
    const production = {
      NODE_ENV: 'production',
      SECRET_KEYS: generateKeyRingText(),
      PUBLIC_URL: 'https://book.example.com',
      FILE_SCAN_MODE: 'off',
    };
    const read = (env: NodeJS.ProcessEnv) => {
      const result = readServerConfig(env);
      return [
        result.ok && result.values.mfaEmailFallback,
        result.warnings.some(({ name }) => name === 'MFA_EMAIL_FALLBACK'),
      ];
    };
    expect(read({})).to.deep.equal(['all', false]);
    expect(read(production)).to.deep.equal(['members', false]);
    expect(read({ ...production, MFA_EMAIL_FALLBACK: 'off' })).to.deep.equal(['off', false]);
    expect(read({ ...production, MFA_EMAIL_FALLBACK: 'all' })).to.deep.equal(['all', true]);
    expect(faults({ MFA_EMAIL_FALLBACK: 'admins' }).map(({ name }) => name)).to.deep.equal(['MFA_EMAIL_FALLBACK']);
  });

  it('allows no unknown file types', () => {
    const result = readServerConfig({ FILE_CONTENT_TYPES: 'Application/PDF, image/png' });
    expect(result.ok && result.values.fileContentTypes).to.deep.equal(['application/pdf', 'image/png']);
    expect(faults({ FILE_CONTENT_TYPES: 'application/pdf,text/html,image/svg+xml' })).to.deep.equal([
      {
        name: 'FILE_CONTENT_TYPES',
        problem: 'contains types whose content cannot be checked: text/html, image/svg+xml',
      },
    ]);
  });

  it('reads origins in the format of browsers', () => {
    const result = readServerConfig({
      PUBLIC_URL: 'HTTPS://Book.Example.com:443/',
      CORS_ORIGINS: 'https://a.test , http://b.test:3000/',
    });
    expect(result.ok && [result.values.publicUrl, result.values.corsOrigins]).to.deep.equal([
      'https://book.example.com',
      ['https://a.test', 'http://b.test:3000'],
    ]);
  });

  it('derives the domain and origin of passkeys from the public address, and refuses a domain that does not include the origin', () => {
    const result = readServerConfig({ PUBLIC_URL: 'https://book.example.com' });
    expect(result.ok && [result.values.webauthnRpId, result.values.webauthnOrigins]).to.deep.equal([
      'book.example.com',
      ['https://book.example.com'],
    ]);
    for (const allowed of [
      { WEBAUTHN_RP_ID: 'example.com' },
      { WEBAUTHN_RP_ID: 'example.com', WEBAUTHN_ORIGINS: 'https://app.example.com,https://example.com:8443' },
    ]) {
      expect(faults({ PUBLIC_URL: 'https://book.example.com', ...allowed })).to.deep.equal([]);
    }
    for (const refused of [
      { WEBAUTHN_RP_ID: 'ample.com' },
      { WEBAUTHN_RP_ID: 'other.com' },
      { WEBAUTHN_ORIGINS: 'https://elsewhere.com' },
    ]) {
      expect(
        faults({ PUBLIC_URL: 'https://book.example.com', ...refused }).map(({ name }) => name),
        JSON.stringify(refused),
      ).to.deep.equal(['WEBAUTHN_RP_ID']);
    }
    expect(faults({ PUBLIC_URL: 'ftp://book.example.com' }).map(({ name }) => name)).to.deep.equal(['PUBLIC_URL']);
  });

  it('accepts as the link of contracts only a URL that every message can contain', () => {
    for (const CONTRACT_LINK of [
      'https://console.example.com/contracts/{contractId}',
      ' http://localhost:3000/#/c/{contractId}?tab=plan&x=1 ',
    ]) {
      const result = readServerConfig({ CONTRACT_LINK });
      expect(result.ok && result.values.contractLink).to.equal(CONTRACT_LINK.trim());
    }
    for (const CONTRACT_LINK of [
      'https://console.example.com/contracts',
      'console.example.com/{contractId}',
      'javascript:alert(1)//{contractId}',
      'https:///{contractId}',
      'https://a.example/{contractId})[x](https://b.example',
      'https://a.example/{contractId}|x',
      'https://a.example/{contractId} x',
      'https://a.example/{contractId}"><script>',
      'https://user:secret@a.example/{contractId}',
    ])
      expect(
        faults({ CONTRACT_LINK }).map(({ name }) => name),
        CONTRACT_LINK,
      ).to.deep.equal(['CONTRACT_LINK']);
  });

  it('requires the id and the secret of a calendar provider, and https addresses in production', () => {
    const names = (env: NodeJS.ProcessEnv) => faults(env).map(({ name }) => name);
    const google = { CALENDAR_PROVIDER: 'google', CALENDAR_CLIENT_ID: 'id', CALENDAR_CLIENT_SECRET: 'secret' };
    expect(names({ CALENDAR_PROVIDER: 'yahoo' })).to.deep.equal(['CALENDAR_PROVIDER']);
    expect(names({ CALENDAR_PROVIDER: 'google' })).to.deep.equal(['CALENDAR_CLIENT_ID', 'CALENDAR_CLIENT_SECRET']);
    expect(names(google)).to.deep.equal([]);
    const local = { ...google, CALENDAR_TOKEN_URL: 'http://127.0.0.1:9/token' };
    expect(names(local)).to.deep.equal([]);
    expect(names({ ...production, ...local })).to.deep.equal(['CALENDAR_TOKEN_URL']);
    expect(names({ ...google, CALENDAR_API_URL: 'https://api.test/?a=1' })).to.deep.equal(['CALENDAR_API_URL']);
    expect(names({ ...google, CALENDAR_AUTHORIZE_URL: 'https://u:p@login.test/' })).to.deep.equal([
      'CALENDAR_AUTHORIZE_URL',
    ]);
  });

  it('reads a plan catalogue from the file that PLAN_CATALOG_FILE names', () => {
    const plan = { name: 'P', features: ['customFields'] };
    const result = readServerConfig(
      { PLAN_CATALOG_FILE: '/etc/plans.json' },
      { readFile: () => JSON.stringify({ free: plan, pro: plan, business: plan, enterprise: plan }) },
    );
    expect(result.ok && result.values.planCatalog?.free.features).to.deep.equal(['customFields']);
  });

  it('hides secrets', () => {
    expect(
      Object.values(SETTINGS)
        .filter((setting) => 'secret' in setting && setting.secret)
        .map(({ name }) => name),
    ).to.deep.equal([
      'SECRET_KEYS',
      'SMTP_URL',
      'BOT_CHALLENGE_SECRET',
      'SSO_PROVIDERS',
      'CALENDAR_CLIENT_SECRET',
      'BACKUP_PASSPHRASE',
      'METRICS_TOKEN',
      'OTEL_EXPORTER_OTLP_HEADERS',
      'OTEL_EXPORTER_OTLP_TRACES_HEADERS',
    ]);
  });

  it('generates keys once for an installation without keys, readable by its owner only', async () => {
    const home = mkdtempSync(join(tmpdir(), 'duebook-config-'));
    try {
      const DATA_DIR = join(home, 'data');
      const first = await loadServerConfig({ DATA_DIR });
      const again = await loadServerConfig({ DATA_DIR });
      expect(first.ok && again.ok && first.config.keyRing.active === again.config.keyRing.active).to.equal(true);
      expect(first.ok && first.result.sources['SECRET_KEYS']).to.equal('generated');
      expect(statSync(join(DATA_DIR, 'secret-keys')).mode & 0o777).to.equal(0o600);
      expect(statSync(DATA_DIR).mode & 0o777).to.equal(0o700);
      expect(readFileSync(join(DATA_DIR, 'secret-keys'), 'utf8')).to.match(/^k[0-9a-f]{8}:/);
      const given = await loadServerConfig({ DATA_DIR, SECRET_KEYS: generateKeyRingText() });
      expect(given.ok && given.config.keyRing.active).not.to.equal(first.ok && first.config.keyRing.active);
    } finally {
      rmSync(home, { recursive: true, force: true });
    }
  });
});
