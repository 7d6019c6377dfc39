import { expect } from 'chai';
import fc from 'fast-check';
import { newId } from '../../data-plane-agent/base/ids.js';
import type { PaymentLineInput } from '../../data-plane-agent/plane/contract/records/lines.js';
import { PAYMENT_TABS, type PaymentTab } from '../../data-plane-agent/plane/contract/vocabulary.js';
import { forEachPlane, type TestPlane } from '../support/plane.js';
import { badFields, failureOf } from '../support/failures.js';
import { aContract, aLine } from '../support/samples.js';

// The calls run on 2026-03-15.
const YESTERDAY = '2026-03-14';
const TODAY = '2026-03-15';

describe('the list of payment lines', () => {
  forEachPlane((_name, makePlane) => {
    it("contains exactly the lines of a tab's window, in order", async () => {
      const test = makePlane();
      await enter(test, [
        { period: 'later', dueDate: '2027-01-01', amount: 10, invoiceAmount: 10 },
        {
          period: 'today',
          dueDate: TODAY,
          amount: 10,
          receivedAmount: 4,
          receivedDate: '2026-03-01',
          invoiceAmount: 9.99,
        },
        {
          period: 'yesterday',
          dueDate: YESTERDAY,
          amount: 10,
          receivedAmount: 5,
          receivedDate: '2026-03-02',
          reconciliationStatus: 'matched',
          invoiceAmount: 11,
        },
        { period: 'long ago', dueDate: '2020-01-01', amount: 10 },
        {
          period: 'paid',
          dueDate: YESTERDAY,
          amount: 10,
          receivedAmount: 10,
          receivedDate: '2026-03-03',
          invoiceAmount: 10,
        },
        {
          period: 'overpaid',
          dueDate: '2026-01-01',
          amount: 10,
          receivedAmount: 12,
          receivedDate: '2026-02-01',
          invoiceAmount: 10,
        },
        { period: 'free', dueDate: '2026-01-02', amount: 0 },
      ]);
      expect(await periods(test, 'due')).to.deep.equal(['today', 'later']);
      expect(await periods(test, 'overdue')).to.deep.equal(['long ago', 'yesterday']);
      expect(await periods(test, 'reconcile')).to.deep.equal(['paid', 'today', 'overpaid']);
      expect(await periods(test, 'invoice')).to.deep.equal(['long ago', 'today']);
      expect(await periods(test, 'all')).to.deep.equal([
        'long ago',
        'overpaid',
        'free',
        'yesterday',
        'paid',
        'today',
        'later',
      ]);
      expect(
        (await test.plane.listPayments({})).items.map(({ period }) => period),
        '`due` is the default',
      ).to.deep.equal(['today', 'later']);
    });

    it('names the contract of each row', async () => {
      const test = makePlane();
      const contract = await test.plane.createContract(aContract({ payments: [aLine()] }));
      const { contractNo, projectName, partyA, partyB, subjectId, ownerId, payments } = contract;
      expect((await test.plane.listPayments({})).items).to.deep.equal([
        { ...payments[0], contractNo, projectName, partyA, partyB, subjectId, ownerId },
      ]);
    });

    it('has pages without gaps or duplicates, and an empty one past the end', async () => {
      const test = makePlane();
      await enter(
        test,
        Array.from({ length: 7 }, (_, n) => ({ period: `P${n}`, dueDate: TODAY })),
      );
      const pages = await Promise.all(
        [1, 2, 3, 4].map((page) => test.plane.listPayments({ tab: 'due', page, pageSize: 3 })),
      );
      expect(pages.map(({ items }) => items.length)).to.deep.equal([3, 3, 1, 0]);
      for (const { total, pageCount, pageSize } of pages)
        expect({ total, pageCount, pageSize }).to.deep.equal({ total: 7, pageCount: 3, pageSize: 3 });
      const ids = pages.flatMap(({ items }) => items.map(({ id }) => id));
      expect(ids).to.deep.equal([...new Set(ids)].toSorted());
      expect(await makePlane().plane.listPayments({})).to.deep.equal({
        items: [],
        page: 1,
        pageSize: 20,
        total: 0,
        pageCount: 0,
      });
    });

    it('has an exact total after each write, which follows the day', async () => {
      const test = makePlane();
      const [line] = await enter(test, [
        { dueDate: TODAY, amount: 10 },
        { dueDate: TODAY, amount: 10 },
      ]);
      const total = async (call = {}) => (await test.as(call).listPayments({ tab: 'due' })).total;
      expect(await total()).to.equal(2);
      await test.plane.recordReceipt({ paymentId: line?.id ?? '', receivedAmount: 10 });
      expect(await total()).to.equal(1);
      expect(await total({ today: '2026-03-16' })).to.equal(0);
      await test.plane.addPaymentLine({ contractId: line?.contractId ?? '', ...aLine() });
      expect(await total()).to.equal(2);
    });

    it('is filtered by contract and by subject company', async () => {
      const test = makePlane();
      const [first] = await enter(test, [{ period: 'mine' }]);
      await enter(test, [{ period: 'other' }]);
      const { contractId = '' } = first ?? {};
      const { subjectId } = await test.plane.getContract({ contractId });
      for (const filter of [{ contractId }, { subjectId }, { contractId, subjectId }]) {
        const { items, total } = await test.plane.listPayments({ tab: 'all', ...filter });
        expect({ total, periods: items.map(({ period }) => period) }).to.deep.equal({ total: 1, periods: ['mine'] });
      }
      expect(await test.plane.listPayments({ tab: 'all', contractId, subjectId: newId() })).to.include({ total: 0 });
      expect(await test.as({ subjectScope: [subjectId] }).listPayments({ tab: 'all' })).to.include({ total: 1 });
    });

    it('treats a filter by an invisible record like one by a missing record', async () => {
      const test = makePlane();
      const [line] = await enter(test, [{}]);
      const { contractId = '' } = line ?? {};
      const { subjectId } = await test.plane.getContract({ contractId });
      const narrow = test.as({ subjectScope: [newId()] });
      for (const query of [{ contractId }, { subjectId }])
        expect(await failureOf(narrow.listPayments(query))).to.deep.equal({ code: 'NOT_FOUND', details: {} });
      for (const query of [{ contractId: newId() }, { contractId: 'no-id' }, { subjectId: 'no-id' }]) {
        expect(await failureOf(test.plane.listPayments(query))).to.deep.equal({ code: 'NOT_FOUND', details: {} });
      }
    });

    it('includes removed lines on request, and only within the scope', async () => {
      const test = makePlane();
      const [line] = await enter(test, [
        { period: 'gone', dueDate: TODAY },
        { period: 'here', dueDate: TODAY },
      ]);
      await test.plane.deletePaymentLine({ paymentId: line?.id ?? '' });
      expect(await periods(test, 'due')).to.deep.equal(['here']);
      const { items } = await test.plane.listPayments({ tab: 'due', includeDeleted: true });
      expect(items.map(({ period, deletedAt }) => ({ period, deletedAt }))).to.deep.equal([
        { period: 'gone', deletedAt: '2026-03-15T08:00:00.000Z' },
        { period: 'here', deletedAt: null },
      ]);
      expect(await test.as({ subjectScope: [newId()] }).listPayments({ tab: 'all', includeDeleted: true })).to.include({
        total: 0,
      });
      expect(await test.as({ tenantId: newId() }).listPayments({ tab: 'all', includeDeleted: true })).to.include({
        total: 0,
      });
    });

    it('includes lines of a deleted contract on request, with their receipts', async () => {
      const test = makePlane();
      const [line] = await enter(test, [{ period: 'gone', amount: 10, receivedAmount: 3 }]);
      const { contractId = '', id: paymentId = '' } = line ?? {};
      await test.plane.deleteContract({ contractId });
      expect(await periods(test, 'all')).to.deep.equal([]);
      expect(await failureOf(test.plane.listPayments({ contractId }))).to.include({ code: 'NOT_FOUND' });
      expect(
        (await test.plane.listPayments({ tab: 'all', contractId, includeDeleted: true })).items.map(
          ({ period }) => period,
        ),
      ).to.deep.equal(['gone']);
      expect(await test.plane.listReceipts({ paymentId })).to.include({ total: 1 });
      expect(await failureOf(test.plane.recordReceipt({ paymentId, receivedAmount: 4 }))).to.include({
        code: 'NOT_FOUND',
      });
      expect((await test.plane.getPaymentStats({})).counts.all).to.equal(0);
    });

    it('reports invalid parameters by name', async () => {
      const { plane } = makePlane();
      const query = { tab: 'soon' as PaymentTab, page: 0, pageSize: 201 };
      expect(await badFields(plane.listPayments(query))).to.have.all.keys('tab', 'page', 'pageSize');
    });

    it('equals a naive filter over random contracts, on every tab and page, with and without a scope', async () => {
      await fc.assert(
        fc.asyncProperty(
          fc.array(randomLine, { minLength: 1, maxLength: 15 }),
          fc.constantFrom(...PAYMENT_TABS),
          fc.integer({ min: 1, max: 4 }),
          fc.boolean(),
          async (lines, tab, pageSize, isScoped) => {
            const test = makePlane();
            const entered = await enter(test, lines);
            const made = entered.filter((line) => belongs(line, tab));
            const { subjectId } = await test.plane.getContract({ contractId: entered[0]?.contractId ?? '' });
            if (isScoped) await enter(test, lines); // of another subject company
            const reader = isScoped ? test.as({ subjectScope: [subjectId] }) : test.plane;
            const expected = made
              .toSorted((a, b) => (tab === 'reconcile' ? -compare(a, b, 'receivedDate') : compare(a, b, 'dueDate')))
              .map(({ id }) => id);
            const listed: string[] = [];
            for (let page = 1; page <= Math.ceil(expected.length / pageSize) + 1; page++) {
              const { items, total } = await reader.listPayments({ tab, page, pageSize });
              expect(total).to.equal(expected.length);
              listed.push(...items.map(({ id }) => id));
            }
            expect(listed).to.deep.equal(expected);
          },
        ),
        { numRuns: 30 },
      );
    });
  });
});

