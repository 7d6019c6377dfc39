import { expect } from 'chai';
import fc from 'fast-check';
import { addDays, todayIn, type Day } from '../../data-plane-agent/base/day.js';
import { newId } from '../../data-plane-agent/base/ids.js';
import { decimalsOf } from '../../data-plane-agent/base/money.js';
import { forEachPlane } from '../support/plane.js';
import { aContract, aLine } from '../support/samples.js';

describe('payment statistics', () => {
  forEachPlane((_name, makePlane) => {
    it('have no currencies and zero amounts for a tenant without contracts', async () => {
      const none = { amount: 0, received: 0, outstanding: 0, overdue: 0, dueSoon: 0, uninvoiced: 0 };
      const counts = {
        due: 0,
        overdue: 0,
        dueSoon: 0,
        reconcile: 0,
        invoice: 0,
        paid: 0,
        partial: 0,
        unpaid: 0,
        all: 0,
      };
      expect(await makePlane().plane.getPaymentStats({})).to.deep.equal({
        asOf: '2026-03-15',
        counts,
        byCurrency: [],
        ...none,
      });
    });

    it("count lines in all currencies, and sum top-level amounts in the tenant's currency only", async () => {
      const { plane, as } = makePlane();
      await plane.createContract(
        aContract({
          payments: [
            aLine({ amount: 100.1, dueDate: '2026-03-14', receivedAmount: 0.2 }),
            aLine({ amount: 50, dueDate: '2026-03-22', invoiceAmount: 20 }),
            aLine({ amount: 7, receivedAmount: 9 }),
          ],
        }),
      );
      await plane.createContract(
        aContract({ currencyCode: 'JPY', payments: [aLine({ amount: 1000, dueDate: '2026-03-23' })] }),
      );
      const yuan = { amount: 157.1, received: 9.2, outstanding: 149.9, overdue: 99.9, dueSoon: 50, uninvoiced: 137.1 };
      const yen = { amount: 1000, received: 0, outstanding: 1000, overdue: 0, dueSoon: 0, uninvoiced: 1000 };
      const stats = await plane.getPaymentStats({});
      expect(stats).to.deep.equal({
        asOf: '2026-03-15',
        counts: { due: 2, overdue: 1, dueSoon: 1, reconcile: 2, invoice: 4, paid: 1, partial: 1, unpaid: 2, all: 4 },
        byCurrency: [
          { currencyCode: 'CNY', ...yuan },
          { currencyCode: 'JPY', ...yen },
        ],
        ...yuan,
      });
      expect(await as({ currencyCode: 'JPY' }).getPaymentStats({})).to.deep.include({ counts: stats.counts, ...yen });
      expect(await as({ currencyCode: 'EUR' }).getPaymentStats({})).to.include({ amount: 0 });
      expect(await as({ reminderLeadDays: 8 }).getPaymentStats({})).to.deep.include({
        counts: { ...stats.counts, dueSoon: 2 },
      });
    });

    it('count only what the caller may see', async () => {
      const [seen, owner] = [newId(), newId()];
      const { plane, as } = makePlane();
      await plane.createContract(aContract({ subjectId: seen, payments: [aLine({ amount: 1 })] }));
      await plane.createContract(aContract({ ownerId: owner, payments: [aLine({ amount: 2 })] }));
      expect(await plane.getPaymentStats({})).to.include({ amount: 3 });
      expect(await as({ subjectScope: [seen] }).getPaymentStats({})).to.include({ amount: 1 });
      expect(await as({ ownerScope: owner }).getPaymentStats({})).to.include({ amount: 2 });
      expect(await as({ subjectScope: [seen], ownerScope: owner }).getPaymentStats({})).to.include({ amount: 0 });
    });

    it('return the nearest number for sums beyond the exact range', async () => {
      const { plane } = makePlane();
      // The cap of a contract does not apply to lines in another currency: 1 100 of them overflow SQLite's sum.
      await plane.createContract(
        aContract({
          payments: Array.from({ length: 1_100 }, (_, n) =>
            aLine({ period: `P${n}`, amount: 8_999_999_999_999, currencyCode: 'KWD' }),
          ),
        }),
      );
      const { byCurrency } = await plane.getPaymentStats({});
      expect(byCurrency[0]?.amount).to.equal(Number(1_100n * 8_999_999_999_999n));
      expect(byCurrency[0]?.outstanding).to.equal(9_899_999_999_998_900);
    });

    it('split the open lines into due and overdue, with their sums, in any time zone on any day', async () => {
      await fc.assert(
        fc.asyncProperty(
          fc.array(fc.array(randomLine, { maxLength: 6 }), { maxLength: 4 }),
          zone,
          instant,
          fc.integer({ min: 0, max: 90 }),
          async (contracts, timeZone, now, reminderLeadDays) => {
            const today = todayIn(timeZone, now);
            const { plane } = makePlane({ timeZone, today, reminderLeadDays });
            for (const lines of contracts)
              await plane.createContract(aContract({ payments: lines.map((line) => entered(line, today)) }));
            const { byCurrency, counts, asOf, ...topLevel } = await plane.getPaymentStats({});
            const all = contracts.flat();
            const open = all.filter(({ amount, received }) => amount > received);
            const count = (which: (line: RandomLine) => boolean) => all.filter(which).length;
            expect(asOf).to.equal(today);
            expect(counts).to.deep.equal({
              due: open.filter(({ due }) => due >= 0).length,
              overdue: open.filter(({ due }) => due < 0).length,
              dueSoon: open.filter(({ due }) => due >= 0 && due <= reminderLeadDays).length,
              reconcile: count(({ received }) => received > 0),
              invoice: count(({ amount, invoiced }) => invoiced < amount),
              paid: count(({ amount, received }) => received >= amount),
              partial: count(({ amount, received }) => received > 0 && received < amount),
              unpaid: count(({ amount, received }) => received === 0 && amount > 0),
              all: all.length,
            });
            expect(counts.due + counts.overdue).to.equal(open.length);
            const currencies = [...new Set(all.map(({ currencyCode }) => currencyCode))].toSorted();
            expect(byCurrency).to.deep.equal(
              currencies.map((currencyCode) => ({
                currencyCode,
                ...naive(
                  all.filter((line) => line.currencyCode === currencyCode),
                  { currencyCode, reminderLeadDays },
                ),
              })),
            );
            expect(topLevel).to.deep.equal(
              naive(
                all.filter(({ currencyCode }) => currencyCode === 'CNY'),
                { currencyCode: 'CNY', reminderLeadDays },
              ),
            );
            const [due, overdue] = await Promise.all(
              (['due', 'overdue'] as const).map(async (tab) =>
                (await plane.listPayments({ tab, pageSize: 200 })).items.map(({ id }) => id),
              ),
            );
            expect(new Set([...(due ?? []), ...(overdue ?? [])]).size).to.equal(open.length);
          },
        ),
        { numRuns: 40 },
      );
    });
  });
});

