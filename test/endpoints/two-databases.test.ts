import { expect } from 'chai';
import { newId } from '../../data-plane-agent/base/ids.js';
import { nextDue } from '../../data-plane-agent/plane/store/due-next.js';
import { WORK_KINDS } from '../../data-plane-agent/plane/store/due-work.js';
import { TenantStore } from '../../server/store/tenants.js';
import { API_DOCUMENT } from '../guarantees/api-document.js';
import { makeMember, makeTenant, OPERATOR, signIn } from '../support/accounts.js';
import { fakeClock } from '../support/clock.js';
import type { Client } from '../support/http.js';
import { play, type Stage } from '../support/lockstep.js';
import { LONG_SCENARIO } from '../support/long-scenario.js';
import { needsPostgres } from '../support/postgres.js';
import { startServer, type TestServer } from '../support/server.js';

/** Advances the clock between requests, so that no two records have the same time. */
const STEP_MS = 1_000;

describe('the same requests to both databases', () => {
  needsPostgres();
  const clocks = [fakeClock(), fakeClock()] as const;
  const servers: TestServer[] = [];
  const stages: Stage[] = [];
  before('a server over each, on one clock', async function () {
    this.timeout(180_000);
    // Sequentially, so that each is stopped even if the next cannot be started.
    servers.push(await startServer({ database: 'sqlite', clock: clocks[0] }));
    servers.push(await startServer({ database: 'postgres', clock: clocks[1] }));
    stages.push(...(await Promise.all(servers.map(staged))));
  });
  after(() => Promise.all(servers.map((server) => server.stop())));

  for (const [part, steps] of Object.entries(LONG_SCENARIO)) {
    it(`get the same bytes: ${part}`, async () => {
      const [sqlite, postgres] = stages;
      if (!sqlite || !postgres) throw new Error('expected two running servers');
      for (const [i, step] of steps.entries()) {
        for (const clock of clocks) clock.advance(STEP_MS);
        expect(await play(postgres, step), `step ${i + 1} of ${part}: ${step.request}`).to.deep.equal(
          await play(sqlite, step),
        );
      }
    });
  }

  it('leave a marker for all pending work, and none beyond what the tables contain', async () => {
    for (const [i, server] of servers.entries()) {
      const now = clocks[i]?.now() ?? 0;
      const tenants = (
        await server.foundation.platform.read({ tenantId: null }, (tx) => new TenantStore(tx).all())
      ).map(({ id }) => id);
      for (const tenantId of tenants) {
        const database = server.foundation.tenant ?? expect.fail('expected a tenant database');
        await database.read({ tenantId }, async (tx) => {
          for (const workKind of WORK_KINDS) {
            const next = await nextDue(workKind, { tx, tenantId, timeZone: 'UTC', now });
            const due = (
              await tx.get('SELECT min(due_at) AS at FROM due_work WHERE tenant_id = ? AND kind = ?', [
                tenantId,
                workKind,
              ])
            )?.['at'];
            // Leased work is due again at the end of the lease.
            if (next !== null)
              expect(due, `${workKind} of ${tenantId}`)
                .to.be.a('number')
                .that.is.at.most(Math.max(next, now + 60_000));
          }
        });
      }
    }
  });

  it('include every endpoint for contract data', () => {
    const played = Object.values(LONG_SCENARIO)
      .flat()
      .map(({ request }) => request.replace(/\?.*$/, ''));
    const isCovered = (route: string): boolean =>
      played.some((request) => new RegExp(`^${route.replaceAll(/:\w+/g, String.raw`\{\w+\}`)}$`).test(request));
    const promised = API_DOCUMENT.map(({ route }) => route).filter((route) =>
      /^\w+ \/(contracts|payments|saved-views|analytics|contract-config|dynamic-fields)\b/.test(route),
    );
    expect(promised.filter((route) => !isCovered(route))).to.deep.equal([]);
    expect(promised).to.have.length.greaterThan(35);
  });
});

/** Three organisations with the same names and members. */
async function staged(server: TestServer): Promise<Stage> {
  const { services, foundation } = server;
  const made = await makeTenant(services, { slug: 'two-databases' });
  const subject = await services.tenants.subjects.add({ tenantId: made.tenant.id, name: 'Harbour Leasing' }, OPERATOR);
  const other = await services.tenants.subjects.add({ tenantId: made.tenant.id, name: 'Yuanhang 远航' }, OPERATOR);
  const [free, foreign] = [
    await makeTenant(services, { slug: 'two-free', planCode: 'free' }),
    await makeTenant(services, { slug: 'two-strangers' }),
  ];
  const clients: Record<string, Client> = { nobody: server.client };
  for (const [name, of] of [
    ['owner', made],
    ['free', free],
    ['stranger', foreign],
  ] as const)
    clients[name] = (await signIn(server.client, { tenant: of.tenant, member: of.owner })).client;
  for (const roleCode of ['admin', 'sales', 'viewer', 'clerk']) {
    const member = await makeMember(services, made, {
      email: `${roleCode}@two-databases.test`,
      ...(roleCode === 'clerk' ? { roleCode: 'admin', subjectScope: [other.id] } : { roleCode }),
    });
    clients[roleCode] = (await signIn(server.client, { tenant: made.tenant, member })).client;
  }
  if (!foundation.tenant) throw new Error('expected a tenant database');
  const file = newId();
  await foundation.tenant.write({ tenantId: made.tenant.id }, (tx) =>
    tx.run('INSERT INTO files (tenant_id, id, kind, file_name, created_at, updated_at) VALUES (?, ?, ?, ?, 0, 0)', [
      made.tenant.id,
      file,
      'contract_original',
      'contract.pdf',
    ]),
  );
  const known = new Map(
    Object.entries({
      owner: made.owner.id,
      subject: subject.id,
      otherSubject: other.id,
      foreignSubject: foreign.subjectId,
      file,
    }),
  );
  const births = [made, free, foreign].map(({ tenant }) =>
    new Date(Number.parseInt(tenant.id.replace('-', '').slice(0, 12), 16)).toISOString(),
  );
  return { clients, known, ids: new Map(), births };
}