type Made = Awaited<ReturnType<typeof enter>>[number];

/** A contract with these lines. */
async function enter({ plane }: Pick<TestPlane, 'plane'>, lines: readonly Partial<PaymentLineInput>[]) {
  const { payments } = await plane.createContract(aContract({ payments: lines.map((line) => aLine(line)) }));
  const ids = payments.map(({ id }) => id).toSorted(); // ids increase in the order of creation
  return ids.flatMap((id) => payments.filter((line) => line.id === id));
}

const periods = async ({ plane }: Pick<TestPlane, 'plane'>, tab: PaymentTab): Promise<string[]> =>
  (await plane.listPayments({ tab })).items.map(({ period }) => period);

const amount = fc.integer({ min: 0, max: 3 });
const randomLine = fc.record({
  amount,
  receivedAmount: amount,
  invoiceAmount: amount,
  dueDate: fc.constantFrom('2026-02-01', YESTERDAY, TODAY, '2026-03-16', '2027-01-01'),
  receivedDate: fc.constantFrom('2026-01-01', '2026-02-01', '2026-03-01'),
});

function belongs(
  { amount, receivedAmount, invoicedAmount, dueDate, reconciliationStatus }: Made,
  tab: PaymentTab,
): boolean {
  const open = amount > receivedAmount;
  return {
    due: open && dueDate >= TODAY,
    overdue: open && dueDate < TODAY,
    reconcile: receivedAmount > 0 && reconciliationStatus !== 'matched',
    invoice: invoicedAmount < amount,
    all: true,
  }[tab];
}

/** By the day, then by the id. */
function compare(a: Made, b: Made, day: 'dueDate' | 'receivedDate'): number {
  const [left, right] = [`${a[day]}${a.id}`, `${b[day]}${b.id}`];
  return left < right ? -1 : left > right ? 1 : 0;
}
