import { expect } from 'chai';
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Database } from '../../data-plane-agent/base/database/database.js';
import { beginningOf, linkAfter } from '../../data-plane-agent/base/audit/chain.js';
import type { AuditRow } from '../../data-plane-agent/base/audit/records.js';
import { systemCall } from '../../server/data-planes/system-call.js';
import { OPERATOR } from '../support/accounts.js';
import { installations, type Installation, type Outcome } from '../support/cli.js';
import { failureOf } from '../support/failures.js';
import { aRequest, withProduct } from '../support/product.js';
import { aContract } from '../support/samples.js';

const PASSWORD = 'Correct-Horse-42';

interface Chain {
  source: string;
  tenant: string | null;
  events: number;
  hash: string;
  waiting: number;
  faults: { kind: string; position: number; eventId: string | null; text: string }[];
}
const verified = ({ stdout }: Outcome) => JSON.parse(stdout) as { ok: boolean; chains: Chain[] };

describe('duebook audit', () => {
  const install = installations();

  /** An organisation with two failed sign-ins and three contracts, chained. */
  const acme = async (): Promise<
    Installation & {
      platform<T>(work: (database: Database) => Promise<T>): Promise<T>;
      tenant<T>(work: (database: Database, tenantId: string) => Promise<T>): Promise<T>;
    }
  > => {
    const installation = await install();
    await installation.inProcess(
      [
        'bootstrap',
        '--tenant-slug',
        'acme',
        '--tenant-name',
        'Acme',
        '--email',
        'ann@acme.example',
        '--name',
        'Ann Lee',
      ],
      { input: PASSWORD },
    );
    const env = { DATA_DIR: installation.dataDir };
    await withProduct(env, async ({ services, foundation, schedules }) => {
      for (const [tenantSlug, ip] of [
        ['acme', '192.0.2.1'],
        ['acme', '192.0.2.2'],
        ['nowhere', '192.0.2.2'],
      ] as const)
        await failureOf(
          services.sessions.login(
            { tenantSlug, email: 'ann@acme.example', password: 'wrong-password' },
            { ...aRequest(), ip },
          ),
        );
      const tenant = await services.tenants.bySlug('acme');
      const call = systemCall({ tenantId: tenant?.id ?? '', actor: OPERATOR, at: Date.now() });
      for (let i = 0; i < 3; i++)
        await foundation.dataPlanes.forTenant(call.tenantId).invoke('createContract', { call }, aContract());
      await schedules.run('audit-chain');
    });
    return {
      ...installation,
      platform: (work) => withProduct(env, ({ foundation }) => work(foundation.platform)),
      tenant: (work) =>
        withProduct(env, async ({ foundation, services }) => {
          if (!foundation.tenant) throw new Error('this edition keeps contract data');
          return work(foundation.tenant, (await services.tenants.bySlug('acme'))?.id ?? '');
        }),
    };
  };

  it('verifies chained events on both planes', async () => {
    const { inProcess } = await acme();
    const outcome = await inProcess(['audit', 'verify', '--json']);
    expect(outcome.code, outcome.stderr).to.equal(0);
    const { ok, chains } = verified(outcome);
    expect(ok).to.equal(true);
    expect(
      chains.map(({ source, tenant, events, waiting, faults }) => ({ source, tenant, events, waiting, faults })),
    ).to.deep.equal([
      { source: 'platform', tenant: null, events: 1, waiting: 0, faults: [] },
      { source: 'platform', tenant: 'acme', events: 3, waiting: 0, faults: [] },
      { source: 'data', tenant: 'acme', events: 4, waiting: 0, faults: [] },
    ]);
    expect((await inProcess(['audit', 'verify', '--tenant', 'acme', '--source', 'data'])).stdout).to.match(
      /^ok {4}data acme: 4 events, 0 not chained yet, hash [0-9a-f]{64}\n$/,
    );
  });

  it('names a changed event, and exits with 1', async () => {
    const { inProcess, platform } = await acme();
    const id = await platform((database) =>
      database.write({ tenantId: null }, async (tx) => {
        const event = await tx.get(
          "SELECT id FROM audit_log WHERE action = 'login_failed' AND tenant_id IS NOT NULL ORDER BY id",
        );
        await tx.run("UPDATE audit_log SET ip = '10.0.0.1' WHERE id = ?", [event?.['id'] ?? null]);
        return String(event?.['id']);
      }),
    );
    const outcome = await inProcess(['audit', 'verify', '--json']);
    expect(outcome.code).to.equal(1);
    expect((JSON.parse(outcome.stderr) as { error: { code: string } }).error.code).to.equal('AUDIT_BROKEN');
    expect(
      verified(outcome).chains.flatMap(({ tenant, faults }) =>
        faults.map(({ kind, eventId }) => ({ tenant, kind, eventId })),
      ),
    ).to.deep.equal([{ tenant: 'acme', kind: 'changed', eventId: id }]);
    expect((await inProcess(['audit', 'verify'])).stdout)
      .to.contain(`FAIL  platform acme`)
      .and.to.contain(`event ${id} at position 2 was changed after it was chained`);
  });

  it('detects a deleted event and a truncated chain, in contract data too', async () => {
    const { inProcess, tenant } = await acme();
    await tenant((database, tenantId) =>
      database.write({ tenantId }, (tx) => tx.run('DELETE FROM audit_log WHERE position = 2 OR position = 4')),
    );
    const faults = verified(await inProcess(['audit', 'verify', '--json'])).chains.flatMap((chain) => chain.faults);
    expect(faults.map(({ kind, position }) => [kind, position])).to.deep.equal([
      ['removed', 2],
      ['cut', 4],
    ]);
  });

  it("detects that an organisation's whole audit was deleted", async () => {
    const { inProcess, platform } = await acme();
    await platform((database) =>
      database.write({ tenantId: null }, async (tx) => {
        await tx.run('DELETE FROM audit_log WHERE tenant_id IS NOT NULL');
        await tx.run("DELETE FROM audit_heads WHERE chain <> 'platform'");
      }),
    );
    expect(
      verified(await inProcess(['audit', 'verify', '--json'])).chains.flatMap(({ tenant, faults }) =>
        faults.map(({ kind }) => [tenant, kind]),
      ),
    ).to.deep.equal([['acme', 'cut']]);
  });

  it('counts events that are not chained yet, and does not report them as errors', async () => {
    const { inProcess } = await acme();
    await inProcess(['tenants', 'suspend', 'acme']);
    const outcome = await inProcess(['audit', 'verify', '--json']);
    expect(outcome.code).to.equal(0);
    expect(verified(outcome).chains.map(({ waiting }) => waiting)).to.deep.equal([0, 1, 0]);
  });

  it('exports events as JSON lines from which the hashes can be recomputed', async () => {
    const { inProcess } = await acme();
    const { stdout, stderr } = await inProcess(['audit', 'export', '--tenant', 'acme', '--source', 'data']);
    const events = stdout
      .trimEnd()
      .split('\n')
      .map(
        (line) => JSON.parse(line) as Omit<AuditRow, 'changes'> & { changes: object; source: string; tenant: string },
      );
    expect(stderr).to.equal('4 events.\n');
    let link = beginningOf(events[0]?.tenantId ?? '');
    for (const event of events) {
      link = linkAfter(link, { ...event, changes: JSON.stringify(event.changes) });
      expect({ position: event.position, hash: event.hash }).to.deep.equal(link);
      expect(event).to.include({ source: 'data', tenant: 'acme' });
    }
  });

  it('exports into a private file, filtered by time, and records it in the audit', async () => {
    const { inProcess, folder, platform } = await acme();
    const out = join(folder, 'audit.jsonl');
    expect((await inProcess(['audit', 'export', '--to', '2020-01-01', '--out', out])).stderr).to.equal('0 events.\n');
    expect(statSync(out).mode & 0o077).to.equal(0);
    expect((await inProcess(['audit', 'export', '--out', out])).code).to.equal(2);
    expect(readFileSync(out, 'utf8')).to.equal('');
    const all = await inProcess(['audit', 'export', '--from', '2020-01-01', '--json']);
    expect(JSON.parse(all.stderr)).to.deep.equal({ events: 11 });
    expect(all.stdout.trimEnd().split('\n')).to.have.length(11);
    const reported = await platform((database) =>
      database.read({ tenantId: null }, (tx) =>
        tx.all("SELECT tenant_id FROM audit_log WHERE action = 'audit_exported'"),
      ),
    );
    expect(reported).to.have.length(6);
  });

  it('refuses invalid arguments and unknown organisations', async () => {
    const { inProcess } = await acme();
    expect((await inProcess(['audit', 'export', '--from', 'yesterday'])).stderr).to.match(/--from must be a day/);
    expect((await inProcess(['audit', 'export', '--from', '2026-02-30'])).code).to.equal(2);
    expect((await inProcess(['audit', 'verify', '--tenant', 'nowhere'])).code).to.equal(1);
    const agents = await inProcess(['audit', 'verify', '--source', 'data', '--json'], {
      env: { EDITION: 'enterprise_hybrid' },
    });
    expect((JSON.parse(agents.stderr) as { error: { code: string } }).error.code).to.equal('DATA_KEPT_BY_AGENTS');
  });
});
