import { expect } from 'chai';
import type { Database, Scope, Transaction, Value } from '../../data-plane-agent/base/database/database.js';
import { migrate } from '../../data-plane-agent/base/database/migrator.js';
import { newId } from '../../data-plane-agent/base/ids.js';
import { planeJobs } from '../../data-plane-agent/host/jobs.js';
import type { Step } from '../../data-plane-agent/host/upkeep.js';
import { findDue } from '../../data-plane-agent/plane/store/due-work.js';
import { TENANT_MIGRATIONS } from '../../data-plane-agent/plane/store/migrations/index.js';
import { fakeClock, type FakeClock } from '../support/clock.js';
import { forEachDatabase } from '../support/database.js';
import { openExternalServices, type TestExternalServices } from '../support/external-services.js';
import { generateKeyRingText, parseKeyRing } from '../../data-plane-agent/base/secrets.js';
import { aContract } from '../support/samples.js';
import { counted, inShanghai, upkeepProcess } from '../support/upkeep.js';

const MINUTE_MS = 60_000;
const chaining: Step = (plane) => plane.chainAudit({});

/** How often a rule fires per minute, by its seconds field; rules with a minute or hour count as never. */
function timesAMinute(rule: string): number {
  const [seconds = '', minutes] = rule.split(' ');
  if (minutes !== '*') return 0;
  const every = /^\*\/(\d+)$/.exec(seconds);
  return every ? 60 / Number(every[1]) : seconds.split(',').length;
}

