import { expect } from 'chai';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { generateKeyRingText } from '../../data-plane-agent/base/secrets.js';
import { installations, type Installation } from '../support/cli.js';
import { createDatabase, needsPostgres, type TestDatabase } from '../support/postgres.js';
import { serverUntilEnd } from '../support/server-process.js';

const BOOTSTRAP = 'bootstrap --tenant-slug acme --tenant-name Acme --email ann@acme.example --name Ann'.split(' ');
type Env = Readonly<Record<string, string>>;

async function keysCheck({ inProcess }: Installation, env: Env): Promise<{ detail: string; fix: string | null }> {
  const { stdout } = await inProcess(['doctor', '--json'], { env });
  const { checks } = JSON.parse(stdout) as { checks: { name: string; detail: string; fix: string | null }[] };
  const found = checks.find(({ name }) => name === 'keys');
  if (!found) throw new Error(stdout);
  return found;
}

describe('secret keys that do not open the data', function () {
  this.timeout(180_000); // starts processes
  const install = installations();

  const endsWithDoctorsMessage = async (installation: Installation, databases: Env): Promise<void> => {
    const own = join(installation.dataDir, 'secret-keys');
    expect((await installation.inProcess(BOOTSTRAP, { env: databases })).code).to.equal(0);
    const env = { ...databases, SECRET_KEYS: generateKeyRingText() };
    const { detail, fix } = await keysCheck(installation, env);
    expect(detail).to.equal('the secret keys do not open the secrets in the platform database');
    expect(fix).to.equal(`restore the keys that it was sealed with: SECRET_KEYS, or the file ${own}`);
    const message = `The configuration has a fault:\n  SECRET_KEYS cannot be used: ${detail}; ${fix}\n`;
    expect(await serverUntilEnd(installation, env)).to.include({ code: 78, stderr: message });
    const { code, stderr } = await installation.inProcess(BOOTSTRAP, { env });
    expect([code, stderr]).to.deep.equal([78, message]);
    // Nothing was sealed with the other keys.
    const status = await installation.inProcess(['keys', 'status'], { env: databases });
    expect([status.code, status.stderr]).to.deep.equal([0, '']);

    // If the file is lost, neither a start nor a command writes another.
    const kept = readFileSync(own);
    rmSync(own);
    const lost = 'there are no secret keys, but the platform database has sealed secrets';
    expect(await keysCheck(installation, databases)).to.include({ detail: lost, fix });
    const refusal = `The configuration has a fault:\n  SECRET_KEYS cannot be used: ${lost}; ${fix}\n`;
    expect(await serverUntilEnd(installation, databases)).to.include({ code: 78, stderr: refusal });
    const refused = await installation.inProcess(BOOTSTRAP, { env: databases });
    expect([refused.code, refused.stderr]).to.deep.equal([78, refusal]);
    expect(existsSync(own), 'a file with a key that opens nothing').to.equal(false);
    writeFileSync(own, kept);
    expect((await installation.inProcess(BOOTSTRAP, { env: databases })).code).to.equal(0);
  };

  it("end the start with doctor's message and 78, on SQLite", async () => {
    await endsWithDoctorsMessage(await install(), {});
  });

  describe('with PostgreSQL', () => {
    needsPostgres();
    const made: TestDatabase[] = [];
    before(async () => {
      made.push(await createDatabase(), await createDatabase());
    });
    after(() => Promise.all(made.map((database) => database.drop())));

    it("end the start with doctor's message and 78", async () => {
      const [platform, tenant] = made;
      if (!platform || !tenant) throw new Error('both databases exist by now');
      await endsWithDoctorsMessage(await install(), {
        PLATFORM_DATABASE_URL: platform.url,
        TENANT_DATABASE_URL: tenant.url,
      });
    });
  });
});
