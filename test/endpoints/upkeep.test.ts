import { expect } from 'chai';
import { newId } from '../../data-plane-agent/base/ids.js';
import { generateKeyRingText } from '../../data-plane-agent/base/secrets.js';
import type { ContractDetail } from '../../data-plane-agent/plane/contract/records/contracts.js';
import { TenantStore } from '../../server/store/tenants.js';
import { administration, type Administration } from '../support/administration.js';
import { fakeClock, type FakeClock } from '../support/clock.js';
import { hostedBy, ownerOf } from '../support/file-server.js';
import { aContract } from '../support/samples.js';
import { forEachServer, startServer } from '../support/server.js';

let clock: FakeClock;

forEachServer(
  (server) => {
    describe('the scheduled work for an organisation', () => {
      let org: Administration;
      let contractId: string;
      beforeEach(async () => {
        clock.set('2026-03-15T08:00:00Z');
        org = await administration(server());
        contractId = (
          await org.asOwner.post<{ id: string }>(
            '/contracts',
            aContract({ subjectId: org.subjectId, ownerId: org.owner.id }),
          )
        ).body.id;
      });
      const settings = (patch: object) => org.asOwner.patch('/tenant-admin/settings', patch);
      const task = async (dueDate: string) =>
        expect(
          (
            await org.asOwner.post(`/contracts/${contractId}/fulfillment-tasks`, {
              code: 'T',
              title: 'Deliver',
              dueDate,
            })
          ).status,
        ).to.equal(201);
      const status = async () =>
        (await (await ownerOf(server(), org)).get<ContractDetail>(`/contracts/${contractId}`)).body.fulfillmentTasks[0]
          ?.status;
      const at = async (instant: string) => {
        clock.set(instant);
        await server().schedules.run('upkeep');
      };
      const setStatus = (is: 'active' | 'suspended') =>
        server().foundation.platform.write({ tenantId: null }, (tx) =>
          new TenantStore(tx).setStatus({ id: org.tenant.id, status: is, at: clock.now() }),
        );
      const waiting = async () =>
        hostedBy(server()).database.read({ tenantId: org.tenant.id }, async (tx) =>
          Number(
            (
              await tx.get('SELECT count(*) AS n FROM audit_log WHERE tenant_id = ? AND position IS NULL', [
                org.tenant.id,
              ])
            )?.['n'],
          ),
        );

      it("uses its time zone: a task becomes overdue at the organisation's midnight", async () => {
        expect((await settings({ timezone: 'Asia/Shanghai' })).status).to.equal(200);
        await task('2026-03-16');
        await at('2026-03-16T15:59:00Z');
        expect(await status()).to.equal('pending');
        await at('2026-03-16T16:00:00Z');
        expect(await status()).to.equal('overdue');
      });

      it('skips it while it is suspended, and then continues', async () => {
        // The job runs every five seconds: it may have chained all events before the organisation was suspended, or
        // still be at it. `run` then waits for it.
        for (let tries = 0; tries < 5; tries++) {
          await setStatus('active');
          await task('2026-04-30');
          await setStatus('suspended');
          await server().schedules.run('audit-chain');
          if ((await waiting()) > 0) break;
        }
        const before = await waiting();
        await server().schedules.run('audit-chain');
        expect([await waiting(), before > 0]).to.deep.equal([before, true]);
        await setStatus('active');
        clock.advance(3_600_000);
        await server().schedules.run('audit-chain');
        expect(await waiting()).to.equal(0);
      });
    });
  },
  { clock: (clock = fakeClock()) },
);

describe('two servers with the same databases', () => {
  it('run a piece of work once', async () => {
    const own = fakeClock(Date.now());
    const SECRET_KEYS = generateKeyRingText();
    const first = await startServer({ clock: own, env: { SECRET_KEYS } });
    try {
      const { platformDatabaseUrl, tenantDatabaseUrl } = first.config;
      const second = await startServer({
        clock: own,
        env: { PLATFORM_DATABASE_URL: platformDatabaseUrl, TENANT_DATABASE_URL: tenantDatabaseUrl, SECRET_KEYS },
      });
      try {
        const org = await administration(first);
        const { id } = (
          await org.asOwner.post<{ id: string }>(
            '/contracts',
            aContract({ subjectId: org.subjectId, ownerId: org.owner.id }),
          )
        ).body;
        await org.asOwner.post(`/contracts/${id}/fulfillment-tasks`, {
          code: newId(),
          title: 'Deliver',
          dueDate: new Date(own.now()).toISOString().slice(0, 10),
        });
        own.advance(2 * 86_400_000);
        await Promise.all([first, second].map(({ schedules }) => schedules.run('upkeep')));
        const marked = await hostedBy(first).database.read({ tenantId: org.tenant.id }, (tx) =>
          tx.all("SELECT id FROM audit_log WHERE tenant_id = ? AND action = 'stepOverdueTasks'", [org.tenant.id]),
        );
        expect(marked).to.have.length(1);
      } finally {
        await second.stop();
      }
    } finally {
      await first.stop();
    }
  });
});