forEachDatabase((kind, fresh) => {
  describe('the upkeep of a plane', () => {
    let database: Database;
    let again: () => Promise<Database>;
    let clock: FakeClock;
    let outside: TestExternalServices;
    before(async () => {
      ({ database, again } = await fresh());
      await migrate(database, TENANT_MIGRATIONS);
      outside = await openExternalServices({ clock: fakeClock(), keyRing: parseKeyRing(generateKeyRingText()) });
    });
    after(() => outside.close());
    beforeEach(async () => {
      clock = fakeClock();
      await forget();
    });
    const dueOf = (tenantId: string) =>
      database.read({ tenantId }, async (tx) =>
        (
          await tx.all(
            'SELECT kind, min(due_at) AS due_at FROM due_work WHERE tenant_id = ? GROUP BY kind ORDER BY kind',
            [tenantId],
          )
        ).map((row) => [row['kind'], row['due_at']]),
      );
    /** Deletes the rows of earlier tests, of all tenants. */
    const forget = () =>
      database.exclusive(async (connection) => {
        if (kind === 'postgres') await connection.run('TRUNCATE due_work');
        else await connection.run('DELETE FROM due_work');
      });

    it('runs few queries a minute for a thousand idle tenants, and serves the one that has something due', async () => {
      for (let i = 0; i < 1_000; i++) {
        const tenantId = newId();
        await database.write({ tenantId }, (tx) =>
          tx.run(
            "INSERT INTO due_work (tenant_id, kind, slot, due_at) VALUES (?, 'expiry', 0, ?), (?, 'tasks', 0, ?), (?, 'file-sweep', 0, ?)",
            [tenantId, clock.now() + MINUTE_MS, tenantId, clock.now() + MINUTE_MS, tenantId, clock.now() + MINUTE_MS],
          ),
        );
      }
      const watched = counted(database);
      const { upkeep, calls, asked, as } = upkeepProcess({ database: watched.database, clock });
      const { files, log } = outside.external;
      const jobs = planeJobs({
        upkeep,
        log,
        files: {
          ...files,
          policy: { ...files.policy, scans: true },
          scanner: {
            ...files.scanner,
            version: () => Promise.resolve({ engine: 'test', signatures: '1', signaturesAt: null }),
          },
        },
      });
      const minute = async () => {
        for (const { rule, run } of jobs)
          for (let times = timesAMinute(rule); times > 0; times -= 1) await run(new AbortController().signal);
      };
      await minute(); // in the first round the scanner's signatures are new
      Object.assign(watched.counts, { transactions: 0, statements: 0 });
      await minute();
      expect([calls, asked]).to.deep.equal([[], []]);
      expect(watched.counts.transactions).to.equal(21);
      expect(watched.counts.statements).to.equal(kind === 'postgres' ? 42 : 21);

      const tenantId = newId();
      await as({ tenantId }).createContract(aContract());
      await minute();
      expect(calls.map(({ name, call }) => [name, call.tenantId])).to.deep.equal([['chainAudit', tenantId]]);
      expect(asked).to.deep.equal([[tenantId]]);
      expect(await as({ tenantId }).getAuditHead({})).to.include({ waiting: 0 });
      expect(await dueOf(tenantId)).to.deep.equal([]);
    });

    it('is done once by two concurrent processes', async () => {
      const processes = [upkeepProcess({ database, clock }), upkeepProcess({ database: await again(), clock })];
      const tenants = Array.from({ length: 12 }, newId);
      for (const tenantId of tenants)
        for (let i = 0; i < 3; i++) await processes[0]?.as({ tenantId }).createContract(aContract());
      const steps: string[] = [];
      const counting: Step = (plane, tenantId) => {
        steps.push(tenantId);
        return chaining(plane, tenantId);
      };
      await Promise.all(processes.map(({ round }) => round({ audit: counting })));
      expect(steps.toSorted()).to.deep.equal(tenants.toSorted());
      for (const tenantId of tenants)
        expect(await processes[1]?.as({ tenantId }).getAuditHead({})).to.include({ waiting: 0 });
    });

    it('of a process that has died is taken over when its lease expires, and not before', async () => {
      const [dying, other] = [upkeepProcess({ database, clock }), upkeepProcess({ database: await again(), clock })];
      const tenantId = newId();
      await dying.as({ tenantId }).createContract(aContract());
      const { promise: death, reject: dies } = Promise.withResolvers<{ more: boolean }>();
      const { promise: begun, resolve: begins } = Promise.withResolvers<void>();
      const dead = dying.round({
        audit: () => {
          begins();
          return death;
        },
      });
      await begun;
      clock.advance(MINUTE_MS - 1);
      await other.round({ audit: chaining });
      expect(other.calls).to.deep.equal([]);
      clock.advance(1);
      await other.round({ audit: chaining });
      expect(other.calls.map(({ name }) => name)).to.deep.equal(['chainAudit']);
      dies(new Error('the process has ended'));
      await dead;
      expect(await dueOf(tenantId)).to.deep.equal([]);
    });

    it('loses no work that is written while it runs, whether due before or after the end of the lease', async () => {
      const { as, round, calls } = upkeepProcess({ database, clock });
      const tenantId = newId();
      await as({ tenantId }).createContract(aContract());
      await round({
        audit: async (plane, id) => {
          const done = await chaining(plane, id);
          await as({ tenantId }).createContract(aContract());
          return done;
        },
      });
      expect(await as({ tenantId }).getAuditHead({})).to.include({ waiting: 1 });
      await round({ audit: chaining });
      expect(await as({ tenantId }).getAuditHead({})).to.include({ waiting: 0 });
      expect(calls).to.have.length(2);

      const keyed = (key: string) =>
        as({ tenantId, idempotency: { key, requestHash: 'h' } }).createContract(aContract());
      await keyed('first');
      clock.advance(24 * 60 * MINUTE_MS);
      let second = 0;
      await round({
        expiry: async (plane) => {
          const done = await plane.removeEnded({});
          await keyed('second');
          second = clock.now();
          return done;
        },
      });
      expect((await dueOf(tenantId)).find(([of]) => of === 'expiry')).to.deep.equal([
        'expiry',
        second + 24 * 60 * MINUTE_MS,
      ]);
    });

    it('is reported when it fails, is retried after a minute, and delays no other tenant', async () => {
      const { as, round, logged } = upkeepProcess({ database, clock });
      const [failing, ...others] = [newId(), newId(), newId()];
      for (const tenantId of [failing, ...others]) await as({ tenantId }).createContract(aContract());
      let tries = 0;
      const step: Step = (plane, tenantId) => {
        if (tenantId !== failing) return chaining(plane, tenantId);
        tries += 1;
        return Promise.reject(new Error('no'));
      };
      for (let i = 0; i < 3; i++) await round({ audit: step });
      expect(tries).to.equal(1);
      expect(logged.map(({ msg, job, tenantId }) => [msg, job, tenantId])).to.deep.equal([
        ['scheduled work failed for an organisation', 'test', failing],
      ]);
      for (const tenantId of others) expect(await as({ tenantId }).getAuditHead({})).to.include({ waiting: 0 });
      clock.advance(MINUTE_MS);
      await round({ audit: chaining });
      expect(await as({ tenantId: failing ?? '' }).getAuditHead({})).to.include({ waiting: 0 });
    });

    it('that is interrupted by a stop is released immediately, and not reported as failed', async () => {
      const [stopping, other] = [upkeepProcess({ database, clock }), upkeepProcess({ database: await again(), clock })];
      const tenantId = newId();
      await stopping.as({ tenantId }).createContract(aContract());
      const stop = new AbortController();
      await stopping.upkeep.round({
        job: 'test',
        signal: stop.signal,
        steps: {
          audit: () => {
            stop.abort();
            return Promise.reject(new Error('broken off'));
          },
        },
      });
      expect(stopping.logged).to.deep.equal([]);
      await other.round({ audit: chaining });
      expect(await other.as({ tenantId }).getAuditHead({})).to.include({ waiting: 0 });
    });

    it('serves all tenants, even if one has a lot of work', async () => {
      const { as, round } = upkeepProcess({ database, clock });
      const [busy, other] = [newId(), newId()];
      for (const tenantId of [busy, other]) await as({ tenantId }).createContract(aContract());
      const steps: string[] = [];
      await round({
        audit: async (plane, tenantId) => {
          steps.push(tenantId);
          if (tenantId === busy) return { more: true };
          return chaining(plane, tenantId);
        },
      });
      expect([steps.filter((id) => id === busy).length, steps.filter((id) => id === other).length]).to.deep.equal([
        50, 1,
      ]);
      // The rest of the work is due after that of tenants that have waited longer.
      expect((await dueOf(busy)).filter(([of]) => of === 'audit')).to.deep.equal([['audit', clock.now()]]);
    });

    it('skips inactive tenants, and checks them again in an hour', async () => {
      const suspended = newId();
      let isSuspended = true;
      const { as, round, calls, asked } = upkeepProcess({
        database,
        clock,
        tenants: (ids) => inShanghai(ids.filter((id) => id !== suspended || !isSuspended)),
      });
      await as({ tenantId: suspended }).createContract(aContract());
      for (let i = 0; i < 3; i++) await round({ audit: chaining });
      expect([calls, asked]).to.deep.equal([[], [[suspended]]]);
      isSuspended = false;
      clock.advance(60 * MINUTE_MS);
      await round({ audit: chaining });
      expect(calls.map(({ name }) => name)).to.deep.equal(['chainAudit']);
    });

    it("calls with the tenant's own time zone, currency, lead days and language", async () => {
      const { as, round, calls } = upkeepProcess({ database, clock });
      const tenantId = newId();
      await as({ tenantId }).createContract(aContract());
      clock.set('2026-03-15T16:30:00Z');
      await round({ audit: chaining });
      expect(calls[0]?.call).to.deep.include({
        tenantId,
        timeZone: 'Asia/Shanghai',
        today: '2026-03-16',
        currencyCode: 'EUR',
        reminderLeadDays: 3,
        reminderEscalationDays: 7,
        reminderHour: 9,
        language: 'zh-CN',
      });
      expect(calls[0]?.call.actor).to.deep.equal({ kind: 'system', id: null, name: 'test', roleCode: null, ip: null });
    });

    it('finds work without marks when it scans the tables', async () => {
      const { as, round, calls } = upkeepProcess({ database, clock });
      const tenantId = newId();
      await as({ tenantId }).createContract(aContract());
      await forget();
      await round({ audit: chaining });
      expect(calls).to.deep.equal([]);
      await as({ tenantId }).lookForWork({});
      await round({ audit: chaining });
      expect(await as({ tenantId }).getAuditHead({})).to.include({ waiting: 0 });
    });

    it('finds due work by an index, and updates it with the data version in one statement', async () => {
      const plans: string[] = [];
      const explaining: Database = Object.assign(Object.create(database) as Database, {
        read: (scope: Scope, work: (tx: Transaction) => Promise<unknown>) =>
          database.read(scope, (tx) =>
            work(
              Object.assign(Object.create(tx) as Transaction, {
                get: tx.get.bind(tx),
                all: async (sql: string, values: readonly Value[]) => {
                  if (kind === 'postgres') await tx.get("SELECT set_config('enable_seqscan', 'off', true)");
                  plans.push(
                    JSON.stringify(await tx.all(`EXPLAIN ${kind === 'sqlite' ? 'QUERY PLAN ' : ''}${sql}`, values)),
                  );
                  return [];
                },
              }),
            ),
          ),
      });
      await findDue(explaining, { kinds: ['audit', 'tasks'], now: clock.now(), limit: 200 });
      expect(plans.join()).to.contain('due_work_by_time');
      const watched = counted(database);
      const { as } = upkeepProcess({ database: watched.database, clock });
      const tenantId = newId();
      const { id } = await as({ tenantId }).createContract(aContract());
      Object.assign(watched.counts, { statements: 0 });
      await as({ tenantId }).addNote({ contractId: id, label: 'one', value: 'two' });
      // One of them increments the version, notes what is added to the figures and marks the audit as due; on SQLite,
      // without round trips, three. One looks whether the data is being moved.
      expect(watched.counts.statements).to.equal(kind === 'postgres' ? 7 : 9);
    });
  });
});
