import { expect } from 'chai';
import type { Database } from '../../data-plane-agent/base/database/database.js';
import { migrate } from '../../data-plane-agent/base/database/migrator.js';
import { newId } from '../../data-plane-agent/base/ids.js';
import { generateKeyRingText, parseKeyRing } from '../../data-plane-agent/base/secrets.js';
import { planeJobs } from '../../data-plane-agent/host/jobs.js';
import type { Step } from '../../data-plane-agent/host/upkeep.js';
import { TENANT_MIGRATIONS } from '../../data-plane-agent/plane/store/migrations/index.js';
import { fakeClock, type FakeClock } from '../support/clock.js';
import { forEachDatabase } from '../support/database.js';
import { aField, fieldCommand } from '../support/fields.js';
import { aSheet, cellsOf } from '../support/import-samples.js';
import { openExternalServices, type TestExternalServices } from '../support/external-services.js';
import { aContract } from '../support/samples.js';
import { inShanghai, upkeepProcess, type UpkeepProcess } from '../support/upkeep.js';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

forEachDatabase((kind, fresh) => {
  describe('the scheduled work of a data plane', () => {
    let database: Database;
    let clock: FakeClock;
    let outside: TestExternalServices;
    let zones: Record<string, string>;
    let process: UpkeepProcess;
    before(async () => {
      ({ database } = await fresh());
      await migrate(database, TENANT_MIGRATIONS);
      outside = await openExternalServices({ clock: fakeClock(), keyRing: parseKeyRing(generateKeyRingText()) });
    });
    after(() => outside.close());
    beforeEach(() => {
      clock = fakeClock();
      zones = {};
      process = upkeepProcess({
        database,
        clock,
        tenants: (ids) =>
          inShanghai(ids.filter((id) => id in zones)).map((tenant) => ({
            ...tenant,
            timeZone: zones[tenant.id] ?? '',
          })),
      });
    });
    const job = async (name: string, deliver?: Step) =>
      planeJobs({ upkeep: process.upkeep, files: outside.external.files, deliver, log: outside.external.log })
        .find((one) => one.name === name)
        ?.run(new AbortController().signal);
    /** The work that the jobs did for the tenant. */
    const done = (tenantId: string) =>
      process.calls.filter(({ call }) => call.tenantId === tenantId).map(({ name }) => name);
    const rows = (tenantId: string, table: string) =>
      database.read({ tenantId }, async (tx) =>
        Number((await tx.get(`SELECT count(*) AS n FROM ${table} WHERE tenant_id = ?`, [tenantId]))?.['n']),
      );
    const tenantIn = (timeZone: string): string => {
      const id = newId();
      zones[id] = timeZone;
      return id;
    };
    /** Moves the clock to an instant in hours, and runs the job at each. */
    const walkTo = async (instant: string, name: string) => {
      while (clock.now() < Date.parse(instant)) {
        clock.set(Math.min(clock.now() + HOUR_MS, Date.parse(instant)));
        await job(name);
      }
    };

    describe('overdue tasks', () => {
      const taskOf = async (tenantId: string, dueDate: string, call: object = {}) => {
        const plane = process.as({ tenantId, ...call });
        const { id: contractId } = await plane.createContract(aContract());
        await plane.addTask({ contractId, code: 'T', title: 'Deliver', dueDate });
        return async () => (await plane.getContract({ contractId })).fulfillmentTasks[0]?.status;
      };

      it("are marked at the tenant's midnight, not before", async () => {
        const tenantId = tenantIn('Asia/Shanghai');
        const status = await taskOf(tenantId, '2026-03-17');
        await walkTo('2026-03-17T15:59:59Z', 'upkeep');
        expect(await status()).to.equal('pending');
        await walkTo('2026-03-17T16:00:00Z', 'upkeep');
        expect(await status()).to.equal('overdue');
        // Checked from the time when that day is over somewhere on earth; not on the two days before.
        expect(done(tenantId).length).to.be.lessThan(8);
        const before = done(tenantId).length;
        await walkTo('2026-03-20T00:00:00Z', 'upkeep');
        expect(done(tenantId)).to.have.length(before);
      });

      it('are marked at midnight on nights with a change of daylight saving time', async () => {
        clock.set('2026-03-06T00:00:00Z');
        const [spring, south] = [tenantIn('America/New_York'), tenantIn('Africa/Cairo')];
        const [inNewYork, inCairo] = [
          await taskOf(spring, '2026-03-08', { today: '2026-03-05' }),
          await taskOf(south, '2026-04-23', { today: '2026-03-06' }),
        ];
        // New York changes to daylight saving time on the eighth, which has twenty-three hours.
        await walkTo('2026-03-09T03:59:00Z', 'upkeep');
        expect(await inNewYork()).to.equal('pending');
        await walkTo('2026-03-09T04:00:00Z', 'upkeep');
        expect(await inNewYork()).to.equal('overdue');
        // In Cairo the twenty-fourth of April begins at one o'clock: midnight is skipped.
        clock.set('2026-04-23T21:59:00Z');
        await job('upkeep');
        expect(await inCairo()).to.equal('pending');
        clock.advance(60_000);
        await job('upkeep');
        expect(await inCairo()).to.equal('overdue');
      });

      it('follow a change of the time zone within the hour, also if midnight is earlier in the new zone', async () => {
        const tenantId = tenantIn('America/Los_Angeles');
        const status = await taskOf(tenantId, '2026-03-15', { timeZone: 'America/Los_Angeles' });
        await walkTo('2026-03-15T14:30:00Z', 'upkeep');
        expect(await status()).to.equal('pending');
        zones[tenantId] = 'Asia/Tokyo'; // in which the sixteenth begins at 15:00 UTC
        await walkTo('2026-03-15T16:00:00Z', 'upkeep');
        expect(await status()).to.equal('overdue');
      });

      it("that were due before they were created are marked at the tenant's next midnight; completed and other tasks are unchanged", async () => {
        const tenantId = tenantIn('Asia/Shanghai');
        const late = await taskOf(tenantId, '2026-03-01');
        const far = await taskOf(tenantId, '9999-12-31');
        await job('upkeep');
        expect(await late()).to.equal('pending');
        clock.set('2026-03-15T16:00:00Z');
        await job('upkeep');
        expect([await late(), await far()]).to.deep.equal(['overdue', 'pending']);
      });
    });

    it('deletes expired data of idle tenants: stored answers, reports of imports, former values of converted fields', async () => {
      const tenantId = tenantIn('UTC');
      const plane = process.as({ tenantId });
      const other = process.as({ tenantId: tenantIn('UTC') });
      await other.createContract(aContract());
      await process.as({ tenantId, idempotency: { key: 'k', requestHash: 'h' } }).createContract(aContract());
      await plane.importContracts(aSheet([cellsOf(), cellsOf({ quantity: 0 })]));
      const field = await aField({ plane });
      await plane.createContract(aContract({ dynamicFields: { [field.id]: '7' } }));
      await fieldCommand({ plane }, 'UpdateFieldType', { fieldId: field.id, type: 'number' });
      const kept = async () => [
        await rows(tenantId, 'idempotency_records'),
        await rows(tenantId, 'import_batches'),
        await rows(tenantId, 'dynamic_field_forms'),
      ];
      expect(await kept()).to.deep.equal([1, 1, 1]);
      clock.advance(DAY_MS - 1);
      await job('upkeep');
      expect(done(tenantId)).to.deep.equal([]);
      clock.advance(1);
      await job('upkeep');
      expect(await kept()).to.deep.equal([0, 1, 1]);
      clock.advance(29 * DAY_MS - 1);
      await job('upkeep');
      expect(await kept()).to.deep.equal([0, 1, 1]);
      clock.advance(1);
      await job('upkeep');
      expect(await kept()).to.deep.equal([0, 0, 0]);
      expect(done(tenantId)).to.deep.equal(['removeEnded', 'removeEnded']);
      clock.advance(100 * DAY_MS);
      await job('upkeep');
      expect(done(tenantId), 'nothing is left to end').to.have.length(2);
    });

    describe('the outbox', () => {
      /** Creates a contract in a new tenant, and a message about it: a transition that notifies a channel. */
      const queued = async () => {
        const tenantId = tenantIn('UTC');
        const plane = process.as({ tenantId, controls: { draft: 'admin' } });
        const { id: contractId } = await plane.createContract(aContract());
        const { templates } = await plane.getContractCatalog({});
        const [template] = templates;
        const transition =
          template?.transitions.find(({ code }) => code === 'submit_review') ??
          expect.fail('there is no such transition');
        const channelId = newId();
        await process.as({ tenantId, controls: { draft: 'admin' } }).updateLifecycleTransition({
          transitionId: transition.id,
          changes: { effects: { notifyChannelId: channelId } },
        });
        await plane.transitionContract({ contractId, transitionCode: 'submit_review' });
        return { tenantId, contractId, channelId };
      };
      const stateOf = (tenantId: string) =>
        database.read({ tenantId }, (tx) =>
          tx.get('SELECT state, attempts, error FROM outbox WHERE tenant_id = ?', [tenantId]),
        );

      it('are handed over for delivery when they are due, with the plane of their tenant', async () => {
        const { tenantId, contractId, channelId } = await queued();
        const got: unknown[] = [];
        const deliver: Step = async (plane, tenant) => {
          const { lanes } = await plane.listDueLanes({});
          const { messages } = await plane.leaseMessages({ lane: channelId, limit: 10, leaseMs: 60_000 });
          for (const { id, attempts, ...message } of messages) {
            got.push([tenant, lanes.map(({ lane }) => lane), message]);
            await plane.settleMessages({ outcomes: [{ id, attempts, error: attempts < 2 ? 'refused' : null }] });
          }
          return { more: false };
        };
        await job('upkeep');
        expect(got, 'nobody takes messages').to.deep.equal([]);
        await job('outbox', deliver);
        await job('outbox', deliver);
        expect(got).to.have.length(1);
        expect(got[0]).to.deep.include.members([tenantId, [channelId]]);
        expect((got[0] as [unknown, unknown, { reference: unknown }])[2].reference).to.include({
          contractId,
          channelId,
        });
        expect(await stateOf(tenantId)).to.deep.equal({ state: 'queued', attempts: 1, error: 'refused' });
        clock.advance(60_000);
        await job('outbox', deliver);
        expect(await stateOf(tenantId)).to.deep.equal({ state: 'settled', attempts: 2, error: null });
        await job('outbox', deliver);
        expect(got).to.have.length(2);
      });

      it('are tried up to eight times within a day; then they fail with the last reason', async () => {
        const { tenantId, channelId } = await queued();
        const tries: number[] = [];
        const begun = clock.now();
        const deliver: Step = async (plane) => {
          const { messages } = await plane.leaseMessages({ lane: channelId, limit: 10, leaseMs: 60_000 });
          for (const { id, attempts } of messages) {
            tries.push(clock.now() - begun);
            await plane.settleMessages({ outcomes: [{ id, attempts, error: `refused ${tries.length}` }] });
          }
          return { more: false };
        };
        while (clock.now() < begun + 2 * DAY_MS) {
          await job('outbox', deliver);
          clock.advance(tries.length < 4 ? 60_000 : HOUR_MS / 2);
        }
        expect(tries).to.have.length(8);
        expect(Math.max(...tries)).to.be.lessThan(29 * HOUR_MS);
        expect(await stateOf(tenantId)).to.deep.equal({ state: 'failed', attempts: 8, error: 'refused 8' });
      });

      it('respect a receiver that states when to retry, and end when there is no purpose in another try', async () => {
        const [later, never] = [await queued(), await queued()];
        const tries: string[] = [];
        const deliver: Step = async (plane, tenantId) => {
          const isNever = tenantId === never.tenantId;
          const lane = isNever ? never.channelId : later.channelId;
          const { messages } = await plane.leaseMessages({ lane, limit: 10, leaseMs: 60_000 });
          for (const { id, attempts } of messages) {
            tries.push(tenantId);
            const why = isNever ? { error: 'deleted', isFinal: true } : { error: 'late', retryAfterMs: 2 * HOUR_MS };
            await plane.settleMessages({ outcomes: [{ id, attempts, ...why }] });
          }
          return { more: false };
        };
        await job('outbox', deliver);
        expect(tries).to.have.members([later.tenantId, never.tenantId]);
        expect(await stateOf(never.tenantId)).to.deep.equal({ state: 'failed', attempts: 1, error: 'deleted' });
        clock.advance(2 * HOUR_MS - 1);
        await job('outbox', deliver);
        expect(tries).to.have.length(2);
        clock.advance(1);
        await job('outbox', deliver);
        expect(tries.slice(2)).to.deep.equal([later.tenantId]);
      });

      it('expires messages that were not consumed, and deletes them after ninety days', async () => {
        const { tenantId } = await queued();
        clock.advance(2 * DAY_MS);
        await job('upkeep');
        expect(await stateOf(tenantId)).to.deep.equal({ state: 'expired', attempts: 0, error: null });
        clock.advance(88 * DAY_MS);
        await job('upkeep');
        expect(await stateOf(tenantId)).to.equal(undefined);
      });
    });

    it(`is determined on ${kind} for data from before due work was stored: everything is checked once, and old messages are not sent`, async () => {
      const before = await fresh();
      await migrate(
        before.database,
        TENANT_MIGRATIONS.filter(({ id }) => id < '0015'),
      );
      const [tenantId, keyedOnly] = [newId(), newId()];
      await before.database.write({ tenantId }, async (tx) => {
        await tx.run('INSERT INTO data_versions (tenant_id, slot, version) VALUES (?, 3, 1), (?, 4, 2)', [
          tenantId,
          tenantId,
        ]);
        await tx.run(
          "INSERT INTO outbox (tenant_id, id, topic, reference, created_at, due_at, attempts) VALUES (?, ?, 'file.infected', '{}', ?, ?, 0)",
          [tenantId, newId(), clock.now() - DAY_MS, clock.now() - DAY_MS],
        );
        await tx.run(
          "INSERT INTO audit_log (tenant_id, id, at, actor_kind, actor_name, request_id, action, record_kind, record_id, changes) VALUES (?, ?, ?, 'user', 'Ming', 'r', 'createContract', 'contract', ?, '[]')",
          [tenantId, newId(), clock.now(), newId()],
        );
      });
      await before.database.write({ tenantId: keyedOnly }, (tx) =>
        tx.run(
          "INSERT INTO idempotency_records (tenant_id, key, operation, request_hash, answer, expires_at) VALUES (?, 'k', 'createContract', 'h', '', ?)",
          [keyedOnly, clock.now() - 1],
        ),
      );
      expect(await migrate(before.database, TENANT_MIGRATIONS)).to.include('0015-due-work');
      process = upkeepProcess({ database: before.database, clock });
      const got: unknown[] = [];
      const deliver: Step = async (plane) => {
        got.push(...(await plane.listDueLanes({})).lanes);
        return { more: false };
      };
      for (const name of ['audit-chain', 'upkeep', 'outbox', 'documents', 'file-sweep'])
        await job(name, deliver).catch(() => undefined);
      expect(got).to.deep.equal([]);
      const state = await before.database.read({ tenantId }, async (tx) => [
        await tx.get('SELECT state FROM outbox WHERE tenant_id = ?', [tenantId]),
        await tx.get('SELECT position FROM audit_log WHERE tenant_id = ?', [tenantId]),
      ]);
      expect(state).to.deep.equal([{ state: 'expired' }, { position: 1 }]);
      expect(
        await before.database.read({ tenantId: keyedOnly }, (tx) =>
          tx.all('SELECT key FROM idempotency_records WHERE tenant_id = ?', [keyedOnly]),
        ),
      ).to.deep.equal([]);
      const left = (id: string) =>
        before.database.read({ tenantId: id }, async (tx) =>
          (
            await tx.all(
              "SELECT kind FROM due_work WHERE tenant_id = ? AND kind NOT IN ('documents', 'file-orphans', 'file-scans', 'file-sweep') ORDER BY kind",
              [id],
            )
          ).map((row) => row['kind']),
        );
      expect([await left(tenantId), await left(keyedOnly)]).to.deep.equal([['expiry'], []]);
    });
  });
});
