import { expect } from 'chai';
import fc from 'fast-check';
import { addDays, daysBetween } from '../../data-plane-agent/base/day.js';
import {
  aggregate,
  daysOverdue,
  dueState,
  dueStatus,
  linePaymentStatus,
  outstanding,
  overpaid,
  uninvoiced,
  type Receivable,
} from '../../data-plane-agent/plane/domain/payments/receivable.js';

const TODAY = '2026-03-15';
const line = (changes: Partial<Receivable> = {}): Receivable => ({
  amountMinor: 100,
  receivedMinor: 0,
  invoicedMinor: 0,
  currencyCode: 'CNY',
  dueDate: TODAY,
  ...changes,
});
const cny = { currencyCode: 'CNY', totalMinor: 100 };

describe('receivables', () => {
  it('a line due today is not overdue, and both ends of the lead window are included', () => {
    const statuses = {
      '2026-03-14': 'overdue',
      '2026-03-15': 'due_soon',
      '2026-03-22': 'due_soon',
      '2026-03-23': 'not_due',
    };
    for (const [dueDate, status] of Object.entries(statuses))
      expect(dueStatus(line({ dueDate }), TODAY, 7), dueDate).to.equal(status);
    expect(dueStatus(line(), TODAY, 0), 'without a lead').to.equal('due_soon');
    expect(dueStatus(line({ dueDate: '2020-01-01', receivedMinor: 100 }), TODAY, 7)).to.equal('settled');
  });

  it('days overdue are counted only while something is outstanding', () => {
    expect(daysOverdue(line({ dueDate: '2026-02-28' }), TODAY)).to.equal(15);
    expect(daysOverdue(line({ dueDate: '2026-02-28', receivedMinor: 100 }), TODAY)).to.equal(0);
    expect(daysOverdue(line({ dueDate: '2026-03-16' }), TODAY)).to.equal(0);
  });

  it('a line is unpaid, partial or paid by its received amount, and a line of amount zero is paid', () => {
    expect([0, 1, 99, 100, 101].map((receivedMinor) => linePaymentStatus(line({ receivedMinor })))).to.deep.equal([
      'unpaid',
      'partial',
      'partial',
      'paid',
      'paid',
    ]);
    expect(linePaymentStatus(line({ amountMinor: 0 }))).to.equal('paid');
  });

  it('an overpaid line does not reduce the debt of another line', () => {
    const kept = aggregate([line({ receivedMinor: 250 }), line({ dueDate: '2026-05-01' })], cny);
    expect(kept).to.deep.equal({
      paymentStatus: 'partial',
      receivableMinor: 200,
      receivedMinor: 250,
      outstandingMinor: 100,
      overpaidMinor: 150,
      invoicedMinor: 0,
      uninvoicedMinor: 200,
      nextDueDate: '2026-05-01',
      otherCurrencyLines: 0,
    });
  });

  it('a contract without lines is unpaid unless its total is zero, and has nothing outstanding', () => {
    expect(aggregate([], cny)).to.include({ paymentStatus: 'unpaid', outstandingMinor: 0, nextDueDate: null });
    expect(aggregate([], { ...cny, totalMinor: 0 })).to.include({ paymentStatus: 'paid' });
    expect(dueState([], { currencyCode: 'CNY', today: TODAY, leadDays: 7 })).to.deep.equal({
      overdueMinor: 0,
      daysOverdue: 0,
      isOverdue: false,
      isDueSoon: false,
    });
  });

  it('a line in another currency is counted, but not summed', () => {
    const lines = [line(), line({ currencyCode: 'JPY', amountMinor: 7_000, dueDate: '2026-01-01' })];
    expect(aggregate(lines, cny)).to.include({
      receivableMinor: 100,
      outstandingMinor: 100,
      nextDueDate: '2026-01-01',
      otherCurrencyLines: 1,
      paymentStatus: 'unpaid',
    });
    expect(dueState(lines, { currencyCode: 'CNY', today: TODAY, leadDays: 7 })).to.deep.equal({
      overdueMinor: 0,
      daysOverdue: 73,
      isOverdue: true,
      isDueSoon: true,
    });
  });

  it('the received amount complements either the outstanding or the overpaid amount, for any line', () => {
    const amount = fc.integer({ min: 0, max: 9_000_000_000_000_000 });
    fc.assert(
      fc.property(
        amount,
        amount,
        amount,
        fc.integer({ min: -500, max: 500 }),
        fc.integer({ min: 0, max: 90 }),
        (amountMinor, receivedMinor, invoicedMinor, offset, lead) => {
          const one = line({ amountMinor, receivedMinor, invoicedMinor, dueDate: addDays(TODAY, offset) });
          expect(receivedMinor + outstanding(one) - overpaid(one)).to.equal(amountMinor);
          expect(Math.min(outstanding(one), overpaid(one))).to.equal(0);
          expect(uninvoiced(one)).to.equal(Math.max(0, amountMinor - invoicedMinor));
          expect(dueStatus(one, TODAY, lead) === 'settled').to.equal(linePaymentStatus(one) === 'paid');
          expect(dueStatus(one, TODAY, lead) === 'overdue').to.equal(daysOverdue(one, TODAY) > 0);
          expect(daysOverdue(one, TODAY)).to.be.oneOf([0, daysBetween(one.dueDate, TODAY)]);
        },
      ),
    );
  });
});