// Amounts in minor units, days relative to today.
type RandomLine = typeof randomLine extends fc.Arbitrary<infer T> ? T : never;
const minor = fc.oneof(fc.integer({ min: 0, max: 300 }), fc.integer({ min: 0, max: 1_000_000_000_000 }));
const randomLine = fc.record({
  currencyCode: fc.constantFrom('CNY', 'JPY', 'KWD'),
  amount: minor,
  received: fc.oneof(fc.constant(0), minor),
  invoiced: minor,
  due: fc.oneof(fc.integer({ min: -2, max: 2 }), fc.integer({ min: -400, max: 400 })),
});
/** The zone `Etc/GMT+12` is twelve hours behind UTC, `Etc/GMT-14` fourteen ahead. */
const zone = fc
  .integer({ min: -14, max: 12 })
  .map((west) => (west === 0 ? 'Etc/GMT' : `Etc/GMT${west > 0 ? '+' : ''}${west}`));
const instant = fc.integer({ min: Date.UTC(2024, 1, 27), max: Date.UTC(2027, 2, 2) });

const number = (minorUnits: number, currencyCode: string): number => minorUnits / 10 ** decimalsOf(currencyCode);

const entered = ({ amount, received, invoiced, due, currencyCode }: RandomLine, today: Day) => ({
  period: 'any',
  dueDate: addDays(today, due),
  amount: number(amount, currencyCode),
  receivedAmount: number(received, currencyCode),
  invoiceAmount: number(invoiced, currencyCode),
  currencyCode,
});

function naive(
  lines: readonly RandomLine[],
  { currencyCode, reminderLeadDays }: { currencyCode: string; reminderLeadDays: number },
) {
  const sum = (of: (line: RandomLine) => number) =>
    number(
      lines.reduce((total, line) => total + of(line), 0),
      currencyCode,
    );
  const left = ({ amount, received }: RandomLine) => Math.max(0, amount - received);
  return {
    amount: sum(({ amount }) => amount),
    received: sum(({ received }) => received),
    outstanding: sum(left),
    overdue: sum((line) => (line.due < 0 ? left(line) : 0)),
    dueSoon: sum((line) => (line.due >= 0 && line.due <= reminderLeadDays ? left(line) : 0)),
    uninvoiced: sum(({ amount, invoiced }) => Math.max(0, amount - invoiced)),
  };
}
