import { expect } from 'chai';
import { addDays, todayIn } from '../../data-plane-agent/base/day.js';
import type { DataPlane } from '../../data-plane-agent/plane/contract/data-plane.js';
import type { Operations } from '../../data-plane-agent/plane/operations/index.js';
import { agentsOnly, type DataPlanes } from '../../server/data-planes/for-tenant.js';
import type { SweepResult } from '../../server/collections/sweeps.js';
import { OPERATOR } from '../support/accounts.js';
import { killable } from '../support/calendar-replica.js';
import { fakeClock } from '../support/clock.js';
import { reminding, shownDelivery, type Reminding } from '../support/reminding.js';
import { forEachServer, startServer, type TestServer } from '../support/server.js';
import { serverBeside, sweepReplica } from '../support/sweep-replica.js';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const METRICS = { METRICS_TOKEN: 'metrics-token-1' };
const clock = fakeClock('2026-03-15T00:59:00.000Z');

/** The reminders that were decided on, as `step status`. */
const decided = async (org: Reminding) => (await org.deliveries()).map(shownDelivery);

describe('the scheduled sweep for reminders', () => {
  forEachServer(
    (server, kind) => {
      let org: Reminding;
      beforeEach('an organisation in Shanghai, at 08:59 there', async () => {
        clock.set('2026-03-15T00:59:00.000Z');
        org = await reminding(server());
      });
      const tick = () => server().schedules.run('reminders');

      it('runs once a day, from the reminder hour in the time zone of the organisation', async () => {
        await org.enter([{ period: 'one', dueDate: '2026-03-15' }]);
        await tick();
        expect(await decided(org)).to.deep.equal([]);
        clock.advance(MINUTE_MS);
        await tick();
        expect(await decided(org)).to.deep.equal(['due_day skipped NO_CHANNEL']);
        await org.enter([{ period: 'two', dueDate: '2026-03-14' }]);
        clock.advance(23 * HOUR_MS + 59 * MINUTE_MS);
        await tick();
        expect(await decided(org), '08:59 on the next day').to.have.length(1);
        clock.advance(MINUTE_MS);
        await tick();
        expect(await decided(org)).to.have.members([
          'due_day skipped NO_CHANNEL',
          'overdue_1 skipped NO_CHANNEL',
          'overdue_1 skipped NO_CHANNEL',
        ]);
      });

      it('follows a change of the hour and of the time zone at once, and still runs once a day', async () => {
        await org.enter([{ dueDate: '2026-03-15' }]);
        await (await org.owner()).patch('/tenant-admin/settings', { reminderHour: 8 });
        await tick();
        expect(await decided(org)).to.have.length(1);
        await org.enter([{ dueDate: '2026-03-14' }]);
        await (await org.owner()).patch('/tenant-admin/settings', { reminderHour: 9 });
        clock.advance(MINUTE_MS);
        await tick();
        expect(await decided(org), 'today is done').to.have.length(1);
        // It is 15:00 on the day before in Honolulu, and the day that was swept has yet to come there.
        await (await org.owner()).patch('/tenant-admin/settings', { timezone: 'Pacific/Honolulu' });
        await tick();
        clock.advance(19 * HOUR_MS);
        await tick();
        expect(await decided(org), '10:00 on the day that was swept').to.have.length(1);
        clock.advance(24 * HOUR_MS);
        await tick();
        expect((await decided(org)).length).to.be.above(1);
      });

      it('first runs for a new organisation at its next reminder hour', async () => {
        clock.set('2026-03-15T10:00:00.000Z');
        const late = await reminding(server(), { timezone: 'UTC' });
        await late.enter([{ dueDate: '2026-03-15' }]);
        await tick();
        expect(await decided(late)).to.deep.equal([]);
        clock.set('2026-03-16T09:00:00.000Z');
        await tick();
        expect(await decided(late)).to.deep.equal(['due_day superseded SUPERSEDED', 'overdue_1 skipped NO_CHANNEL']);
      });

      it('leaves suspended organisations alone until they are active again', async () => {
        await org.enter([{ dueDate: '2026-03-15' }]);
        const { operator } = server().services.tenants;
        await operator.setStatus({ slug: org.made.tenant.slug, status: 'suspended' }, OPERATOR);
        clock.advance(HOUR_MS);
        await tick();
        await operator.setStatus({ slug: org.made.tenant.slug, status: 'active' }, OPERATOR);
        expect(await decided(org)).to.deep.equal([]);
        await tick();
        expect(await decided(org)).to.have.length(1);
      });

      it('tries again after minutes if the data plane is away, and does not hold up others', async () => {
        const other = await reminding(server());
        for (const one of [org, other]) await one.enter([{ dueDate: '2026-03-15' }]);
        clock.advance(HOUR_MS);
        const results: SweepResult[] = [];
        const away = agentsOnly().forTenant('');
        const { dataPlanes } = server().foundation;
        await sweepReplica(server(), {
          clock,
          dataPlanes: { forTenant: (id) => (id === org.made.tenant.id ? away : dataPlanes.forTenant(id)) },
          onSwept: (result) => void results.push(result),
        }).run(new AbortController().signal);
        expect(results.filter((result) => result === 'unavailable')).to.have.length(1);
        expect([await decided(org), await decided(other)]).to.deep.equal([[], ['due_day skipped NO_CHANNEL']]);
        clock.advance(4 * MINUTE_MS);
        await tick();
        expect(await decided(org)).to.deep.equal([]);
        clock.advance(MINUTE_MS);
        await tick();
        expect(await decided(org)).to.have.length(1);
      });

      it('is continued by the next one if its process dies between two pages, or is asked to end', async () => {
        await org.enter(Array.from({ length: 250 }, (_, i) => ({ period: `${i}`, dueDate: '2026-03-15' })));
        clock.advance(HOUR_MS);
        const { dataPlanes } = server().foundation;
        const own = org.made.tenant.id;
        const ours = (plane: DataPlane<Operations>): DataPlanes => ({
          forTenant: (id) => (id === own ? plane : dataPlanes.forTenant(id)),
        });
        const { database, kill } = killable(server().foundation.platform);
        const dying = diesAfter(1, dataPlanes.forTenant(own), kill);
        await sweepReplica(server(), { clock, database, dataPlanes: ours(dying) })
          .run(new AbortController().signal)
          .catch(() => undefined);
        expect(await decided(org)).to.have.length(100);

        const ending = new AbortController();
        const results: SweepResult[] = [];
        const stopped = diesAfter(1, server().foundation.dataPlanes.forTenant(org.made.tenant.id), () =>
          ending.abort(),
        );
        await sweepReplica(server(), {
          clock,
          dataPlanes: ours(stopped),
          onSwept: (result) => void results.push(result),
        }).run(ending.signal);
        expect(results).to.include('interrupted');

        await tick();
        const lines = (await org.deliveries()).concat(await org.deliveries({ page: '2' }));
        expect([lines.length, new Set(lines.map(({ paymentId }) => paymentId)).size]).to.deep.equal([250, 250]);
      });

      if (kind !== 'remote')
        it('decides once with several servers and requests at the same moment', async () => {
          const others: TestServer[] = [];
          try {
            for (let i = 0; i < 2; i++) others.push(await serverBeside(server(), { clock, database: kind }));
            await org.enter(Array.from({ length: 150 }, (_, i) => ({ period: `${i}`, dueDate: '2026-03-15' })));
            const owner = await org.owner();
            for (let day = 0; day < 3; day++) {
              clock.set(`${addDays('2026-03-15', day)}T02:00:00.000Z`);
              const client = day === 0 ? owner : await org.owner();
              await Promise.all([
                ...[server(), ...others].map(({ schedules }) => schedules.run('reminders')),
                // Sweeps whose lease has expired.
                ...others.map((one) => sweepReplica(one, { clock }).run(new AbortController().signal)),
                org.run(client),
                org.run(client),
              ]);
            }
            const rows = (await Promise.all(['1', '2', '3', '4'].map((page) => org.deliveries({ page })))).flat();
            const keys = rows.map(({ paymentId, step, occurrence }) => `${paymentId} ${step} ${occurrence}`);
            expect(new Set(keys).size).to.equal(keys.length);
            expect(
              Object.fromEntries(
                Map.groupBy(rows, shownDelivery)
                  .entries()
                  .map(([key, all]) => [key, all.length]),
              ),
            ).to.deep.equal({ 'due_day skipped NO_CHANNEL': 150, 'overdue_1 skipped NO_CHANNEL': 150 });
          } finally {
            for (const other of others) await other.stop();
          }
        });
    },
    { clock },
  );

  describe('where the clocks are moved', () => {
    let server: TestServer;
    before(async () => {
      server = await startServer({ clock, env: METRICS });
    });
    after(() => server.stop());

    // The hour is in the gap, or comes twice.
    for (const [timezone, day, reminderHour] of [
      ['America/New_York', '2026-03-08', 2],
      ['America/New_York', '2026-11-01', 1],
      ['Europe/Berlin', '2026-03-29', 2],
      ['Europe/Berlin', '2026-10-25', 2],
      ['Australia/Lord_Howe', '2026-10-04', 2],
      ['Australia/Lord_Howe', '2026-04-05', 1],
    ] as const) {
      it(`sweeps once a day and not before the hour: ${timezone} around ${day}`, async () => {
        clock.set(`${addDays(day, -2)}T00:00:00.000Z`);
        const org = await reminding(server, { timezone, reminderHour });
        await org.enter([{ dueDate: day }]);
        const sweeps: { readonly date: string; readonly hour: number }[] = [];
        let last: unknown = null;
        for (let ticks = 0; ticks < 4 * 48; ticks++) {
          await server.schedules.run('reminders');
          const row = await server.foundation.platform.read({ tenantId: null }, (tx) =>
            tx.get('SELECT last_run_id, last_date FROM reminder_sweeps WHERE tenant_id = ?', [org.made.tenant.id]),
          );
          if (row?.['last_run_id'] !== last) {
            last = row?.['last_run_id'];
            expect(row?.['last_date']).to.equal(todayIn(timezone, clock.now()));
            sweeps.push({ date: String(row?.['last_date']), hour: hourIn(timezone, clock.now()) });
          }
          clock.advance(30 * MINUTE_MS);
        }
        const [first = day] = sweeps.map(({ date }) => date);
        expect(sweeps.map(({ date }) => date)).to.deep.equal(sweeps.map((_, i) => addDays(first, i)));
        expect(sweeps.map(({ date }) => date)).to.include.members([addDays(day, -1), day, addDays(day, 1)]);
        // The first sweep is at once, by the change of the settings.
        for (const { date, hour } of sweeps.slice(1)) expect(hour, date).to.be.within(reminderHour, reminderHour + 1);
        const ordinary = sweeps.slice(1).filter(({ date }) => date !== day);
        expect(new Set(ordinary.map(({ hour }) => hour))).to.deep.equal(new Set([reminderHour]));
      });
    }

    it('is counted on /metrics', async () => {
      const { text } = await server.client.raw('/metrics', { headers: { Authorization: 'Bearer metrics-token-1' } });
      expect(text).to.match(/^duebook_reminder_sweeps_total\{result="completed"\} [1-9]\d*$/m);
      expect(text).to.match(/^duebook_reminder_sweeps_total\{result="failed"\} 0$/m);
      expect(text).to.match(/^duebook_reminder_decisions_total\{status="skipped"\} [1-9]\d*$/m);
      expect(text).to.match(/^duebook_reminder_decisions_total\{status="queued"\} 0$/m);
    });
  });
});

const hourIn = (timeZone: string, at: number): number =>
  Number(new Intl.DateTimeFormat('en', { timeZone, hour: 'numeric', hourCycle: 'h23' }).format(at));

/** A data plane whose process ends after it has decided on some pages. */
const diesAfter = (pages: number, plane: DataPlane<Operations>, end: () => void): DataPlane<Operations> => {
  let left = pages;
  return {
    invoke: async (name, asking, input) => {
      if (left === 0) throw new Error('the process has ended');
      const answer = await plane.invoke(name, asking, input);
      if (name === 'decideReminders' && --left === 0) end();
      return answer;
    },
  };
};
