import { expect } from 'chai';
import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { generateKeyRingText } from '../../data-plane-agent/base/secrets.js';
import { publicUrlCheck } from '../../cli/doctor/public-url.js';
import { readServerConfig } from '../../server/config.js';
import { installations, type Installation } from '../support/cli.js';
import { startOidc, type TestProvider } from '../support/oidc.js';
import { startServer } from '../support/server.js';

interface Check {
  name: string;
  status: 'ok' | 'warn' | 'fail';
  detail: string;
  fix: string | null;
}
type Env = Readonly<Record<string, string>>;

describe("duebook doctor's checklist", () => {
  const install = installations();

  const found = async ({ inProcess }: Installation, env: Env, name: string): Promise<Check> => {
    const { stdout, stderr } = await inProcess(['doctor', '--json'], { env: { PORT: '0', ...env } });
    if (stdout === '') throw new Error(stderr);
    const { checks } = JSON.parse(stdout) as { checks: Check[] };
    const check = checks.find((one) => one.name === name);
    if (!check) throw new Error(stdout);
    return check;
  };
  const production = {
    NODE_ENV: 'production',
    SECRET_KEYS: generateKeyRingText(),
    FILE_SCAN_MODE: 'off',
    PUBLIC_URL: 'https://localhost',
  };

  it('warns that an installation is not in production, and lists what its settings allow', async () => {
    const installation = await install();
    const open = await found(installation, {}, 'environment');
    expect(open.status).to.equal('warn');
    expect(open.detail).to.equal(
      'not a production installation (NODE_ENV is not production): anyone may register an organisation (PUBLIC_REGISTRATION_ENABLED); administrators sign in with a password alone (MFA_REQUIRED_FOR_ADMINS); a code by mail replaces the authenticator, also for administrators (MFA_EMAIL_FALLBACK); files are not scanned for malware (FILE_SCAN_MODE)',
    );
    expect(open.fix).to.contain('NODE_ENV=production').and.contain('SECRET_KEYS');
    const stricter = await found(
      installation,
      {
        PUBLIC_REGISTRATION_ENABLED: 'false',
        MFA_REQUIRED_FOR_ADMINS: 'true',
        MFA_EMAIL_FALLBACK: 'off',
        FILE_SCAN_MODE: 'clamav',
        CLAMAV_URL: 'tcp://127.0.0.1:1',
      },
      'environment',
    );
    expect(stricter.detail).to.equal('not a production installation (NODE_ENV is not production)');
    const weak = await found(installation, { PASSWORD_RULES: 'off', PUBLIC_URL: 'http://book.example' }, 'environment');
    expect(weak.detail).to.contain('weak passwords are accepted').and.contain('sent unencrypted (PUBLIC_URL is http)');
    expect(await found(installation, production, 'environment')).to.include({ status: 'ok', fix: null });
  });

  it('checks PUBLIC_URL', async () => {
    const installation = await install();
    const cases: readonly (readonly [env: Env, status: string, detail: string, fix: string])[] = [
      [{ PORT: '0', PUBLIC_URL: 'http://localhost:8080' }, 'ok', 'opens on this machine only', ''],
      [
        { PORT: '1', PUBLIC_URL: 'http://localhost:9090' },
        'warn',
        'http://localhost:9090: the server listens on port 1',
        'http://localhost:1',
      ],
      [production, 'warn', 'opens on this machine only', 'https URL that users open'],
      [{ PUBLIC_URL: 'http://book.example' }, 'warn', 'unencrypted', 'https'],
      [{ PUBLIC_URL: 'http://0.0.0.0:8080' }, 'warn', 'no address that a browser can open', 'PUBLIC_URL'],
      [{ PUBLIC_URL: 'https://192.0.2.7' }, 'warn', 'passkeys need a domain name', 'domain name'],
      [{ PUBLIC_URL: 'https://no-such-host.invalid' }, 'warn', 'no-such-host.invalid has no address', 'PUBLIC_URL'],
    ];
    for (const [env, status, detail, fix] of cases) {
      const check = await found(installation, env, 'public_url');
      expect(check.status, check.detail).to.equal(status);
      expect(check.detail).to.contain(detail);
      expect(check.fix ?? '').to.contain(fix);
    }
  });

  it('reports that a PUBLIC_URL with https needs TRUST_PROXY', async () => {
    const read = readServerConfig({ PUBLIC_URL: 'https://book.example' });
    if (!read.ok) throw new Error('these settings are valid');
    const check = (trustProxy: number) =>
      publicUrlCheck(
        { values: { ...read.values, trustProxy } },
        { production: true, resolves: () => Promise.resolve(true) },
      );
    expect((await check(0)).fix).to.contain('set TRUST_PROXY to the number of your own proxies');
    expect(await check(1)).to.include({ status: 'ok', detail: 'https://book.example' });
  });

  it('checks whether the port is free, used by another program, or used by this installation', async () => {
    const installation = await install();
    const holder = createServer((socket) => socket.destroy()).listen(0, '127.0.0.1');
    await once(holder, 'listening');
    const { port } = holder.address() as AddressInfo;
    try {
      const taken = await found(installation, { PORT: String(port) }, 'port');
      expect([taken.status, taken.detail]).to.deep.equal(['fail', `127.0.0.1:${port} is in use by another program`]);
      expect(taken.fix).to.contain('set PORT to another port');
    } finally {
      holder.close();
      await once(holder, 'close');
    }
    expect(await found(installation, { PORT: String(port) }, 'port')).to.include({
      status: 'ok',
      detail: `127.0.0.1:${port} is free`,
    });
    const elsewhere = await found(installation, { PORT: String(port), HOST: '192.0.2.7' }, 'port');
    expect([elsewhere.status, elsewhere.detail]).to.deep.equal([
      'fail',
      '192.0.2.7 is no address of this machine (EADDRNOTAVAIL)',
    ]);

    const server = await startServer();
    try {
      const own = new URL(server.url).port;
      const { dataDir } = server.config;
      expect(await found(installation, { PORT: own, DATA_DIR: dataDir }, 'port')).to.include({
        status: 'ok',
        detail: `this server listens on 127.0.0.1:${own}`,
      });
      expect(await found(installation, { PORT: own }, 'port')).to.include({
        status: 'fail',
        detail: `127.0.0.1:${own} is in use by another installation`,
      });
      // The database has the keys that tell this installation's server from another's.
      const unread = { PORT: own, PLATFORM_DATABASE_URL: 'postgres://ann:word@127.0.0.1:1/book' };
      const unknown = await found(installation, unread, 'port');
      expect([unknown.status, unknown.detail]).to.deep.equal([
        'warn',
        `a Duebook server listens on 127.0.0.1:${own}; whether it is this installation's was not examined, because the platform database cannot be read`,
      ]);
      expect(unknown.fix).to.equal('make the platform database readable first');
    } finally {
      await server.stop();
    }
  });

  describe('of single sign-on', () => {
    let provider: TestProvider;
    before(async () => {
      provider = await startOidc({ publicUrl: 'http://localhost:8080' });
    });
    after(() => provider.stop());
    const withIssuer = (issuer: string, more: Env = {}): Env => ({
      SSO_PROVIDERS: JSON.stringify([{ ...provider.settings(), issuer }]),
      ...more,
    });

    it('asks the issuer for its discovery document', async () => {
      const installation = await install();
      expect((await found(installation, {}, 'sso')).status).to.equal('ok');
      const { id } = provider.settings();
      expect(await found(installation, withIssuer(provider.issuer), 'sso')).to.include({
        status: 'ok',
        detail: `${id}: discovery answers`,
      });
      const other = await found(installation, withIssuer(`${provider.issuer}/realms/none`), 'sso');
      expect(other.status).to.equal('fail');
      expect(other.detail).to.contain('has no valid discovery document');
      expect(other.fix).to.contain('/.well-known/openid-configuration');
      const away = await found(installation, withIssuer('http://127.0.0.1:1024'), 'sso');
      expect(away.status).to.equal('fail');
      expect(away.detail).to.contain('cannot be reached (connect ECONNREFUSED');
      const inside = await found(installation, withIssuer('https://10.1.2.3'), 'sso');
      expect(inside.detail).to.contain('private address');
      expect(inside.fix).to.contain('OUTBOUND_ALLOW_PRIVATE');
      expect(JSON.stringify([other, away, inside])).not.to.contain(provider.settings().clientSecret);
    });
  });
});
