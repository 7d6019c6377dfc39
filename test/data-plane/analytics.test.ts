import { expect } from 'chai';
import fc from 'fast-check';
import { todayIn } from '../../data-plane-agent/base/day.js';
import { newId } from '../../data-plane-agent/base/ids.js';
import { contractStep, EVERY_CONTROL, PEOPLE, SUBJECTS, walk } from '../support/contract-walk.js';
import { failureOf } from '../support/failures.js';
import {
  naiveCashflow,
  naiveDistribution,
  naiveStats,
  naiveSummary,
  shownTo,
  withoutLabels,
} from '../support/naive-figures.js';
import { forEachPlane } from '../support/plane.js';
import { aContract, aLine } from '../support/samples.js';

/** Today is 15 March 2026. */
const ALL = { subjectId: null, displayCurrency: 'CNY' };

describe('analytics', () => {
  forEachPlane((name, makePlane) => {
    it('are zero for a tenant without contracts, and ratios are null', async () => {
      const { plane } = makePlane();
      const summary = await plane.getAnalyticsSummary(ALL);
      expect(summary).to.include({
        asOf: '2026-03-15',
        timezone: 'Asia/Shanghai',
        subjectId: null,
        currencyCode: 'CNY',
        contractCount: 0,
        outstandingAmount: 0,
        collectionRate: null,
        dso: null,
        cei: null,
        avgDaysLate: null,
      });
      expect(summary.aging.map(({ bucket, count, amount }) => [bucket, count, amount])).to.deep.equal([
        ['not_due', 0, 0],
        ['d1_30', 0, 0],
        ['d31_60', 0, 0],
        ['d61_90', 0, 0],
        ['d90_plus', 0, 0],
      ]);
      expect([summary.byCurrency, summary.excludedCurrencies]).to.deep.equal([[], []]);
      const { series, byCurrency, from, to } = await plane.getAnalyticsCashflow(ALL);
      expect([series.length, series[0]?.period, series[11]?.period, from, to, byCurrency]).to.deep.equal([
        12,
        '2025-10',
        '2026-09',
        '2025-10-01',
        '2026-09-30',
        [],
      ]);
      expect((await plane.getAnalyticsDistribution(ALL)).byType).to.deep.equal([
        { key: 'sale', label: 'Sale', count: 0, amount: 0, outstandingAmount: 0, share: null },
        { key: 'lease', label: 'Lease', count: 0, amount: 0, outstandingAmount: 0, share: null },
      ]);
    });

    it('assign a line to one age group, and to the next one a day later', async () => {
      const { plane } = makePlane();
      const ages = [
        '2026-03-16',
        '2026-03-15',
        '2026-03-14',
        '2026-02-13',
        '2026-02-12',
        '2026-01-14',
        '2026-01-13',
        '2025-12-15',
        '2025-12-14',
      ];
      await plane.createContract(
        aContract({ payments: ages.map((dueDate, n) => aLine({ period: `P${n}`, dueDate, amount: 10 ** (n - 2) })) }),
      );
      const { aging, outstandingAmount, atRiskAmount, overdueAmount, overdueCount } =
        await plane.getAnalyticsSummary(ALL);
      expect(aging.map(({ count, amount }) => [count, amount])).to.deep.equal([
        [2, 0.11],
        [2, 11],
        [2, 1_100],
        [2, 110_000],
        [1, 1_000_000],
      ]);
      expect({ outstandingAmount, atRiskAmount, overdueAmount, overdueCount }).to.deep.equal({
        outstandingAmount: 1_111_111.11,
        atRiskAmount: 1_000_000,
        overdueAmount: 1_111_111,
        overdueCount: 7,
      });
    });

    it('compute ratios as specified', async () => {
      const { plane } = makePlane();
      // Due and paid on time, paid late, half paid; and one not yet due.
      await plane.createContract(
        aContract({
          payments: [
            aLine({
              period: 'early',
              dueDate: '2026-01-10',
              amount: 300,
              receivedAmount: 300,
              receivedDate: '2026-01-09',
            }),
            aLine({
              period: 'late',
              dueDate: '2026-02-01',
              amount: 100,
              receivedAmount: 100,
              receivedDate: '2026-02-21',
            }),
            aLine({
              period: 'half',
              dueDate: '2026-03-01',
              amount: 200,
              receivedAmount: 100,
              receivedDate: '2026-03-02',
            }),
            aLine({ period: 'next', dueDate: '2026-04-01', amount: 400 }),
            aLine({
              period: 'long ago',
              dueDate: '2025-01-01',
              amount: 50,
              receivedAmount: 60,
              receivedDate: '2025-01-11',
            }),
          ],
        }),
      );
      const summary = await plane.getAnalyticsSummary(ALL);
      expect(summary).to.include({
        outstandingAmount: 500,
        collectionRate: 0.8462, // 550 of 650
        dso: 75, // 500 ÷ 600 × 90: nothing is invoiced, so due amounts count, including those that fall due later
        cei: 83.3333, // 500 received, 100 overdue
        avgDaysLate: 5.5556, // (20 × 100 + 10 × 50) ÷ 450
      });
    });

    it('count invoiced amounts less red letters as billed, or due amounts if nothing is invoiced', async () => {
      const { plane } = makePlane();
      const { id, payments } = await plane.createContract(
        aContract({ payments: [aLine({ dueDate: '2026-03-01', amount: 900 })] }),
      );
      const post = (invoiceNo: string, status: 'issued' | 'red_letter', invoiceAmount: number, invoiceDate: string) =>
        plane.addInvoice({
          contractId: id,
          receivablePlanId: payments[0]?.id ?? '',
          invoiceNo,
          invoiceAmount,
          invoiceDate,
          status,
        });
      await post('B-1', 'issued', 500, '2025-12-16');
      await post('B-2', 'issued', 600, '2026-02-10');
      await post('B-2-R', 'red_letter', 150, '2026-03-10');
      expect(await plane.getAnalyticsSummary(ALL)).to.include({
        invoicedAmount: 950,
        uninvoicedAmount: 0,
        dso: 85.2632,
      }); // 900 ÷ 950 × 90
      await post('B-1-R', 'red_letter', 500, '2026-03-11');
      expect(await plane.getAnalyticsSummary(ALL)).to.include({ invoicedAmount: 450, uninvoicedAmount: 450, dso: 180 });
      await post('B-2-R2', 'red_letter', 450, '2026-03-12');
      expect(await plane.getAnalyticsSummary(ALL)).to.include({ invoicedAmount: 0, dso: 90 });
      const { series } = await plane.getAnalyticsCashflow(ALL);
      expect(series.slice(2, 6).map(({ period, invoicedAmount }) => [period, invoicedAmount])).to.deep.equal([
        ['2025-12', 500],
        ['2026-01', 0],
        ['2026-02', 600],
        ['2026-03', -1_100],
      ]);
    });

    it('state a DSO of up to 999 days, and none above or if nothing was billed in the last 90 days', async () => {
      const { plane } = makePlane();
      const { id } = await plane.createContract(
        aContract({ payments: [aLine({ dueDate: '2026-07-01', amount: 999 })] }),
      );
      const dsoOf = async () => (await plane.getAnalyticsSummary(ALL)).dso;
      expect(await dsoOf()).to.equal(null);
      const invoice = { contractId: id, invoiceDate: '2026-03-01', status: 'issued' } as const;
      await plane.addInvoice({ ...invoice, invoiceNo: 'B-1', invoiceAmount: 89.99 });
      const { dso, byCurrency, outstandingAmount } = await plane.getAnalyticsSummary(ALL);
      expect([dso, byCurrency[0]?.dso, outstandingAmount]).to.deep.equal([null, null, 999]);
      await plane.addInvoice({ ...invoice, invoiceNo: 'B-2', invoiceAmount: 0.01 });
      expect(await dsoOf()).to.equal(999);
    });

    it('record a correction in the month in which it is made, and leave the previous month unchanged', async () => {
      const { plane } = makePlane();
      const { payments } = await plane.createContract(
        aContract({
          payments: [aLine({ dueDate: '2026-01-20', amount: 100, receivedAmount: 100, receivedDate: '2026-01-20' })],
        }),
      );
      await plane.recordReceipt({ paymentId: payments[0]?.id ?? '', receivedAmount: 70 });
      const { series } = await plane.getAnalyticsCashflow(ALL);
      expect(series.filter(({ period }) => ['2026-01', '2026-03'].includes(period))).to.deep.equal([
        {
          period: '2026-01',
          expectedAmount: 100,
          receivedAmount: 100,
          invoicedAmount: 0,
          outstandingAmount: 30,
          overdueAmount: 30,
        },
        {
          period: '2026-03',
          expectedAmount: 0,
          receivedAmount: -30,
          invoicedAmount: 0,
          outstandingAmount: 0,
          overdueAmount: 0,
        },
      ]);
    });

    it('give top-level amounts in the requested currency, and list the others', async () => {
      const { plane } = makePlane();
      await plane.createContract(
        aContract({
          currencyCode: 'JPY',
          totalAmount: 5_000,
          payments: [aLine({ amount: 3_000 }), aLine({ period: 'kwd', amount: 1.005, currencyCode: 'KWD' })],
        }),
      );
      const summary = await plane.getAnalyticsSummary({ subjectId: null, displayCurrency: 'JPY' });
      expect(summary).to.deep.include({
        currencyCode: 'JPY',
        excludedCurrencies: ['KWD'],
        contractCount: 1,
        contractAmount: 5_000,
        outstandingAmount: 3_000,
        overdueCount: 0,
      });
      expect(
        summary.byCurrency.map(({ currencyCode, contractCount, contractAmount, outstandingAmount }) => [
          currencyCode,
          contractCount,
          contractAmount,
          outstandingAmount,
        ]),
      ).to.deep.equal([
        ['JPY', 1, 5_000, 3_000],
        ['KWD', 0, 0, 1.005],
      ]);
      expect(summary.aging[0]).to.deep.equal({ bucket: 'not_due', count: 2, amount: 3_000 });
      expect(await plane.getAnalyticsSummary(ALL)).to.deep.include({
        excludedCurrencies: ['JPY', 'KWD'],
        contractCount: 1,
        contractAmount: 0,
        outstandingAmount: 0,
      });
      const { byType, byCurrency } = await plane.getAnalyticsDistribution({ subjectId: null, displayCurrency: 'KWD' });
      expect(byType[0]).to.deep.equal({
        key: 'sale',
        label: 'Sale',
        count: 1,
        amount: 0,
        outstandingAmount: 1.005,
        share: 1,
      });
      expect(byCurrency.map(({ currencyCode, byAging }) => [currencyCode, byAging[0]?.amount])).to.deep.equal([
        ['JPY', 3_000],
        ['KWD', 1.005],
      ]);
    });

    it('list the hundred largest of many owners, and sum the others', async function () {
      this.timeout(180_000);
      const { plane, as } = makePlane();
      await Promise.all(Array.from({ length: 103 }, (_, n) => plane.createContract(aContract({ totalAmount: n + 1 }))));
      const { byOwner, bySubject } = await plane.getAnalyticsDistribution(ALL);
      expect(byOwner.map(({ amount }) => amount)).to.deep.equal([...Array.from({ length: 100 }, (_, n) => 103 - n), 6]);
      expect(byOwner[100]).to.deep.equal({
        key: 'other',
        label: 'Other',
        count: 3,
        amount: 6,
        outstandingAmount: 0,
        share: 0.0011,
      });
      expect(bySubject).to.have.length(101);
      expect((await as({ language: 'zh-CN' }).getAnalyticsDistribution(ALL)).byOwner[100]?.label).to.equal('其他');
    });

    it('count only what the caller may see, and reject a subject company outside of that', async () => {
      const [seen, hidden, owner] = [newId(), newId(), newId()];
      const { plane, as } = makePlane();
      await plane.createContract(aContract({ subjectId: seen, totalAmount: 1, payments: [aLine({ amount: 1 })] }));
      await plane.createContract(
        aContract({ subjectId: hidden, ownerId: owner, totalAmount: 2, payments: [aLine({ amount: 2 })] }),
      );
      const sees = async (caller: typeof plane, subjectId: string | null = null) => {
        const [summary, flow, parts] = [
          await caller.getAnalyticsSummary({ ...ALL, subjectId }),
          await caller.getAnalyticsCashflow({ ...ALL, subjectId }),
          await caller.getAnalyticsDistribution({ ...ALL, subjectId }),
        ];
        return [
          summary.outstandingAmount,
          summary.contractAmount,
          flow.series[6]?.expectedAmount,
          parts.byType[0]?.amount,
          parts.byAging[0]?.amount,
        ];
      };
      const of = (n: number) => [n, n, n, n, n];
      expect(await sees(plane)).to.deep.equal(of(3));
      expect(await sees(plane, hidden)).to.deep.equal(of(2));
      expect(await sees(as({ subjectScope: [seen] }))).to.deep.equal(of(1));
      expect(await sees(as({ subjectScope: [] }))).to.deep.equal(of(0));
      expect(await sees(as({ ownerScope: owner }))).to.deep.equal(of(2));
      expect(await sees(as({ ownerScope: owner, subjectScope: [seen] }))).to.deep.equal(of(0));
      expect(await sees(as({ tenantId: newId() }))).to.deep.equal(of(0));
      for (const ask of ['getAnalyticsSummary', 'getAnalyticsCashflow', 'getAnalyticsDistribution'] as const) {
        expect(await failureOf(as({ subjectScope: [seen] })[ask]({ ...ALL, subjectId: hidden }))).to.include({
          code: 'NOT_FOUND',
        });
        expect(await failureOf(plane[ask]({ ...ALL, subjectId: 'no id' }))).to.include({ code: 'NOT_FOUND' });
      }
    });

    it('equal the sums of the lists, in any time zone, on any day, for any caller', async function () {
      this.timeout(240_000);
      await fc.assert(
        fc.asyncProperty(
          fc.array(contractStep, { minLength: 1, maxLength: 14 }),
          question,
          async (steps, { timeZone, now, lead, displayCurrency, ...asked }) => {
            const today = todayIn(timeZone, now);
            const test = makePlane({ timeZone, today, reminderLeadDays: lead, controls: EVERY_CONTROL });
            await walk(test, steps);
            const caller = test.as({ subjectScope: asked.subjectScope, ownerScope: asked.ownerScope });
            const subjectId =
              asked.subjectScope === null || (asked.subjectId !== null && asked.subjectScope.includes(asked.subjectId))
                ? asked.subjectId
                : null;
            const asks = { today, lead, timeZone, subjectId, displayCurrency };
            const shown = await shownTo(caller, subjectId);
            const summary = await caller.getAnalyticsSummary({ subjectId, displayCurrency });
            expect(summary).to.deep.equal(naiveSummary(shown, asks));
            expect(await caller.getAnalyticsCashflow({ subjectId, displayCurrency })).to.deep.equal(
              naiveCashflow(shown, asks),
            );
            expect(withoutLabels(await caller.getAnalyticsDistribution({ subjectId, displayCurrency }))).to.deep.equal(
              naiveDistribution(shown, asks),
            );
            const all = subjectId === null ? shown : await shownTo(caller);
            const stats = await caller.getPaymentStats({});
            expect(stats).to.deep.equal(naiveStats(all, { today, lead, currency: 'CNY' }));
            for (const tab of ['due', 'overdue', 'reconcile', 'invoice', 'all'] as const)
              expect((await caller.listPayments({ tab })).total, tab).to.equal(stats.counts[tab]);
          },
        ),
        { numRuns: { sqlite: 80, postgres: 20, remote: 12 }[name] },
      );
    });
  });
});

const question = fc.record({
  // `Etc/GMT+12` is twelve hours behind UTC, `Etc/GMT-14` fourteen ahead.
  timeZone: fc
    .integer({ min: -14, max: 12 })
    .map((west) => (west === 0 ? 'Etc/GMT' : `Etc/GMT${west > 0 ? '+' : ''}${west}`)),
  now: fc.oneof(
    fc.integer({ min: Date.UTC(2024, 1, 27), max: Date.UTC(2027, 2, 2) }),
    fc.constantFrom(Date.UTC(2024, 1, 29), Date.UTC(2025, 11, 31), Date.UTC(2026, 0, 1)),
  ),
  lead: fc.integer({ min: 0, max: 90 }),
  displayCurrency: fc.constantFrom('CNY', 'JPY', 'KWD', 'EUR'),
  subjectScope: fc.option(fc.subarray([...SUBJECTS])),
  ownerScope: fc.option(fc.constantFrom(...PEOPLE)),
  subjectId: fc.option(fc.constantFrom(...SUBJECTS)),
});
