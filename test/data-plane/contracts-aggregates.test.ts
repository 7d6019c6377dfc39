import { expect } from 'chai';
import fc from 'fast-check';
import { isFailure } from '../../data-plane-agent/base/failures.js';
import { toMinor } from '../../data-plane-agent/base/money.js';
import type { ContractDetail } from '../../data-plane-agent/plane/contract/records/contracts.js';
import { forEachPlane, type TestPlane } from '../support/plane.js';
import { aContract, aLine } from '../support/samples.js';

const amount = fc.integer({ min: 0, max: 4 }).map((n) => n * 100);
const day = fc.constantFrom('2026-02-01', '2026-03-15', '2026-03-16', '2026-05-01');
const currencyCode = fc.constantFrom('CNY', 'JPY');
const line = fc.record({ amount, dueDate: day, currencyCode, receivedAmount: amount, invoiceAmount: amount });
const at = fc.nat({ max: 9 });
const step = fc.oneof(
  fc.record({ do: fc.constant('add' as const), line }),
  fc.record({ do: fc.constant('plan' as const), at, amount, dueDate: day }),
  fc.record({ do: fc.constant('receive' as const), at, receivedAmount: amount }),
  fc.record({ do: fc.constant('invoice' as const), at, invoiceAmount: fc.option(amount) }),
  fc.record({ do: fc.constant('remove' as const), at }),
  fc.record({ do: fc.constant('currency' as const), currencyCode }),
  fc.record({ do: fc.constant('total' as const), totalAmount: amount }),
);
type Step = typeof step extends fc.Arbitrary<infer S> ? S : never;

/** Performs one step on the line at that position. A refusal is a valid outcome, and must change nothing. */
async function take({ plane }: TestPlane, contractId: string, action: Step): Promise<void> {
  const { payments } = await plane.getContract({ contractId });
  const paymentId = 'at' in action ? payments[action.at % Math.max(1, payments.length)]?.id : undefined;
  if ('at' in action && paymentId === undefined) return;
  const id = paymentId ?? '';
  try {
    if (action.do === 'add') await plane.addPaymentLine({ contractId, ...aLine(action.line) });
    if (action.do === 'plan')
      await plane.updatePaymentLine({ paymentId: id, amount: action.amount, dueDate: action.dueDate });
    if (action.do === 'receive') await plane.recordReceipt({ paymentId: id, receivedAmount: action.receivedAmount });
    if (action.do === 'invoice')
      await plane.recordInvoiceEvidence({ paymentId: id, invoiceAmount: action.invoiceAmount });
    if (action.do === 'remove') await plane.deletePaymentLine({ paymentId: id });
    if (action.do === 'currency')
      await plane.updateContract({ contractId, changes: { currencyCode: action.currencyCode } });
    if (action.do === 'total') await plane.updateContract({ contractId, changes: { totalAmount: action.totalAmount } });
  } catch (error) {
    if (!isFailure(error) || error.code === 'NOT_FOUND') throw error;
  }
}

/** The totals of the contract, computed from its lines as the API returns them. */
function rebuilt({ currencyCode: currency, payments, totalAmount }: ContractDetail) {
  const own = payments.filter((payment) => payment.currencyCode === currency);
  const sum = (of: (payment: ContractDetail['payments'][number]) => number) =>
    own.reduce((total, payment) => total + Number(toMinor(of(payment), currency)), 0);
  const open = payments.filter((payment) => payment.amount > payment.receivedAmount);
  const paid = payments.length === 0 ? totalAmount === 0 : open.length === 0;
  return {
    payment_status: paid ? 'paid' : payments.every(({ receivedAmount }) => receivedAmount === 0) ? 'unpaid' : 'partial',
    receivable_minor: sum((payment) => payment.amount),
    received_minor: sum((payment) => payment.receivedAmount),
    outstanding_minor: sum((payment) => Math.max(0, payment.amount - payment.receivedAmount)),
    overpaid_minor: sum((payment) => Math.max(0, payment.receivedAmount - payment.amount)),
    invoiced_minor: sum((payment) => payment.invoiceAmount ?? 0),
    uninvoiced_minor: sum((payment) => Math.max(0, payment.amount - (payment.invoiceAmount ?? 0))),
    next_due_date: open.map(({ dueDate }) => dueDate).toSorted()[0] ?? null,
    other_currency_lines: payments.length - own.length,
  };
}

describe('the totals stored on a contract', () => {
  forEachPlane((name, makePlane) => {
    it('equal the sum of its lines, after any sequence of changes', async function () {
      this.timeout(240_000);
      await fc.assert(
        fc.asyncProperty(fc.array(line, { maxLength: 3 }), fc.array(step, { maxLength: 12 }), async (lines, steps) => {
          const t = makePlane();
          const { id } = await t.plane.createContract(aContract({ payments: lines.map((changes) => aLine(changes)) }));
          let version = 1;
          for (const action of [undefined, ...steps]) {
            if (action) await take(t, id, action);
            const detail = await t.plane.getContract({ contractId: id });
            const expected = rebuilt(detail);
            const kept = await t.database.read(t.call, (tx) =>
              tx.get(`SELECT ${Object.keys(expected).join(', ')} FROM contracts WHERE tenant_id = ? AND id = ?`, [
                t.call.tenantId,
                id,
              ]),
            );
            expect(kept, JSON.stringify(action)).to.deep.equal(expected);
            expect(detail.version - version, 'a change increases the version by one').to.be.oneOf([0, 1]);
            version = detail.version;
          }
        }),
        { numRuns: name === 'sqlite' ? 60 : 25 },
      );
    });

    it('remain correct under concurrent changes of its lines', async () => {
      const t = makePlane();
      const { id, payments } = await t.plane.createContract(
        aContract({ payments: Array.from({ length: 5 }, () => aLine({ amount: 100 })) }),
      );
      await Promise.all([
        ...payments.map((payment, i) => t.plane.recordReceipt({ paymentId: payment.id, receivedAmount: 20 * (i + 1) })),
        ...payments.map((payment) => t.plane.recordInvoiceEvidence({ paymentId: payment.id, invoiceAmount: 50 })),
        ...[1, 2, 3].map(() => t.plane.addPaymentLine({ contractId: id, ...aLine({ amount: 10 }) })),
      ]);
      const detail = await t.plane.getContract({ contractId: id });
      expect([
        detail.receivableAmount,
        detail.receivedAmount,
        detail.outstandingAmount,
        detail.invoicedAmount,
        detail.version,
      ]).to.deep.equal([530, 300, 230, 250, 14]);
    });
  });
});
