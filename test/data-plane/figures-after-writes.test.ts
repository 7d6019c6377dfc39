import { expect } from 'chai';
import fc from 'fast-check';
import { addDays } from '../../data-plane-agent/base/day.js';
import { isFailure } from '../../data-plane-agent/base/failures.js';
import type { Call } from '../../data-plane-agent/plane/contract/call.js';
import { bind, type BoundPlane } from '../../data-plane-agent/plane/contract/data-plane.js';
import { OPERATIONS, type Operations } from '../../data-plane-agent/plane/operations/index.js';
import { contractStep, EVERY_CONTROL, PEOPLE, SUBJECTS, walk } from '../support/contract-walk.js';
import { HARBOUR, MING, ofRows } from '../support/import-samples.js';
import {
  naiveCashflow,
  naiveDistribution,
  naiveStats,
  naiveSummary,
  shownTo,
  withoutLabels,
} from '../support/naive-figures.js';
import type { TestPlane } from '../support/plane.js';
import { forEachReplicas } from '../support/replicas.js';
import { aContract, aLine } from '../support/samples.js';
import { withoutContracts } from '../support/rollups.js';
import { watchedDatabase } from '../support/watched-database.js';

type Plane = BoundPlane<Operations>;
type View = Partial<Pick<Call, 'subjectScope' | 'ownerScope' | 'today'>> & { readonly subjectId?: string };

const ALL = { subjectId: null, displayCurrency: 'CNY' };
/** Today is 15 March 2026. */
const VIEWS: readonly View[] = [
  {},
  { subjectId: SUBJECTS[0] },
  { subjectScope: [SUBJECTS[1]] },
  { subjectScope: [...SUBJECTS], subjectId: SUBJECTS[1] },
  { subjectScope: [] },
  { ownerScope: PEOPLE[0] },
  { ownerScope: PEOPLE[1], subjectScope: [SUBJECTS[0]] },
  { ownerScope: PEOPLE[2], subjectId: SUBJECTS[0] },
  { today: '2026-04-01' },
];

/** All figures of a view. */
async function figuresOf(plane: Plane, subjectId: string | null = null) {
  const asked = { ...ALL, subjectId };
  return {
    stats: await plane.getPaymentStats({}),
    summary: await plane.getAnalyticsSummary(asked),
    cashflow: await plane.getAnalyticsCashflow(asked),
    distribution: withoutLabels(await plane.getAnalyticsDistribution(asked)),
  };
}

const LISTS = [
  {},
  { type: 'lease' },
  { payment: 'paid' },
  { workflow: 'draft', subjectId: SUBJECTS[0] },
  { status: 'in_progress', ownerId: PEOPLE[1] },
  { subjectId: SUBJECTS[1], ownerId: PEOPLE[0], type: 'sale', payment: 'unpaid' },
  { overdue: true },
  { overdue: true, payment: 'partial' },
  { typeCode: 'crane_hire' },
  { statusCode: 'disputed' },
  { lifecycleStageCode: 'review', ownerId: PEOPLE[1] },
] as const;

/** The totals of lists that writes bring up to date. Those of subject companies outside the scope are refused. */
async function totalsOf(plane: Plane, { subjectScope = null }: View): Promise<readonly number[]> {
  const totals: number[] = [];
  for (const filter of LISTS)
    if (!('subjectId' in filter) || (subjectScope?.includes(filter.subjectId) ?? true))
      totals.push((await plane.listContracts({ ...filter, sort: 'createdAt', order: 'desc', pageSize: 1 })).total);
  return totals;
}

/** The same, added up from the lines. */
async function addedUp({ as, call }: TestPlane, { subjectId: only, ...view }: View) {
  const subjectId = only ?? null;
  const plane = as(view);
  const question = {
    ...ALL,
    subjectId,
    today: view.today ?? call.today,
    lead: call.reminderLeadDays,
    timeZone: call.timeZone,
  };
  const shown = await shownTo(plane, subjectId);
  const all = subjectId === null ? shown : await shownTo(plane);
  return {
    stats: naiveStats(all, { ...question, currency: call.currencyCode }),
    summary: naiveSummary(shown, question),
    cashflow: naiveCashflow(shown, question),
    distribution: naiveDistribution(shown, question),
  };
}

