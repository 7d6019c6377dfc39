import { expect } from 'chai';
import type { Row, Transaction, Value } from '../../data-plane-agent/base/database/database.js';
import { addDays } from '../../data-plane-agent/base/day.js';
import { newId } from '../../data-plane-agent/base/ids.js';
import type { Call } from '../../data-plane-agent/plane/contract/call.js';
import { CONTRACT_SORTS, type ContractSort } from '../../data-plane-agent/plane/contract/records/contracts.js';
import { lines, type LineRow } from '../../data-plane-agent/plane/tables/payment-lines.js';
import { contracts, type ContractRow } from '../../data-plane-agent/plane/tables/contracts.js';
import { RollupDelta } from '../../data-plane-agent/plane/store/rollup-delta.js';
import { ContractList, type ContractFilter } from '../../data-plane-agent/plane/store/contract-list.js';
import { ContractStore } from '../../data-plane-agent/plane/store/contracts.js';
import { ChangeRecorder } from '../../data-plane-agent/plane/store/change-recorder.js';
import { LineStore } from '../../data-plane-agent/plane/store/lines.js';
import type { Fragment } from '../../data-plane-agent/base/database/fragments.js';
import { indexText, TextSearch } from '../../data-plane-agent/plane/store/search-index.js';
import { ContractCores } from '../../data-plane-agent/plane/store/contract-cores.js';
import { Totals } from '../../data-plane-agent/plane/store/totals.js';
import { TrashStore } from '../../data-plane-agent/plane/store/trash.js';
import { analyse, counting, explaining, type Read } from '../support/explaining.js';
import { forEachPlane, type TestPlane } from '../support/plane.js';
import { aContract, aLine } from '../support/samples.js';

const CONTRACT_COUNT = 3_000;
const OWNERS = [newId(), newId(), newId()];
const SUBJECT = newId();
const PAGE = { offset: 0, limit: 20 };
/** Up to this many matches are all read and sorted. */
const RARE = 500;

/**
 * Enough contracts for PostgreSQL's planner to prefer indexes: half are overdue, and every hundredth mentions unicorns.
 */
async function fill({ plane, database, call }: TestPlane): Promise<void> {
  const made = await plane.createContract(aContract({ subjectId: SUBJECT, payments: [aLine()] }));
  const template = await database.read(call, async (tx) => ({
    row: contracts.decode(
      await only(tx, `SELECT ${contracts.columnNames} FROM contracts WHERE tenant_id = ? AND id = ?`, [
        call.tenantId,
        made.id,
      ]),
    ),
    line: lines.decode(
      await only(tx, `SELECT ${lines.columnNames} FROM payment_lines WHERE tenant_id = ? AND contract_id = ?`, [
        call.tenantId,
        made.id,
      ]),
    ),
  }));
  const rows = Array.from({ length: CONTRACT_COUNT }, (_, n): ContractRow => {
    const nextDueDate = addDays(call.today, (n % 600) - 300);
    const remark = n % 100 === 0 ? `unicorn ${n} 独角兽` : `ordinary words ${n}`;
    return {
      ...template.row,
      id: newId(),
      contractNo: `N-${n}`,
      contractKey: `n-${n}`,
      archiveCode: `A-${n}`,
      archiveKey: `a-${n}`,
      projectName: `Project ${(n * 7_919) % CONTRACT_COUNT}`,
      createdAt: template.row.createdAt + n,
      updatedAt: template.row.updatedAt + (n % 100),
      startDate: addDays('2020-01-01', n),
      endDate: addDays('2026-01-01', n),
      signDate: n % 5 === 0 ? null : addDays('2019-01-01', n),
      totalAmount: ((n * 31) % 10_000) / 100,
      outstandingAmount: (n % 997) / 100,
      nextDueDate,
      ownerId: OWNERS[n % 3] ?? '',
      ownerSuperiorId: OWNERS[(n + 1) % 3] ?? '',
      remark,
      statusCode: n % 500 === 0 ? 'rare' : 'common',
    };
  });
  await database.write(call, async (tx) => {
    await contracts.insert(tx, call.tenantId, rows);
    await lines.insert(
      tx,
      call.tenantId,
      rows.flatMap((row, n): LineRow[] => {
        const dueDate = row.nextDueDate ?? call.today;
        const line = { ...template.line, id: newId(), contractId: row.id, dueDate };
        // Some have a second line, later than their next due date.
        return n % 7 === 0 ? [line, { ...line, id: newId(), dueDate: addDays(dueDate, n % 400) }] : [line];
      }),
    );
    for (const row of rows) await indexText(tx, call.tenantId, { row });
  });
  await analyse(database);
}

