import { expect } from 'chai';
import Connection from 'better-sqlite3';
import { join } from 'node:path';
import { TENANT_MIGRATIONS } from '../../data-plane-agent/plane/store/migrations/index.js';
import { installations, type Installation } from '../support/cli.js';
import { fakeClock } from '../support/clock.js';

interface Printed {
  readonly ok: boolean;
  readonly pending: Readonly<Record<string, readonly string[]>>;
  readonly checks: readonly { name: string; status: string; detail: string; fix: string | null }[];
}

describe('duebook upgrade check', () => {
  const install = installations();
  let installation: Installation;
  const clock = fakeClock(new Date().toISOString());

  beforeEach(async () => {
    installation = await install();
    const { code, stderr } = await installation.inProcess(
      ['bootstrap', '--tenant-slug', 'acme', '--tenant-name', 'Acme', '--email', 'ann@acme.example', '--name', 'Ann'],
      { input: 'Correct-Horse-42' },
    );
    expect(code, stderr).to.equal(0);
  });

  const checked = async (): Promise<Printed & { code: number | null; of(name: string): string }> => {
    const { code, stdout } = await installation.inProcess(['upgrade', 'check', '--json'], { clock });
    const printed = JSON.parse(stdout) as Printed;
    return {
      ...printed,
      code,
      of: (name) => {
        const found = printed.checks.find((one) => one.name === name);
        return `${found?.status} ${found?.detail}`;
      },
    };
  };
  const inDatabase = (name: string, work: (database: Connection.Database) => void): void => {
    const database = new Connection(join(installation.dataDir, `${name}.db`));
    try {
      work(database);
    } finally {
      database.close();
    }
  };

  it('finds nothing to do after the installation', async () => {
    const { ok, code, pending, of } = await checked();
    expect([ok, code, pending]).to.deep.equal([true, 0, { platform: [], tenant: [] }]);
    expect(of('platform_schema')).to.match(/^ok .*, up to date$/);
    expect(of('previous_release')).to.match(/^ok can run beside/);
    expect(of('agents')).to.equal('ok none has joined');
  });

  it('names pending migrations, and warns without a recent backup', async () => {
    const [before = '', newest = ''] = TENANT_MIGRATIONS.slice(-2).map(({ id }) => id);
    // A database of an earlier version, as far as its record of migrations says.
    inDatabase('tenant', (database) => {
      database.prepare('DELETE FROM schema_migrations WHERE id = ?').run(newest);
    });
    const without = await checked();
    expect([without.ok, without.code]).to.deep.equal([true, 0]);
    expect(without.pending['tenant']).to.deep.equal([newest]);
    expect(without.of('tenant_schema')).to.equal(`ok ${before}; 1 pending: ${newest}`);
    expect(without.of('backup')).to.equal('warn no backup by "duebook backup" is recorded');
    const made = await installation.inProcess(['backup', join(installation.folder, 'b.tar')], {
      input: 'a lost disk is no lost book',
      clock,
    });
    expect(made.code, made.stderr).to.equal(0);
    expect((await checked()).of('backup')).to.match(/^ok the newest recorded one is of 20/);
    clock.advance(25 * 3_600_000);
    expect((await checked()).of('backup')).to.match(/^warn the newest recorded one is of 20/);
  });

  it('refuses databases of a newer version, and those of a restore that was interrupted', async () => {
    inDatabase('platform', (database) => {
      database.prepare("INSERT INTO schema_migrations VALUES ('9999-future', 'f')").run();
    });
    const newer = await checked();
    expect([newer.ok, newer.code]).to.deep.equal([false, 1]);
    expect(newer.of('platform_schema')).to.contain(
      'fail the database has been migrated by a newer program (9999-future)',
    );
    inDatabase('platform', (database) => {
      database.exec(
        "DELETE FROM schema_migrations WHERE id = '9999-future'; CREATE TABLE restore_in_progress (at TEXT)",
      );
    });
    expect((await checked()).of('platform_schema')).to.contain(
      'a restore of a backup into this database was interrupted',
    );
  });

  it('refuses agents whose protocol this version does not talk', async () => {
    inDatabase('platform', (database) => {
      const columns = database.pragma('table_info(data_plane_connections)') as { name: string; notnull: number }[];
      const { id } = database.prepare('SELECT id FROM tenants').get() as { id: string };
      const given: Record<string, string | number> = {
        tenant_id: id,
        kind: 'agent',
        status: 'connected',
        joined_at: 1,
        protocol_version: 99,
        agent_version: '9.0.0',
      };
      const values = {
        ...Object.fromEntries(columns.filter(({ notnull }) => notnull === 1).map(({ name }) => [name, 1])),
        ...given,
      };
      const names = Object.keys(values);
      database
        .prepare(`INSERT INTO data_plane_connections (${names.join(', ')}) VALUES (${names.map(() => '?').join(', ')})`)
        .run(Object.values(values));
    });
    const { code, of } = await checked();
    expect(code).to.equal(1);
    expect(of('agents')).to.equal(
      'fail this version cannot talk to acme (version 9.0.0, protocol 99): it needs protocol 1 to 1',
    );
  });
});