describe('figures after a write', () => {
  forEachReplicas((name, replicas) => {
    /** Each reader of each view answers what one that has kept nothing does. */
    const asFresh = async (readers: readonly TestPlane[]): Promise<void> => {
      const [first] = readers;
      if (!first) throw new Error('there are readers');
      for (const { subjectId = null, ...view } of VIEWS) {
        const fresh = replicas().fresh(first, { ...first.call, ...view });
        const [figures, totals] = [await figuresOf(fresh, subjectId), await totalsOf(fresh, view)];
        for (const { as } of readers) {
          expect(await figuresOf(as(view), subjectId), JSON.stringify(view)).to.deep.equal(figures);
          expect(await totalsOf(as(view), view), JSON.stringify(view)).to.deep.equal(totals);
        }
      }
    };
    const rowsOf = ({ database, call }: TestPlane, sql: string) =>
      database.read(call, (tx) => tx.all(sql, [call.tenantId]));
    const versionsOf = (test: TestPlane) =>
      rowsOf(test, 'SELECT slot, version FROM data_versions WHERE tenant_id = ? ORDER BY slot');
    const changesOf = (test: TestPlane) =>
      rowsOf(test, 'SELECT slot, version, changes FROM rollup_changes WHERE tenant_id = ? ORDER BY slot, version');
    const forget = ({ database, call }: TestPlane) =>
      database.write(call, (tx) => tx.run('DELETE FROM rollup_changes WHERE tenant_id = ?', [call.tenantId]));
    /** What the previous release does: it counts the version up and notes nothing under it. */
    const asPrevious = async (test: TestPlane, write: () => Promise<unknown>): Promise<void> => {
      const before = new Map((await versionsOf(test)).map(({ slot, version }) => [slot, Number(version)]));
      await write();
      for (const { slot, version } of await changesOf(test))
        if (slot !== undefined && version !== undefined && Number(version) > (before.get(slot) ?? 0))
          await test.database.write(test.call, (tx) =>
            tx.run('DELETE FROM rollup_changes WHERE tenant_id = ? AND slot = ? AND version = ?', [
              test.call.tenantId,
              slot,
              version,
            ]),
          );
    };
    /** Rows of which the second fails, after it was written in part. */
    const importSome = ({ plane }: TestPlane, rows: number) =>
      plane.importContracts(
        ofRows(
          Array.from({ length: rows }, (_, n) =>
            aContract({
              subjectId: HARBOUR.id,
              ownerId: MING.id,
              payments: Array.from({ length: 8 }, (_line, i) =>
                aLine({
                  period: `P${i}`,
                  dueDate: addDays('2026-01-01', 8 * n + i),
                  amount: n + i + 1,
                  ...(n < 2 && i === 0 ? { invoiceAmount: 1, invoiceNo: 'F-1' } : {}),
                }),
              ),
            }),
          ),
        ),
      );

    it('are those of a fresh reader and the sums of the lines, after any changes by either of two replicas', async function () {
      this.timeout(300_000);
      const round = fc.oneof(
        { weight: 12, arbitrary: fc.record({ do: fc.constant('walk' as const), step: contractStep }) },
        { weight: 2, arbitrary: fc.record({ do: fc.constant('previous' as const), step: contractStep }) },
        fc.record({ do: fc.constantFrom('forget' as const, 'import' as const, 'import many' as const) }),
      );
      await fc.assert(
        fc.asyncProperty(
          fc.array(fc.tuple(fc.nat({ max: 1 }), round), { minLength: 3, maxLength: 14 }),
          async (rounds) => {
            const pair = replicas().both({ controls: EVERY_CONTROL });
            const ids: string[] = [];
            for (const [which, one] of rounds) {
              const writer = pair[which === 0 ? 0 : 1];
              if (one.do === 'walk') await walk(writer, [one.step], ids);
              else if (one.do === 'previous') await asPrevious(writer, () => walk(writer, [one.step], ids));
              else if (one.do === 'forget') await forget(writer);
              else await importSome(writer, one.do === 'import' ? 2 : 45);
              await asFresh(pair);
            }
            for (const { subjectId, ...view } of VIEWS)
              expect(await figuresOf(pair[0].as(view), subjectId)).to.deep.equal(
                await addedUp(pair[0], { ...view, ...(subjectId === undefined ? {} : { subjectId }) }),
              );
          },
        ),
        { numRuns: name === 'sqlite' ? 25 : 8 },
      );
    });

    /** A reader whose statements are noted, and a replica that writes. */
    const watched = async () => {
      const [writer] = replicas().both();
      const { database, asked } = watchedDatabase(replicas().database);
      const reader = bind(replicas().planeOn(database), writer.call, { operations: OPERATIONS });
      const { payments } = await writer.plane.createContract(
        aContract({ payments: [aLine({ amount: 1_000 }), aLine({ period: '2', amount: 500, currencyCode: 'JPY' })] }),
      );
      const paymentId = payments[0]?.id ?? '';
      let received = 0;
      return {
        writer,
        reader,
        asked,
        receive: () => writer.plane.recordReceipt({ paymentId, receivedAmount: ++received }),
        /** Whether the rollups were read for the figures, which are those of a fresh reader. */
        async reads(): Promise<boolean> {
          asked.length = 0;
          const figures = await figuresOf(reader);
          expect(figures.stats.received).to.equal(received);
          const [isRead, statements] = [
            asked.some(({ sql }) => /receivable_days|contract_groups/.test(sql)),
            asked.filter(({ sql }) => !sql.includes('data_moves')).length,
          ];
          expect(figures).to.deep.equal(await figuresOf(replicas().fresh(writer, writer.call)));
          if (!isRead) expect(statements).to.equal(6); // one for each part of the four answers
          return isRead;
        },
      };
    };

    it('are read from the changes of the writes in between, not from the rollups', async () => {
      const { writer, receive, reads } = await watched();
      expect(await reads()).to.equal(true);
      expect(await reads()).to.equal(false);
      for (let n = 0; n < 40; n++) {
        await receive();
        if (n % 8 === 0) expect(await reads(), `after receipt ${n}`).to.equal(false);
      }
      const { id: contractId } = await writer.plane.createContract(
        aContract({ currencyCode: 'KWD', payments: [aLine({ currencyCode: 'EUR' })] }),
      );
      await writer.plane.addTask({ contractId, code: 'T-1', title: 'Deliver', kind: 'delivery' }); // adds nothing
      await writer.plane.deleteContract({ contractId });
      expect(await reads()).to.equal(false);
      expect((await versionsOf(writer)).length > 1, 'several slots').to.equal(name === 'postgres');
    });

    it('have totals of lists that are counted once, unless they are of a text or of what is due soon', async () => {
      const { writer, reader, asked } = await watched();
      const totals = async (filter: object) => {
        asked.length = 0;
        const { total } = await reader.listContracts({ ...filter, pageSize: 1 });
        expect(
          (
            await replicas()
              .fresh(writer, writer.call)
              .listContracts({ ...filter, pageSize: 1 })
          ).total,
        ).to.equal(total);
        return { total, isCounted: asked.some(({ sql }) => sql.includes('count(*)')) };
      };
      const grouped = { type: 'sale', payment: 'unpaid', workflow: 'draft', sort: 'endDate', page: 1 };
      const others = [
        { typeCode: 'crane' },
        { overdue: true },
        { lifecycleStageCode: 'draft' },
        { statusCode: 'disputed' },
      ];
      const counted = [{ q: 'harbour' }, { dueSoon: true }];
      const isCounted = async (): Promise<boolean[]> => {
        const found: boolean[] = [];
        for (const filter of [{}, grouped, ...others, ...counted]) found.push((await totals(filter)).isCounted);
        return found;
      };
      expect((await totals({})).total).to.equal(1);
      await isCounted();
      for (let n = 0; n < 3; n++) {
        const { id: contractId } = await writer.plane.createContract(aContract({ payments: [aLine()] }));
        expect((await totals({})).total).to.equal(n + 2);
        expect(await isCounted()).to.deep.equal([false, false, false, false, false, false, true, true]);
        if (n === 1) {
          await writer.plane.deleteContract({ contractId });
          expect(await totals({})).to.deep.equal({ total: n + 1, isCounted: false });
          await writer.plane.restoreContract({ contractId });
        }
      }
    });

    it('are brought up to date by a search of the index from the known versions on', async () => {
      const { writer, asked, receive, reads } = await watched();
      await reads();
      await receive();
      expect(await reads()).to.equal(false);
      const since = asked.find(({ sql }) => sql.includes('rollup_changes')) ?? expect.fail('it is asked for');
      const plan = await writer.database.read(writer.call, async (tx) => {
        if (name === 'sqlite') return tx.all(`EXPLAIN QUERY PLAN ${since.sql}`, since.values);
        // So few rows would rather be read from end to end.
        for (const other of ['enable_seqscan', 'enable_bitmapscan', 'enable_hashjoin', 'enable_mergejoin'])
          await tx.get("SELECT set_config(?, 'off', true)", [other]);
        return tx.all(`EXPLAIN (COSTS OFF) ${since.sql}`, since.values);
      });
      expect(JSON.stringify(plan)).to.match(
        name === 'sqlite'
          ? /SEARCH c USING PRIMARY KEY \(tenant_id=\? AND slot=\? AND version>\? AND version<\?\)/
          : /Index Cond: [^"]*\(version > known\.version\)/,
      );
    });

    it('are read anew if the changes are not all known', async () => {
      const { writer, receive, reads } = await watched();
      const only = (sql: string) => writer.database.write(writer.call, (tx) => tx.run(sql, [writer.call.tenantId]));
      const cases: Readonly<Record<string, () => Promise<unknown>>> = {
        'the previous release wrote': () => asPrevious(writer, receive),
        'they were deleted': async () => {
          await receive();
          await forget(writer);
        },
        'one of several is missing': async () => {
          for (let n = 0; n < 3; n++) await (n === 1 ? asPrevious(writer, receive) : receive());
        },
        'one was too much': () => importSome(writer, 45),
        'the rows are from elsewhere': async () => {
          await receive();
          await only('UPDATE rollup_changes SET changes = NULL WHERE tenant_id = ?');
        },
        'they have another form': async () => {
          await receive();
          await only('UPDATE rollup_changes SET changes = \'[2,"of a later release"]\' WHERE tenant_id = ?');
        },
        'an earlier release noted no contracts': async () => {
          await receive();
          await writer.database.write(writer.call, async (tx) => {
            for (const { slot = null, version = null, changes } of await changesOf(writer))
              if (changes !== null)
                await tx.run('UPDATE rollup_changes SET changes = ? WHERE tenant_id = ? AND slot = ? AND version = ?', [
                  withoutContracts(String(changes)),
                  writer.call.tenantId,
                  slot,
                  version,
                ]);
          });
        },
        'the version was set back': async () => {
          await only('DELETE FROM rollup_changes WHERE tenant_id = ?');
          await only('UPDATE data_versions SET version = version - 1 WHERE tenant_id = ?');
        },
        'the versions are gone': async () => {
          await receive();
          await reads();
          await only('DELETE FROM data_versions WHERE tenant_id = ?');
        },
      };
      await reads();
      for (const [what, happens] of Object.entries(cases)) {
        await happens();
        expect(await reads(), what).to.equal(true);
        expect(await reads(), `once, after ${what}`).to.equal(false);
      }
    });

    it('refuse no write if versions are counted again from the beginning', async () => {
      const { writer, receive, reads } = await watched();
      for (let n = 0; n < 40; n++) await receive();
      await reads();
      await writer.database.write(writer.call, (tx) =>
        tx.run('DELETE FROM data_versions WHERE tenant_id = ?', [writer.call.tenantId]),
      );
      for (let n = 0; n < 8; n++) await receive();
      expect(await reads()).to.equal(true);
      const changes = await changesOf(writer);
      expect(changes.filter((row) => row['changes'] === null)).not.to.deep.equal([]);
    });

    it('have the days of their day: each has figures of its own', async () => {
      const [test] = replicas().both();
      const { payments } = await test.plane.createContract(
        aContract({ payments: [aLine({ dueDate: '2026-03-15', amount: 10 })] }),
      );
      const overdue = async (today: string) => (await test.as({ today }).getPaymentStats({})).overdue;
      expect([await overdue('2026-03-15'), await overdue('2026-03-16')]).to.deep.equal([0, 10]);
      await test.plane.recordReceipt({ paymentId: payments[0]?.id ?? '', receivedAmount: 4 });
      expect([await overdue('2026-03-15'), await overdue('2026-03-16')]).to.deep.equal([0, 6]);
    });

    it('are not kept by a transaction that writes, and do not contain what was rolled back', async () => {
      const [writer] = replicas().both();
      const { database, asked } = watchedDatabase(replicas().database);
      const seen: number[] = [];
      const failing: Operations = {
        ...OPERATIONS,
        createContract: {
          ...OPERATIONS.createContract,
          async run(context, call, input) {
            await OPERATIONS.createContract.run(context, call, input);
            seen.push((await context.store.figures.tallies(null)).status.length);
            throw new Error('after all not');
          },
        },
      };
      const data = replicas().planeOn(database, failing);
      const reader = bind(data, writer.call, { operations: OPERATIONS });
      const fail = async (): Promise<void> => {
        const failed = await data
          .invoke('createContract', { call: writer.call }, aContract({ payments: [aLine({ amount: 9 })] }))
          .catch((error: unknown) => error);
        expect(failed).to.be.instanceOf(Error);
        expect(isFailure(failed)).to.equal(false);
      };
      await writer.plane.createContract(aContract({ payments: [aLine({ amount: 7 })] }));
      await fail();
      expect(seen).to.deep.equal([1]);
      const before = await figuresOf(reader);
      expect(asked.filter(({ sql }) => sql.includes('contract_groups')).length).to.equal(1);
      await fail();
      expect(await figuresOf(reader)).to.deep.equal(before);
      await writer.plane.createContract(aContract({ payments: [aLine({ amount: 20 })] }));
      expect((await figuresOf(reader)).stats.amount).to.equal(27);
      expect(await figuresOf(reader)).to.deep.equal(await figuresOf(replicas().fresh(writer, writer.call)));
    });

    it('of many who read and write at once never go back, and are right in the end', async function () {
      this.timeout(240_000);
      const pair = replicas().both();
      const lines = await Promise.all(
        Array.from({ length: 6 }, async () => {
          const { payments } = await pair[0].plane.createContract(aContract({ payments: [aLine({ amount: 100 })] }));
          return payments[0]?.id ?? '';
        }),
      );
      let isOver = false;
      const wrong: string[] = [];
      let compared = 0;
      const reader = async ({ plane }: TestPlane): Promise<void> => {
        for (let last = 0; !isOver; compared++) {
          const { received, outstanding } = await plane.getPaymentStats({});
          if (received < last || received + outstanding !== 600)
            wrong.push(`${received} and ${outstanding} after ${last}`);
          last = received;
          await new Promise(setImmediate); // lets the writers in
        }
      };
      const readers = Promise.all(Array.from({ length: 6 }, (_, i) => reader(pair[i % 2 === 0 ? 0 : 1])));
      await Promise.all(
        lines.map(async (paymentId, i) => {
          for (let n = 1; n <= 20; n++)
            await pair[i % 2 === 0 ? 0 : 1].plane.recordReceipt({ paymentId, receivedAmount: n });
        }),
      );
      isOver = true;
      await readers;
      expect(wrong).to.deep.equal([]);
      expect(compared).to.be.greaterThan(20);
      expect((await pair[0].plane.getPaymentStats({})).received).to.equal(120);
      await asFresh(pair);
    });

    it('need a bounded number of rows: old ones are deleted as new ones are written', async () => {
      const [test] = replicas().both();
      const slots = name === 'sqlite' ? [0] : Array.from({ length: 32 }, (_, slot) => slot);
      const past = 1_023;
      await test.database.write(test.call, async (tx) => {
        for (const slot of slots) {
          await tx.run('INSERT INTO data_versions (tenant_id, slot, version) VALUES (?, ?, ?)', [
            test.call.tenantId,
            slot,
            past,
          ]);
          for (let version = past - 600; version <= past; version += name === 'sqlite' ? 1 : 20)
            await tx.run("INSERT INTO rollup_changes (tenant_id, slot, version, changes) VALUES (?, ?, ?, '[1]')", [
              test.call.tenantId,
              slot,
              version,
            ]);
        }
      });
      await test.plane.createContract(aContract({ payments: [aLine()] }));
      const changes = await changesOf(test);
      const slot = changes.find(({ version }) => version === past + 1)?.['slot'];
      const kept = changes.filter((row) => row['slot'] === slot).map(({ version }) => Number(version));
      const oldest = past + 2 - (name === 'sqlite' ? 512 : 32);
      expect(kept.at(-1)).to.equal(past + 1);
      expect(kept[0]).to.be.within(oldest, oldest + 20);
      expect(kept.length).to.be.at.most(512).and.at.least(2);
      const others = changes.filter((row) => row['slot'] !== slot);
      expect(others.length).to.equal((slots.length - 1) * 31);
    });
  });
});