describe('the plans of the contract statements', () => {
  forEachPlane(
    (name, makePlane) => {
      let t: TestPlane;
      before('a book of 3 000 contracts', async function () {
        this.timeout(180_000);
        t = makePlane();
        await fill(t);
      });

      /** The plans of the statements that `work` runs, in order. */
      const plansOf = (
        work: (tx: Transaction, call: Call) => Promise<unknown>,
        changes: Partial<Call> = {},
      ): Promise<string[]> =>
        t.database.read(t.call, async (tx) => {
          const plans: string[] = [];
          await work(explaining(tx, plans), { ...t.call, ...changes });
          return plans;
        });
      const pagePlan = async (
        filter: ContractFilter,
        {
          sort = 'createdAt',
          order = 'desc',
          offset = 0,
        }: { sort?: ContractSort; order?: 'asc' | 'desc'; offset?: number } = {},
        changes: Partial<Call> = {},
      ) => {
        const totals = new Totals();
        const plans = await plansOf(async (tx, call) => {
          const list = new ContractList(tx, call, { totals, cores: new ContractCores() });
          await list.page(await list.select(filter), { sort, order }, { ...PAGE, offset });
        }, changes);
        return plans.at(-1) ?? '';
      };
      const SORTING = name === 'sqlite' ? 'TEMP B-TREE' : 'Sort Key';
      const columnOf: Record<ContractSort, string> = {
        createdAt: 'created_at',
        updatedAt: 'updated_at',
        contractNo: 'contract_no',
        archiveCode: 'archive_code',
        projectName: 'project_name',
        startDate: 'start_date',
        endDate: 'end_date',
        signDate: 'sign_date',
        totalAmount: 'total_amount',
        outstandingAmount: 'outstanding_amount',
        nextDueDate: 'next_due_date',
      };

      for (const sort of CONTRACT_SORTS) {
        for (const order of ['asc', 'desc'] as const) {
          it(`a page sorted by ${sort} ${order} scans the index of that order`, async () => {
            expect(await pagePlan({}, { sort, order })).to.contain(`contracts_by_${columnOf[sort]}`);
          });
        }
      }

      /** Every documented filter, with a value that many contracts have and, where there are such, one that few have. */
      const filters = (): Readonly<Record<string, ContractFilter>> => ({
        type: { type: 'sale' },
        'type, of none': { type: 'lease' },
        'typeCode, of none': { typeCode: 'none_has_it' },
        status: { status: 'in_progress' },
        statusCode: { statusCode: 'common' },
        'statusCode, of few': { statusCode: 'rare' },
        payment: { payment: 'unpaid' },
        'payment, of none': { payment: 'paid' },
        ownerId: { ownerId: OWNERS[0] ?? null },
        subjectId: { subjectId: SUBJECT },
        workflow: { workflow: 'draft' },
        lifecycleStageCode: { lifecycleStageCode: 'draft' },
        overdue: { dueBefore: t.call.today },
        'dueSoon, of few': { dueWithin: [t.call.today, addDays(t.call.today, t.call.reminderLeadDays)] },
        q: { q: 'ordinary words' },
        'q, of few': { q: 'unicorn' },
        'three together': { type: 'sale', payment: 'unpaid', ownerId: OWNERS[1] ?? null },
      });

      it('every filter with every sort key reads an index of the tenant, and the rows of a page one by one', async function () {
        this.timeout(180_000);
        const found: string[] = [];
        for (const [filtered, filter] of Object.entries(filters()))
          for (const sort of CONTRACT_SORTS)
            for (const order of ['asc', 'desc'] as const)
              await t.database.read(t.call, async (tx) => {
                const seen: Read[] = [];
                const list = new ContractList(counting(tx, seen), t.call, {
                  totals: new Totals(),
                  cores: new ContractCores(),
                });
                const selection = await list.select(filter);
                if (selection.total > RARE === / of (none|few)/.test(filtered))
                  found.push(`${filtered}: ${selection.total}`);
                const before = seen.length;
                await list.page(selection, { sort, order }, PAGE);
                for (const [n, { plan, rows }] of seen.entries()) {
                  const isPage = n >= before;
                  // As many as are passed over before a page is full, with a margin for an uneven distribution; or all.
                  const most =
                    isPage && selection.total > RARE
                      ? 10 * Math.ceil((PAGE.limit * CONTRACT_COUNT) / selection.total) + 4 * PAGE.limit
                      : 3 * CONTRACT_COUNT;
                  if (/SCAN contracts|AUTOMATIC/.test(plan)) found.push(`${filtered} by ${sort} ${order}: ${plan}`);
                  if (rows !== undefined && rows > most)
                    found.push(`${filtered} by ${sort} ${order}: ${rows} rows read, at most ${most} expected: ${plan}`);
                }
              });
        expect(found).to.deep.equal([]);
      });

      if (name === 'sqlite')
        it('matches that are far from the beginning of an order are gathered after a short walk, and are the same', async function () {
          this.timeout(180_000);
          const WALKED = 200;
          const [totals, cores] = [new Totals(), new ContractCores()];
          const found: string[] = [];
          const kinds = new Map<string, number>();
          await t.database.read(t.call, async (tx) => {
            await new ContractList(tx, t.call, { totals, cores }).select({});
            const dueSoon: ContractFilter = { dueWithin: [t.call.today, addDays(t.call.today, 150)] };
            for (const [filtered, filter] of Object.entries({ ...filters(), 'due in months': dueSoon }))
              for (const sort of CONTRACT_SORTS)
                for (const order of ['asc', 'desc'] as const)
                  for (const offset of [0, 60, 1_100]) {
                    const plans: string[] = [];
                    const list = new ContractList(explaining(tx, plans), t.call, { totals, cores, walked: WALKED });
                    const selection = await list.select(filter);
                    plans.length = 0;
                    const rows = await list.page(selection, { sort, order }, { offset, limit: 20 });
                    const all = await new ContractList(tx, t.call, { totals: new Totals(), cores }).page(
                      selection,
                      { sort, order },
                      { offset, limit: 20 },
                    );
                    const where = `${filtered} by ${sort} ${order} from ${offset}`;
                    if (JSON.stringify(rows) !== JSON.stringify(all)) found.push(where);
                    const [first = '', second] = plans.filter((plan) => plan.includes('CO-ROUTINE page'));
                    const kind = first.includes('CO-ROUTINE contracts')
                      ? second === undefined
                        ? 'near'
                        : 'far'
                      : 'all';
                    kinds.set(kind, (kinds.get(kind) ?? 0) + 1);
                    // The page itself is sorted, and nothing before it.
                    if (kind !== 'all' && first.split('TEMP B-TREE').length > 2) found.push(`${where}: ${first}`);
                    if (second !== undefined && !/contracts_(filtered|by_owner|by_subject)/.test(second))
                      found.push(`${where}: ${second}`);
                  }
            const far: string[] = [];
            const list = new ContractList(explaining(tx, far), t.call, { totals, cores, walked: WALKED });
            await list.page(
              await list.select({ dueBefore: t.call.today }),
              { sort: 'nextDueDate', order: 'desc' },
              { offset: 0, limit: 20 },
            );
            expect(far.slice(-2).map((plan) => plan.includes('CO-ROUTINE contracts'))).to.deep.equal([true, false]);
          });
          expect(found).to.deep.equal([]);
          expect(kinds.get('near'), 'near').to.be.above(30);
          expect(kinds.get('far'), 'far').to.be.above(30);
        });

      it('a common filter is checked in the order of the list, and nothing is sorted before the page', async () => {
        const plan = await pagePlan({ status: 'in_progress', dueBefore: t.call.today });
        expect(plan).to.match(/contracts_(filtered|by_created_at)/);
        expect(await pagePlan({ status: 'in_progress' }, { sort: 'endDate', order: 'asc' })).to.contain(
          'contracts_by_end_date',
        );
      });

      it('a distant page starts at its known position', async () => {
        const totals = new Totals();
        const far = (tx: Transaction, call: Call) => {
          const list = new ContractList(tx, call, { totals, cores: new ContractCores() });
          return list
            .select({})
            .then((selection) =>
              list.page(selection, { sort: 'createdAt', order: 'desc' }, { offset: 2_000, limit: 20 }),
            );
        };
        const [first, second] = await t.database.read(t.call, async (tx) => [
          await far(tx, t.call),
          await far(tx, t.call),
        ]);
        expect(second).to.deep.equal(first);
        const plan = (await plansOf(far)).at(-1) ?? '';
        expect(plan).to.match(
          name === 'sqlite'
            ? /contracts_by_created_at \(tenant_id=\? AND \(?created_at/
            : /Index Cond:.*ROW\(created_at, id\) <= ROW/,
        );
      });

      it('contracts of one owner, or of a subject company, are scanned in their own index', async () => {
        expect(await pagePlan({ ownerId: OWNERS[0] })).to.match(
          name === 'sqlite' ? /contracts_by_owner/ : /contracts_by_(owner|created_at)|contracts_filtered/,
        );
        expect(await pagePlan({}, {}, { ownerScope: OWNERS[0] ?? null })).to.match(
          /contracts_(filtered|by_(created_at|owner|superior))/,
        );
      });

      it('texts that match few contracts are found in the text index', async () => {
        for (const q of ['unicorn', '独角兽']) {
          const plan = await pagePlan({ q });
          expect(plan).to.contain(name === 'sqlite' ? 'SCAN s VIRTUAL TABLE INDEX' : 'contract_grams_by_gram');
          expect(plan).to.contain(
            name === 'sqlite' ? 'sqlite_autoindex_contracts_1 (tenant_id=? AND id=?)' : 'contracts_pkey',
          );
        }
      });

      it('texts that match many contracts are checked in the order of the list', async () => {
        const plan = await pagePlan({ q: 'ordinary words' });
        expect(plan).to.match(/contracts_(filtered|by_created_at)/);
        expect(plan).not.to.contain(name === 'sqlite' ? 'VIRTUAL TABLE' : 'contract_grams_by_gram');
      });

      it('both ways of searching find the same contracts', async () => {
        for (const q of ['unicorn', '独角兽', 'ORDINARY words 1', 'n-77', 'project 2', '0 独', 'nothing at all']) {
          const found = await t.database.read(t.call, async (tx) => {
            const search = await TextSearch.begin(tx, t.call.tenantId, q);
            const ids = async ({ sql, values }: Fragment) =>
              (
                await tx.all(`SELECT id FROM contracts WHERE tenant_id = ? AND ${sql} ORDER BY id`, [
                  t.call.tenantId,
                  ...values,
                ])
              ).map(({ id }) => id);
            return {
              byIndex: await ids(search.byIndex()),
              inOrder: await ids(search.inOrder()),
              total: Number((await only(tx, search.total().sql, search.total().values))['total']),
            };
          });
          expect(found.byIndex, q).to.deep.equal(found.inOrder);
          expect(found.total, q).to.equal(found.inOrder.length);
        }
      });

      it('both ways of finding what is due on some days find the same contracts', async () => {
        const { today } = t.call;
        for (const [from, to] of [
          [0, 0],
          [0, 7],
          [-60, 30],
          [0, 300],
        ] as const) {
          const found = await t.database.read(t.call, async (tx) => {
            const list = new ContractList(tx, t.call, { totals: new Totals(), cores: new ContractCores() });
            const { where, byLines, total } = await list.select({
              dueWithin: [addDays(today, from), addDays(today, to)],
            });
            const ids = async (condition: Fragment) =>
              (await tx.all(`SELECT id FROM contracts WHERE ${condition.sql} ORDER BY id`, [...condition.values])).map(
                ({ id }) => id,
              );
            return { one: await ids(where), other: await ids(byLines), total };
          });
          expect(found.one).to.have.length(found.total).and.not.be.empty;
          expect(found.other).to.deep.equal(found.one);
        }
      });

      it('among many overdue contracts, those due soon are found by their lines', async () => {
        const dueWithin = [t.call.today, addDays(t.call.today, 150)] as const;
        const plan = await pagePlan({ dueWithin }, { sort: 'endDate', order: 'asc' });
        if (name === 'sqlite') expect(plan).to.contain('lines_by_state').and.not.to.contain('lines_by_contract');
        else expect(plan).not.to.contain('SubPlan');
      });

      it('one contract with its lines, terms and notes is read by key', async () => {
        const plans = await plansOf(async (tx, call) => {
          const store = new ContractStore(tx, call, { recorder: new ChangeRecorder(), rollupDelta: new RollupDelta() });
          const id = newId();
          await store.find(id);
          await new LineStore(tx, call, { recorder: new ChangeRecorder(), rollupDelta: new RollupDelta() }).ofContract(
            id,
          );
          await store.terms(id);
          await store.notes(id);
          await store.holderOf({ contractKey: 'n-5' });
          await store.holderOf({ archiveKey: 'a-5' });
          await store.hasReceipts(id);
        });
        const indexes = [
          name === 'sqlite' ? 'sqlite_autoindex_contracts_1' : 'contracts_pkey',
          'lines_by_contract',
          'terms_by_contract',
          'notes_by_contract',
          'contracts_contract_no',
          'contracts_archive_code',
          'lines_by_contract',
        ];
        expect(plans).to.have.length(indexes.length);
        for (const [i, index] of indexes.entries())
          if (!(name === 'postgres' && plans[i]?.includes('Seq Scan'))) expect(plans[i]).to.contain(index);
      });

      it('the contract of a payment line, and its lines are read by key', async () => {
        const plans = await plansOf(async (tx, call) => {
          const parts = { recorder: new ChangeRecorder(), rollupDelta: new RollupDelta() };
          const id = newId();
          if (name === 'sqlite') await new ContractStore(tx, call, parts).holdOfLine(id); // locks, which a reader must not
          await new LineStore(tx, call, parts).besides(id);
        });
        const [pkey, byContract] = [
          name === 'sqlite' ? 'sqlite_autoindex_payment_lines_1' : 'payment_lines_pkey',
          'lines_by_contract',
        ];
        expect(plans.at(-1)).to.contain(byContract).and.to.contain(pkey);
        if (name === 'sqlite') expect(plans[0]).to.contain('sqlite_autoindex_contracts_1').and.to.contain(pkey);
      });

      it('the trash is scanned in its own index', async () => {
        const plans = await plansOf((tx, call) => new TrashStore(tx, call).page(0, { page: 1, pageSize: 20 }));
        expect(plans).to.have.length(2);
        for (const plan of plans) expect(plan).to.contain('contracts_in_trash').and.not.to.contain(SORTING);
      });

      it('the open lines of a page are found by their contracts', async () => {
        const plans = await plansOf(async (tx, call) => {
          const list = new ContractList(tx, call, { totals: new Totals(), cores: new ContractCores() });
          const rows = await list.page(
            await list.select({ dueBefore: call.today }),
            { sort: 'createdAt', order: 'desc' },
            PAGE,
          );
          expect(rows).to.have.length(20);
          expect([...(await list.dueLines(rows, call.today)).keys()].toSorted()).to.deep.equal(
            rows.map(({ id }) => id).toSorted(),
          );
        });
        expect(plans.at(-1)).to.contain('lines_by_contract');
      });

      it('so they are when the statistics, which may be older, know no line that is due', async () => {
        const nextDueDate = '2001-01-01';
        const plans = await plansOf(async (tx, call) => {
          const list = new ContractList(tx, call, { totals: new Totals(), cores: new ContractCores() });
          const rows = await list.page(await list.select({}), { sort: 'createdAt', order: 'desc' }, PAGE);
          const due = rows.map(({ id }) => ({ id, nextDueDate }));
          expect((await list.dueLines(due, nextDueDate)).size).to.equal(0);
        });
        expect(plans.at(-1)).to.contain('lines_by_contract').and.not.to.contain('lines_by_state');
      });

      it('the matches of a rare filter are collected, then sorted', async () => {
        expect(await pagePlan({ statusCode: 'rare' }, { sort: 'endDate' })).to.contain(SORTING);
      });

      if (name === 'sqlite')
        it('so are those of a filter with more matches, for one of its last pages', async () => {
          const filter: ContractFilter = { ownerId: OWNERS[0] };
          expect(await pagePlan(filter, { sort: 'endDate' })).to.contain('contracts_by_end_date');
          expect(await pagePlan(filter, { sort: 'endDate', offset: 900 })).to.contain('contracts_by_owner');
        });
    },
    { only: ['sqlite', 'postgres'] },
  );
});

async function only(tx: Transaction, sql: string, values: readonly Value[]): Promise<Row> {
  const row = await tx.get(sql, values);
  if (!row) throw new Error('nothing was found');
  return row;
}
