import { expect } from 'chai';
import fc from 'fast-check';
import { isFailure } from '../../data-plane-agent/base/failures.js';
import type { PaymentLineInput } from '../../data-plane-agent/plane/contract/records/lines.js';
import { AmountReader } from '../../data-plane-agent/plane/domain/amounts.js';
import {
  movesPlan,
  plannedAs,
  followedTo,
  type PlanContext,
} from '../../data-plane-agent/plane/domain/payments/plan.js';
import { hasMoney } from '../../data-plane-agent/plane/domain/payments/line-changes.js';
import type { LineRow } from '../../data-plane-agent/plane/tables/payment-lines.js';

let ids = 0;
const contextOf = (changes: Partial<PlanContext> = {}): PlanContext => ({
  amounts: new AmountReader(),
  contractId: 'contract',
  today: '2026-03-15',
  now: 2_000,
  newId: () => `line-${String(++ids).padStart(6, '0')}`,
  currencyCode: 'CNY',
  formerCurrencyCode: 'CNY',
  ...changes,
});
const entered = (inputs: readonly PaymentLineInput[]): readonly LineRow[] => plannedAs([], inputs, contextOf()).lines;

const aLine = fc.record({
  period: fc.constantFrom('A', 'B', 'C', 'D'),
  dueDate: fc.constantFrom('2026-01-31', '2026-02-28', '2026-03-31'),
  amount: fc.integer({ min: 0, max: 500 }),
  receivedAmount: fc.constantFrom(0, 0, 1, 700),
});
/** A valid plan: no two lines share a period and a due date. */
const aPlan = fc.uniqueArray(aLine, { maxLength: 8, selector: ({ period, dueDate }) => `${period} ${dueDate}` });
const plain = ({ period, dueDate, amount }: Pick<PaymentLineInput, 'period' | 'dueDate' | 'amount'>) => ({
  period,
  dueDate,
  amount,
});
const asSent = (line: LineRow): PaymentLineInput => ({
  period: line.period,
  dueDate: line.dueDate,
  amount: line.amountMinor / 100,
});

describe('a replaced plan', () => {
  it('equals the request, keeps the ids of matching lines, and reports every removed line', () => {
    fc.assert(
      fc.property(aPlan, aPlan, (before, after) => {
        const present = entered(before);
        const plan = plannedAs(present, after.map(plain), contextOf());
        expect(plan.lines.map(asSent)).to.have.deep.members(after.map(plain));
        expect(plan.lines.map(({ dueDate }) => dueDate)).to.deep.equal(
          plan.lines.map(({ dueDate }) => dueDate).toSorted(),
        );
        const kept = plan.lines.filter(({ id }) => present.some((line) => line.id === id));
        expect([...kept, ...plan.removed].map(({ id }) => id).toSorted()).to.deep.equal(
          present.map(({ id }) => id).toSorted(),
        );
        for (const line of kept) {
          const was = present.find(({ id }) => id === line.id);
          expect([line.period, line.receivedMinor]).to.deep.equal([was?.period, was?.receivedMinor]);
        }
        // A line with the same period and due date is the same line.
        for (const line of present)
          if (after.some(({ period, dueDate }) => period === line.period && dueDate === line.dueDate))
            expect(kept.map(({ id }) => id)).to.include(line.id);
      }),
      { numRuns: 300 },
    );
  });

  it('is unchanged if the request contains the same lines, in any order', () => {
    fc.assert(
      fc.property(aPlan, fc.infiniteStream(fc.nat()), (before, order) => {
        const present = entered(before);
        const shuffled = present
          .map((line) => ({ line, at: order.next().value as number }))
          .toSorted((a, b) => a.at - b.at)
          .map(({ line }) => asSent(line));
        const plan = plannedAs(present, shuffled, contextOf());
        expect([plan.steps, plan.removed, movesPlan(plan)]).to.deep.equal([[], [], false]);
        expect(plan.lines).to.have.deep.members([...present]);
      }),
      { numRuns: 300 },
    );
  });

  it('is unchanged by a second identical request', () => {
    fc.assert(
      fc.property(aPlan, aPlan, (before, after) => {
        const once = plannedAs(entered(before), after, contextOf());
        const twice = plannedAs(once.lines, after, contextOf({ now: 3_000 }));
        expect([twice.steps, twice.removed]).to.deep.equal([[], []]);
      }),
      { numRuns: 300 },
    );
  });

  it('is refused exactly if a pair of period and due date occurs twice', () => {
    fc.assert(
      fc.property(aPlan, fc.array(aLine, { maxLength: 6 }), (before, after) => {
        const context = contextOf();
        plannedAs(entered(before), after.map(plain), context);
        const pairs = after.map(({ period, dueDate }) => `${period} ${dueDate}`);
        const repeats = pairs.flatMap((pair, i) => (pairs.indexOf(pair) < i ? [`payments[${i}].period`] : []));
        expect(refused(context.amounts)).to.deep.equal(repeats);
      }),
      { numRuns: 300 },
    );
  });

  it('keeps, of two lines with the same period and due date, the one with money', () => {
    const [open, paid] = [
      entered([{ period: 'A', dueDate: '2026-01-31', amount: 1 }]),
      entered([{ period: 'A', dueDate: '2026-01-31', amount: 1, receivedAmount: 1 }]),
    ].flat();
    if (!open || !paid) throw new Error('expected two lines');
    for (const present of [
      [open, paid],
      [paid, open],
    ]) {
      const plan = plannedAs(present, [{ period: 'A', dueDate: '2026-01-31', amount: 1 }], contextOf());
      expect([plan.lines.every(hasMoney), plan.removed.map(({ id }) => id)]).to.deep.equal([true, [open.id]]);
    }
  });

  it("moves the lines in the contract's currency to its new currency, and leaves the others", () => {
    const present = entered([
      { period: 'A', dueDate: '2026-01-31', amount: 5 },
      { period: 'B', dueDate: '2026-02-28', amount: 5, currencyCode: 'EUR' },
    ]);
    const followed = followedTo(present, contextOf({ currencyCode: 'KWD' }));
    expect(followed.lines.map(({ currencyCode, amountMinor }) => [currencyCode, amountMinor])).to.deep.equal([
      ['KWD', 5_000],
      ['EUR', 500],
    ]);
    expect(followed.steps).to.have.length(1);
    expect(followedTo(present, contextOf()).lines).to.equal(present);
  });
});

/** The fields that the amount reader reports. */
function refused(amounts: AmountReader): string[] {
  try {
    amounts.done();
  } catch (error) {
    if (isFailure(error, 'INVALID_INPUT')) return error.details.issues.map(({ path }) => path);
    throw error;
  }
  return [];
}
