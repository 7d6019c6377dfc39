import { expect } from 'chai';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { SETTINGS } from '../../server/config.js';
import { installations, type Outcome } from '../support/cli.js';

interface Row {
  name: string;
  value: string | null;
  source: string;
}
const rowsOf = ({ stdout }: Outcome): Row[] => (JSON.parse(stdout) as { settings: Row[] }).settings;

describe('duebook config', () => {
  const install = installations();

  it('shows every setting of the server with its value and source, and creates nothing', async () => {
    const { inProcess, folder, dataDir } = await install();
    writeFileSync(join(folder, 'token'), 'planted-metrics-token\n');
    const env = {
      PORT: '9090',
      METRICS_TOKEN_FILE: join(folder, 'token'),
      SECRET_KEYS: `planted:${Buffer.alloc(32, 9).toString('base64')}`,
      PLATFORM_DATABASE_URL: 'postgres://ann:planted-password@db.example/book',
    };
    const outcome = await inProcess(['config', '--json'], { env });
    const row = (name: string) => rowsOf(outcome).find((one) => one.name === name);
    expect(rowsOf(outcome).map(({ name }) => name)).to.deep.equal(Object.values(SETTINGS).map(({ name }) => name));
    expect(row('PORT')).to.include({ value: '9090', source: 'environment' });
    expect(row('HOST')).to.include({ value: '127.0.0.1', source: 'default' });
    expect(row('METRICS_TOKEN')).to.include({ value: '••••', source: 'file' });
    expect(row('SECRET_KEYS')).to.include({ value: '••••', source: 'environment' });
    expect(outcome.code).to.equal(0);

    const text = await inProcess(['config'], { env });
    expect(text.stdout).to.match(/^PORT +9090 +environment$/m);
    for (const secret of ['planted-metrics-token', 'planted-password', Buffer.alloc(32, 9).toString('base64')]) {
      expect(outcome.stdout + outcome.stderr + text.stdout + text.stderr).not.to.contain(secret);
    }
    expect(existsSync(dataDir)).to.equal(false);
  });

  it('fits the width of the terminal by shortening long values, which JSON has in full', async () => {
    const { inProcess } = await install();
    const env = { TENANT_DATABASE_URL: 'postgres://ann@db.example.com:5432/a-database-with-a-long-name' };
    for (const [terminalWidth, columns] of [
      [80, 80],
      [120, 120],
      [undefined, 80],
    ] as const) {
      const { stdout, stderr } = await inProcess(['config'], {
        env,
        ...(terminalWidth === undefined ? {} : { terminalWidth }),
      });
      const lines = stdout.trimEnd().split('\n');
      expect(lines).to.have.length(Object.keys(SETTINGS).length + 1);
      expect(lines.filter((line) => [...line].length > columns)).to.deep.equal([]);
      expect(stdout).to.match(/^FILE_CONTENT_TYPES +application\/pdf,.*… +default$/m);
      expect(stderr).to.contain('Long values are shortened (…): "duebook config --json" shows all of them.');
      if (columns === 120) expect(stdout).to.contain(env.TENANT_DATABASE_URL);
    }
    const json = await inProcess(['config', '--json'], { env, terminalWidth: 80 });
    expect(rowsOf(json).find(({ name }) => name === 'TENANT_DATABASE_URL')?.value).to.equal(env.TENANT_DATABASE_URL);
  });

  it('reports generated keys once they exist', async () => {
    const { inProcess } = await install();
    const keys = async () => rowsOf(await inProcess(['config', '--json'])).find(({ name }) => name === 'SECRET_KEYS');
    expect(await keys()).to.include({ value: null });
    await inProcess(['migrate']);
    expect(await keys()).to.include({ value: '••••', source: 'generated' });
  });

  it("warns about an unknown name with the product's prefix", async () => {
    const { inProcess } = await install();
    const { code, stdout, stderr } = await inProcess(['config'], { env: { DUEBOOK_PORT: '9090' } });
    expect(stderr.split('\n')).to.include('Warning: DUEBOOK_PORT is not a setting; use PORT');
    expect(stdout).to.contain('PORT');
    expect(code).to.equal(0);
  });
});
