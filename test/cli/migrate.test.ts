import { expect } from 'chai';
import Sqlite from 'better-sqlite3';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { PLATFORM_MIGRATIONS } from '../../server/store/migrations/index.js';
import { TENANT_MIGRATIONS } from '../../data-plane-agent/plane/store/migrations/index.js';
import { installations, type Outcome } from '../support/cli.js';

const platform = PLATFORM_MIGRATIONS.map(({ id }) => id);
const tenant = TENANT_MIGRATIONS.map(({ id }) => id);
const databases = ({ stdout }: Outcome): unknown => (JSON.parse(stdout) as { databases: unknown }).databases;

describe('duebook migrate', () => {
  const install = installations();

  it('lists pending steps without creating a file in a dry run', async () => {
    const { inProcess, dataDir } = await install();
    for (const mode of ['--status', '--dry-run']) {
      const outcome = await inProcess(['migrate', mode, '--json']);
      expect(outcome.code).to.equal(0);
      expect(databases(outcome)).to.deep.equal([
        { name: 'platform', applied: [], pending: platform },
        { name: 'tenant', applied: [], pending: tenant },
      ]);
    }
    expect(existsSync(join(dataDir, 'platform.db'))).to.equal(false);
  });

  it('applies every step once, and none the next time', async () => {
    const { inProcess } = await install();
    expect(databases(await inProcess(['migrate', '--json']))).to.deep.equal([
      { name: 'platform', applied: platform, pending: [] },
      { name: 'tenant', applied: tenant, pending: [] },
    ]);
    expect(databases(await inProcess(['migrate', '--json']))).to.deep.equal([
      { name: 'platform', applied: [], pending: [] },
      { name: 'tenant', applied: [], pending: [] },
    ]);
    expect(databases(await inProcess(['migrate', '--status', '--json']))).to.deep.equal([
      { name: 'platform', applied: platform, pending: [] },
      { name: 'tenant', applied: tenant, pending: [] },
    ]);
    expect((await inProcess(['migrate'])).stdout).to.equal('platform: up to date\ntenant: up to date\n');
  });

  it('is safe when several run at once', async () => {
    const { cli } = await install();
    const outcomes = await Promise.all([1, 2, 3].map(() => cli(['migrate', '--json'])));
    expect(outcomes.map(({ code, stderr }) => [code, stderr])).to.deep.equal([
      [0, ''],
      [0, ''],
      [0, ''],
    ]);
    const applied = outcomes.flatMap((outcome) =>
      (databases(outcome) as { applied: string[] }[]).flatMap((one) => one.applied),
    );
    expect(applied.toSorted()).to.deep.equal([...platform, ...tenant].toSorted());
  });

  it('refuses a database that a newer program has migrated', async () => {
    const { inProcess, dataDir } = await install();
    await inProcess(['migrate']);
    const file = new Sqlite(join(dataDir, 'tenant.db'));
    file.prepare("INSERT INTO schema_migrations (id, checksum) VALUES ('9999-from-the-future', 'x')").run();
    file.close();
    const { code, stderr } = await inProcess(['migrate', '--json']);
    expect((JSON.parse(stderr) as { error: { code: string } }).error).to.include({ code: 'SCHEMA_MISMATCH' });
    expect(code).to.equal(1);
  });
});
