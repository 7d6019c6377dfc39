import { expect } from 'chai';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Database, Transaction } from '../../data-plane-agent/base/database/database.js';
import { createLog } from '../../data-plane-agent/base/log.js';
import { compose } from '../../server/compose.js';
import { loadServerConfig } from '../../server/config-load.js';
import { systemCall } from '../../server/data-planes/system-call.js';
import { OPERATOR } from '../support/accounts.js';
import { installations, type Installation, type Outcome } from '../support/cli.js';
import { fakeClock } from '../support/clock.js';
import { failureOf } from '../support/failures.js';
import { createDatabase, needsPostgres } from '../support/postgres.js';
import { aRequest, withProduct } from '../support/product.js';
import { aContract } from '../support/samples.js';

const PASSWORD = 'Correct-Horse-42';

interface Head {
  readonly source: string;
  readonly tenant: string | null;
  readonly tenantId: string | null;
  readonly events: number;
  readonly hash: string;
}
interface Verified {
  readonly ok: boolean;
  readonly chains: readonly {
    source: string;
    tenant: string | null;
    kept: number;
    faults: readonly { kind: string; position: number; count: number; text: string }[];
  }[];
}
const faultsOf = ({ stdout }: Outcome) =>
  (JSON.parse(stdout) as Verified).chains.flatMap(({ source, tenant, faults }) =>
    faults.map(({ kind, position, count }) => [source, tenant, kind, position, count]),
  );

