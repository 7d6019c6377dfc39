import { expect } from 'chai';
import fc from 'fast-check';
import { isFailure } from '../../data-plane-agent/base/failures.js';
import type { PaymentLineInput, PaymentLinePatch } from '../../data-plane-agent/plane/contract/records/lines.js';
import { AmountReader } from '../../data-plane-agent/plane/domain/amounts.js';
import {
  changesPlan,
  hasMoney,
  isUnchanged,
  newLine,
  receiptWarnings,
  withInvoice,
  withPlan,
  withReceipt,
  type LineContext,
} from '../../data-plane-agent/plane/domain/payments/line-changes.js';

const context = (changes: Partial<LineContext> = {}): LineContext => ({
  amounts: new AmountReader(),
  path: '',
  today: '2026-03-15',
  now: 1_000,
  contractCurrency: 'CNY',
  ...changes,
});
const aLine = (input: Partial<PaymentLineInput> = {}) =>
  newLine(
    { period: '2026-03', dueDate: '2026-03-31', amount: 100, ...input },
    { id: 'line', contractId: 'contract', position: 0 },
    context(),
  );

describe('changes of a payment line', () => {
  it('date received money today by default, and keep the date as long as money remains', () => {
    const received = withReceipt(aLine(), { receivedAmount: 40 }, context());
    expect(received.receivedDate).to.equal('2026-03-15');
    const later = context({ today: '2026-04-01' });
    expect(
      withReceipt(received, { receivedAmount: 30 }, later).receivedDate,
      'a correction is not a new receipt',
    ).to.equal('2026-03-15');
    expect(withReceipt(received, { receivedDate: null }, later).receivedDate).to.equal('2026-03-15');
    expect(withReceipt(received, { receivedAmount: 41 }, later).receivedDate).to.equal('2026-04-01');
    expect(withReceipt(received, { receivedAmount: 0 }, later).receivedDate).to.equal(null);
    expect(
      withReceipt(aLine(), { receivedDate: '2026-01-01' }, later).receivedDate,
      'without money there is no date',
    ).to.equal(null);
  });

  it('report an unreadable amount before refusing the reconciliation', () => {
    const refused = (patch: PaymentLinePatch) => {
      try {
        withReceipt(aLine(), patch, context());
      } catch (error) {
        return isFailure(error) ? error.code : String(error);
      }
      return 'accepted';
    };
    expect(refused({ receivedAmount: 1.234, reconciliationStatus: 'matched' })).to.equal('INVALID_INPUT');
    expect(refused({ reconciliationStatus: 'matched' })).to.equal('RECONCILE_WITHOUT_RECEIPT');
    expect(refused({ reconciliationStatus: 'exception' })).to.equal('accepted');
  });

  it('prefer the status that the caller sends to the automatic one', () => {
    expect(withReceipt(aLine(), { receivedAmount: 101 }, context()).reconciliationStatus).to.equal('exception');
    expect(
      withReceipt(aLine(), { receivedAmount: 101, reconciliationStatus: 'pending' }, context()).reconciliationStatus,
    ).to.equal('pending');
    expect(withReceipt(aLine({ currencyCode: 'USD' }), { receivedAmount: 1 }, context()).reconciliationStatus).to.equal(
      'exception',
    );
    expect(withReceipt(aLine(), { receivedAmount: 100 }, context()).reconciliationStatus).to.equal('pending');
  });

  it('derive the status again after `null` clears it', () => {
    const cleared = (input: Partial<PaymentLineInput>) =>
      withReceipt(aLine(input), { reconciliationStatus: null }, context()).reconciliationStatus;
    expect(cleared({ receivedAmount: 60, reconciliationStatus: 'matched' })).to.equal('pending');
    expect(cleared({ receivedAmount: 60, reconciliationStatus: 'exception' })).to.equal('pending');
    expect(cleared({ receivedAmount: 101, reconciliationStatus: 'matched' })).to.equal('exception');
    expect(cleared({ reconciliationStatus: 'exception' })).to.equal('pending');
  });

  it('require a note for an exception without one', () => {
    const exception = aLine({ receivedAmount: 1, reconciliationStatus: 'exception' });
    expect(receiptWarnings({ before: null, after: exception }, '2026-03-15').map(({ code }) => code)).to.deep.equal([
      'NOTE_RECOMMENDED',
    ]);
    expect(
      receiptWarnings(
        { before: exception, after: withReceipt(exception, { reconciliationNote: 'bank fee' }, context()) },
        '2026-03-15',
      ),
    ).to.deep.equal([]);
  });

  it('make a matched line pending if its amount changes, and leave it matched otherwise', () => {
    const matched = aLine({ receivedAmount: 100, reconciliationStatus: 'matched' });
    expect(withPlan(matched, { amount: 90 }, context()).reconciliationStatus).to.equal('pending');
    expect(
      withPlan(matched, { amount: 100, dueDate: '2026-04-30', period: 'x' }, context()).reconciliationStatus,
    ).to.equal('matched');
  });

  it('keep the number of an amount under another currency', () => {
    expect(withPlan(aLine(), { currencyCode: 'JPY' }, context())).to.include({
      amountMinor: 100,
      outstandingMinor: 100,
      currencyCode: 'JPY',
    });
    expect(withPlan(aLine(), { currencyCode: 'KWD' }, context())).to.include({ amountMinor: 100_000 });
    expect(withPlan(aLine({ currencyCode: 'JPY' }), { currencyCode: null, amount: 3 }, context())).to.include({
      amountMinor: 300,
      currencyCode: 'CNY',
    });
  });

  it('mark a line without invoice evidence as not invoiced', () => {
    const invoiced = withInvoice(aLine(), { invoiceAmount: 40, invoiceNo: 'F-1' }, context());
    expect(invoiced).to.include({ invoicedMinor: 4_000, uninvoicedMinor: 6_000 });
    expect(withInvoice(invoiced, { invoiceAmount: null }, context())).to.include({
      invoicedMinor: 0,
      uninvoicedMinor: 10_000,
      invoiceNo: 'F-1',
    });
    expect(hasMoney(invoiced)).to.equal(true);
    expect(hasMoney(withInvoice(invoiced, { invoiceAmount: null, invoiceNo: null }, context()))).to.equal(false);
  });

  it('have no effect when the same request is repeated', () => {
    const minor = fc.integer({ min: 0, max: 30_000 }).map((units) => units / 100);
    const patch = fc.record(
      {
        amount: minor,
        receivedAmount: fc.option(minor),
        receivedDate: fc.option(fc.constantFrom('2026-01-01', '2026-03-15')),
        method: fc.option(fc.constantFrom('wire', 'cash')),
        invoiceAmount: fc.option(minor),
        invoiceNo: fc.option(fc.constant('F-1')),
        dueDate: fc.constantFrom('2026-03-31', '2026-05-01'),
        reconciliationStatus: fc.constantFrom('pending', 'exception'),
      },
      { requiredKeys: [] },
    );
    const apply = (line: ReturnType<typeof aLine>, changes: PaymentLinePatch, now: number) => {
      const at = context({ now });
      return withInvoice(withReceipt(withPlan(line, changes, at), changes, at), changes, at);
    };
    fc.assert(
      fc.property(patch, patch, (first, second) => {
        const start = apply(
          aLine({ receivedAmount: 60, reconciliationStatus: 'matched' }),
          first as PaymentLinePatch,
          2_000,
        );
        const once = apply(start, second as PaymentLinePatch, 3_000);
        expect(isUnchanged(once, apply(once, second as PaymentLinePatch, 4_000))).to.equal(true);
        expect(once.outstandingMinor).to.equal(Math.max(0, once.amountMinor - once.receivedMinor));
        expect(once.receivedDate === null).to.equal(once.receivedMinor === 0);
        if (isUnchanged(start, once)) expect(changesPlan(start, once)).to.equal(false);
      }),
    );
  });
});
