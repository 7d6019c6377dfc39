import { expect } from 'chai';
import { isFailure } from '../../data-plane-agent/base/failures.js';
import {
  checkLineRights,
  checkNewLineRights,
  fieldsBeyondRights,
  unpaid,
} from '../../data-plane-agent/plane/domain/payments/line-rights.js';
import { AmountReader } from '../../data-plane-agent/plane/domain/amounts.js';
import { newLine, withInvoice, withReceipt } from '../../data-plane-agent/plane/domain/payments/line-changes.js';
import type { PaymentLinePatch } from '../../data-plane-agent/plane/contract/records/lines.js';
import { aLine } from '../support/samples.js';

const NONE = { paymentEntry: false, invoice: false };
const context = { amounts: new AmountReader(), path: '', today: '2026-03-15', now: 1, contractCurrency: 'CNY' };
const unpaidLine = unpaid(newLine(aLine(), { id: 'line', contractId: 'contract', position: 0 }, context));

describe('rights on the fields of a payment line', () => {
  it('payment_entry is needed for receipt fields, invoice for invoice fields, and neither for the plan', () => {
    for (const check of [changeRefusal, entryRefusal]) {
      expect(check({ receivedAmount: 1 }, { ...NONE, invoice: true })).to.equal('payment_entry (edit)');
      expect(check({ proof: 'id' }, NONE)).to.equal('payment_entry (edit)');
      expect(check({ invoiceNo: 'F-1' }, { ...NONE, paymentEntry: true })).to.equal('invoice (edit)');
      expect(check({ invoiceNo: 'F-1', receivedAmount: 1 }, NONE)).to.equal('payment_entry (edit)');
      expect(check({ invoiceNo: 'F-1', receivedAmount: 1 }, { paymentEntry: true, invoice: true })).to.equal(undefined);
      expect(check({ amount: 5, period: 'x', dueDate: '2026-01-01', currencyCode: 'CNY' }, NONE)).to.equal(undefined);
    }
  });

  it('clearing a value is a change, while resending a value or clearing an empty one is not', () => {
    const paid = withInvoice(
      withReceipt(unpaidLine, { receivedAmount: 3, bankSerialNo: 'S-1' }, context),
      { invoiceNo: 'F-1', invoiceAmount: 3 },
      context,
    );
    for (const cleared of [{ receivedAmount: 0 }, { receivedAmount: null }, { bankSerialNo: null }]) {
      expect(changeRefusal(cleared, NONE, paid)).to.equal('payment_entry (edit)');
      expect(changeRefusal(cleared, NONE)).to.equal(undefined);
      expect(entryRefusal(cleared, NONE)).to.equal(undefined);
    }
    expect(changeRefusal({ invoiceAmount: null }, { ...NONE, paymentEntry: true }, paid)).to.equal('invoice (edit)');
    expect(
      changeRefusal({ receivedAmount: 3, bankSerialNo: 'S-1', invoiceNo: 'F-1', invoiceAmount: 3 }, NONE, paid),
    ).to.equal(undefined);
  });

  it('the defaults of a new line need no right', () => {
    expect(entryRefusal({ reconciliationStatus: 'pending', receivedAmount: 0, invoiceNo: '' }, NONE)).to.equal(
      undefined,
    );
    expect(entryRefusal({ reconciliationStatus: 'matched' }, NONE)).to.equal('payment_entry (edit)');
  });

  it('all refused fields of a new line are reported', () => {
    expect(fieldsBeyondRights({ receivedAmount: 1, method: null, invoiceNo: 'F-1' }, NONE)).to.deep.equal([
      { field: 'receivedAmount', needs: 'payment_entry (edit)' },
      { field: 'invoiceNo', needs: 'invoice (edit)' },
    ]);
  });
});

type LineRights = typeof NONE;
const changeRefusal = (patch: PaymentLinePatch, rights: LineRights, line = unpaidLine) =>
  refused(() =>
    checkLineRights([{ planned: line, after: withInvoice(withReceipt(line, patch, context), patch, context) }], rights),
  );
const entryRefusal = (line: PaymentLinePatch, rights: LineRights) =>
  refused(() => checkNewLineRights([{}, line], rights));

/** The right that the 403 names. */
function refused(check: () => void): unknown {
  try {
    check();
  } catch (error) {
    if (isFailure(error, 'FORBIDDEN')) return error.details.needs;
    throw error;
  }
  return undefined;
}