for (const kind of ['sqlite', 'postgres'] as const) {
  describe(`audit heads kept elsewhere, on ${kind}`, () => {
    if (kind === 'postgres') needsPostgres();
    const install = installations();
    const drops: (() => Promise<void>)[] = [];
    after(async () => {
      for (const drop of drops) await drop();
    });
    let installation: Installation;
    let env: Record<string, string>;
    let tenantId: string;
    const cli = (...args: string[]) => installation.inProcess(['audit', ...args], { env });
    const file = (text: string, name = 'heads.json'): string => {
      const path = join(installation.folder, name);
      writeFileSync(path, text);
      return path;
    };

    beforeEach('create an organisation with chained events on both planes', async () => {
      installation = await install();
      env = { DATA_DIR: installation.dataDir };
      if (kind === 'postgres') {
        const [platform, tenant] = [
          await createDatabase({ migrated: 'platform' }),
          await createDatabase({ migrated: 'tenant' }),
        ];
        drops.push(platform.drop, tenant.drop);
        env = { ...env, PLATFORM_DATABASE_URL: platform.url, TENANT_DATABASE_URL: tenant.url };
      }
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
        { input: PASSWORD, env },
      );
      await goOn();
    });
    /** Two failed sign-ins, one with an unknown account, and two contracts. */
    const goOn = () =>
      withProduct(env, async ({ services, foundation, schedules }) => {
        tenantId = (await services.tenants.bySlug('acme'))?.id ?? '';
        for (const [tenantSlug, ip] of [
          ['acme', anAddress()],
          ['acme', anAddress()],
          ['nowhere', anAddress()],
        ] as const)
          await failureOf(
            services.sessions.login(
              { tenantSlug, email: 'ann@acme.example', password: 'wrong-password' },
              { ...aRequest(), ip },
            ),
          );
        const call = systemCall({ tenantId, actor: OPERATOR, at: Date.now() });
        for (let i = 0; i < 2; i++)
          await foundation.dataPlanes.forTenant(tenantId).invoke('createContract', { call }, aContract());
        await schedules.run('audit-chain');
      });
    const database = <T>(which: 'platform' | 'tenant', work: (tx: Transaction) => Promise<T>) =>
      withProduct(env, ({ foundation }) => {
        const chosen: Database | undefined = which === 'platform' ? foundation.platform : foundation.tenant;
        if (!chosen) throw new Error('this edition keeps contract data');
        return chosen.write({ tenantId: which === 'tenant' ? tenantId : null }, work);
      });
    const headRow = (which: 'platform' | 'tenant') => ({
      table: 'audit_heads',
      key: which === 'platform' ? 'chain' : 'tenant_id',
    });
    /**
     * Deletes the events after the copied head, and restores the copy with its seal, as an attacker with access to the
     * database could.
     */
    const cutTail = async (which: 'platform' | 'tenant') => {
      const { table, key } = headRow(which);
      const copy = await database(which, (tx) =>
        tx.get(`SELECT position, hash, seal FROM ${table} WHERE ${key} = ?`, [tenantId]),
      );
      await goOn();
      const kept = (await cli('head', '--json')).stdout;
      await database(which, async (tx) => {
        await tx.run('DELETE FROM audit_log WHERE tenant_id = ? AND position > ?', [
          tenantId,
          copy?.['position'] ?? null,
        ]);
        await tx.run(`UPDATE ${table} SET position = ?, hash = ?, seal = ? WHERE ${key} = ?`, [
          copy?.['position'] ?? null,
          copy?.['hash'] ?? null,
          copy?.['seal'] ?? null,
          tenantId,
        ]);
      });
      return kept;
    };

    it('are printed for every chain, and match the unchanged database', async () => {
      const heads = await cli('head', '--json');
      expect(heads.code, heads.stderr).to.equal(0);
      const reported = (JSON.parse(heads.stdout) as { heads: Head[] }).heads;
      expect(reported.map(({ source, tenant, tenantId: id, events }) => [source, tenant, id, events])).to.deep.equal([
        ['platform', null, null, 1],
        ['platform', 'acme', tenantId, 3],
        ['data', 'acme', tenantId, 3],
      ]);
      const verified = JSON.parse((await cli('verify', '--json')).stdout) as { chains: Head[] };
      expect(reported.map(({ hash }) => hash)).to.deep.equal(verified.chains.map(({ hash }) => hash));
      expect((await cli('head', '--tenant', 'acme', '--source', 'data')).stdout).to.match(
        /^data acme: 3 events, 0 not chained yet, hash [0-9a-f]{64}\n$/,
      );
      await goOn();
      const later = await cli('verify', '--expect', file(heads.stdout), '--json');
      expect([later.code, faultsOf(later)], later.stderr).to.deep.equal([0, []]);
      expect((JSON.parse(later.stdout) as Verified).chains.map(({ kept }) => kept)).to.deep.equal([1, 1, 1]);
    });

    for (const [which, source, was, now] of [
      ['platform', 'platform', 3, 5],
      ['tenant', 'data', 3, 5],
    ] as const) {
      it(`detect a truncated ${source} chain, even if the head in the database was restored`, async () => {
        const kept = await cutTail(which);
        const alone = await cli('verify', '--json');
        expect([alone.code, faultsOf(alone)], 'the database alone tells nothing of it').to.deep.equal([0, []]);
        const compared = await cli('verify', '--expect', file(kept), '--json');
        expect(compared.code).to.equal(1);
        expect(faultsOf(compared)).to.deep.equal([[source, 'acme', 'shorter_than_kept', now, now - was]]);
        const text = await cli('verify', '--expect', file(kept));
        expect(text.stdout)
          .to.contain(`FAIL  ${source} acme`)
          .and.to.contain(`${now - was} events missing`);
        expect(text.stderr).to.contain(`${source} acme`);
      });
    }

    it('detect a rewritten history, even if it was chained and sealed again', async () => {
      const kept = (await cli('head', '--json')).stdout;
      await database('platform', async (tx) => {
        await tx.run("UPDATE audit_log SET ip = '10.9.8.7' WHERE tenant_id = ? AND position = 2", [tenantId]);
        await tx.run('UPDATE audit_log SET position = NULL, hash = NULL WHERE tenant_id = ?', [tenantId]);
        await tx.run('DELETE FROM audit_heads WHERE chain = ?', [tenantId]);
      });
      await withProduct(env, ({ schedules }) => schedules.run('audit-chain'));
      expect((await cli('verify')).code).to.equal(0);
      expect(faultsOf(await cli('verify', '--expect', file(kept), '--json'))).to.deep.equal([
        ['platform', 'acme', 'other_than_kept', 3, 1],
      ]);
    });

    it('detect a deleted event at the position of the head, and check the rest of the chain', async () => {
      const kept = (await cli('head', '--json')).stdout;
      await goOn();
      await database('tenant', (tx) =>
        tx.run('DELETE FROM audit_log WHERE tenant_id = ? AND position = 3', [tenantId]),
      );
      expect(faultsOf(await cli('verify', '--expect', file(kept), '--json'))).to.deep.equal([
        ['data', 'acme', 'shorter_than_kept', 3, 1],
        ['data', 'acme', 'removed', 3, 1],
      ]);
    });

    it('detect a deleted chain', async () => {
      const { heads } = JSON.parse((await cli('head', '--json')).stdout) as { heads: Head[] };
      const unknownTenant = '01890000-0000-7000-8000-0000000000ff';
      const compared = await cli(
        'verify',
        '--expect',
        file(JSON.stringify({ heads: [...heads, { ...heads[1], tenantId: unknownTenant, events: 7 }] })),
        '--json',
      );
      expect([compared.code, faultsOf(compared)]).to.deep.equal([1, [['platform', unknownTenant, 'lost', 7, 7]]]);
    });

    it('are in the log once a day, from one process, in lines that can be used as well', async () => {
      const clock = fakeClock();
      const lines: string[] = [];
      const server = async () => {
        const loaded = await loadServerConfig(env);
        if (!loaded.ok) throw new Error('the configuration of this test has faults');
        return compose(loaded.config, {
          clock,
          log: createLog({ level: 'info', name: 'test', destination: { write: (line) => void lines.push(line) } }),
        });
      };
      const replicas = [await server(), await server()];
      try {
        for (const replica of replicas) for (let hour = 0; hour < 2; hour++) await replica.schedules.run('audit-heads');
        expect(
          lines
            .map((line) => JSON.parse(line) as Record<string, unknown>)
            .map(({ msg, source, tenantId: id, events }) => [msg, source, id, events]),
        ).to.deep.equal([
          ['audit head', 'platform', null, 1],
          ['audit head', 'platform', tenantId, 3],
          ['audit head', 'data', tenantId, 3],
        ]);
        clock.advance(24 * 3_600_000);
        for (const replica of replicas) await replica.schedules.run('audit-heads');
        expect(lines).to.have.length(6);
      } finally {
        for (const replica of replicas) await replica.close();
      }
      const log = file(
        ['starting, no JSON', ...lines, JSON.stringify({ msg: 'request', ms: 3 })].join('\n'),
        'server.log',
      );
      expect((await cli('verify', '--expect', log)).code).to.equal(0);
      const { key, table } = headRow('tenant');
      await database('tenant', async (tx) => {
        await tx.run('DELETE FROM audit_log WHERE tenant_id = ?', [tenantId]);
        await tx.run(`DELETE FROM ${table} WHERE ${key} = ?`, [tenantId]);
      });
      expect((await cli('verify')).code, 'the database alone does not show it').to.equal(0);
      expect(faultsOf(await cli('verify', '--expect', log, '--json'))).to.deep.include([
        'data',
        'acme',
        'shorter_than_kept',
        3,
        3,
      ]);
    });

    it('of other chains, or without events, are no proof: each chain without a head is named, and the command fails if there is none', async () => {
      const { heads } = JSON.parse((await cli('head', '--json')).stdout) as { heads: Head[] };
      const [nobodys, acme] = [heads[0], heads[1]];
      const some = await cli('verify', '--expect', file(JSON.stringify({ heads: [acme] })));
      expect([some.code, some.stdout.match(/not compared/g)?.length], some.stdout).to.deep.equal([0, 2]);
      expect(some.stdout).to.match(
        /ok {4}platform acme: .*\nok {4}data acme: .*\n {6}not compared: --expect has no head of this chain/,
      );
      const unknownTenant = '01890000-0000-7000-8000-0000000000ff';
      for (const [label, kept, args] of [
        ['of no events', heads.map((head) => ({ ...head, events: 0 })), []],
        ['of another organisation', [{ ...acme, tenantId: unknownTenant }], ['--tenant', 'acme']],
        ['of the chain that is not asked for', [nobodys], ['--tenant', 'acme']],
        ['of the other source', [acme], ['--source', 'data']],
      ] as const) {
        const none = await cli('verify', ...args, '--expect', file(JSON.stringify({ heads: kept })));
        expect(none.code, label).to.equal(1);
        expect(none.stderr, label).to.contain('nothing was compared');
        const json = await cli('verify', ...args, '--json', '--expect', file(JSON.stringify({ heads: kept })));
        expect([json.code, (JSON.parse(json.stdout) as Verified).ok], label).to.deep.equal([1, false]);
      }
    });

    it('are refused if the file has none, or an incomplete one', async () => {
      const hash = 'a'.repeat(64);
      for (const text of [
        '',
        '{}',
        'no heads',
        '{"heads":[]}',
        '{"heads":[{"source":"platform","tenantId":null,"events":1}]}',
        `{"heads":[{"source":"moon","tenantId":null,"events":1,"hash":"${hash}"}]}`,
        `{"msg":"audit head","source":"data","tenantId":"../etc","events":1,"hash":"${hash}"}`,
        `{"heads":[{"source":"platform","tenantId":null,"events":-1,"hash":"${hash}"}]}`,
      ]) {
        const { code, stderr } = await cli('verify', '--expect', file(text));
        expect([code, stderr], text).to.satisfy(
          ([exit, reported]: [number, string]) =>
            exit === 2 && /--expect .*(contains no heads|has a head without)/.test(reported),
        );
      }
    });
  });
}

let addresses = 0;
const anAddress = (): string => `192.0.2.${++addresses % 250}`;
