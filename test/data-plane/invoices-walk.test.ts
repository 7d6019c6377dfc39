import { expect } from 'chai';
import fc from 'fast-check';
import { isFailure } from '../../data-plane-agent/base/failures.js';
import { toMinor } from '../../data-plane-agent/base/money.js';
import type { ContractDetail } from '../../data-plane-agent/plane/contract/records/contracts.js';
import { INVOICE_STATUSES } from '../../data-plane-agent/plane/contract/vocabulary.js';
import { forEachPlane, type TestPlane } from '../support/plane.js';
import { aContract, aLine } from '../support/samples.js';

const amount = fc.integer({ min: 0, max: 5 }).map((n) => n * 100);
const status = fc.constantFrom(...INVOICE_STATUSES);
const place = fc.nat({ max: 9 });
const number = fc.constantFrom('A', 'b', 'B', 'C-1', 'D');
const step = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('post' as const),
      line: fc.option(place),
      amount,
      status,
      number: fc.option(number),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('patch' as const),
      invoice: place,
      status: fc.option(status),
      amount: fc.option(amount),
      line: fc.option(fc.option(place)),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('tell' as const),
      line: place,
      invoiceAmount: fc.option(amount),
      invoiceNo: fc.option(number),
      isAll: fc.boolean(),
    }),
  },
  fc.record({
    do: fc.constant('receive' as const),
    line: place,
    receivedAmount: amount,
    reconciliationStatus: fc.constantFrom('pending' as const, 'matched' as const),
  }),
  fc.record({
    do: fc.constant('add' as const),
    invoiceAmount: fc.option(amount),
    invoiceNo: fc.option(number),
    currencyCode: fc.constantFrom('CNY', 'JPY'),
  }),
  fc.record({ do: fc.constant('remove' as const), line: place }),
  fc.record({
    do: fc.constant('currency' as const),
    line: fc.option(place),
    currencyCode: fc.constantFrom('CNY', 'JPY'),
  }),
  fc.constant({ do: 'deleteAndRestore' as const }),
);
type Step = typeof step extends fc.Arbitrary<infer S> ? S : never;

let made = 0;

/** Performs one step at an existing position. A refusal is a valid outcome, and must change nothing. */
async function take({ plane, clock }: TestPlane, contractId: string, action: Step): Promise<void> {
  const { payments, invoices } = await plane.getContract({ contractId });
  const lineAt = (at: number | null): string | null =>
    at === null ? null : (payments[at % Math.max(1, payments.length)]?.id ?? null);
  const paymentId = ('line' in action && lineAt(action.line ?? null)) || '';
  clock.advance(1_000);
  try {
    switch (action.do) {
      case 'post':
        return void (await plane.addInvoice({
          contractId,
          receivablePlanId: lineAt(action.line),
          invoiceNo: action.number ?? `N-${++made}`,
          invoiceAmount: action.amount,
          status: action.status,
        }));
      case 'patch': {
        const invoiceId = invoices[action.invoice % Math.max(1, invoices.length)]?.id;
        if (invoiceId === undefined) return;
        const changes = {
          ...(action.status === null ? {} : { status: action.status }),
          ...(action.amount === null ? {} : { invoiceAmount: action.amount }),
          ...(action.line === null ? {} : { receivablePlanId: lineAt(action.line) }),
        };
        return void (await plane.updateInvoice({ contractId, invoiceId, changes }));
      }
      case 'tell':
        return void (
          paymentId &&
          (await plane.recordInvoiceEvidence({
            paymentId,
            invoiceAmount: action.invoiceAmount,
            ...(action.isAll ? { invoiceNo: action.invoiceNo } : {}),
          }))
        );
      case 'receive':
        return void (
          paymentId &&
          (await plane.recordReceipt({
            paymentId,
            receivedAmount: action.receivedAmount,
            reconciliationStatus: action.reconciliationStatus,
          }))
        );
      case 'add':
        return void (await plane.addPaymentLine({
          contractId,
          ...aLine({
            amount: 300,
            invoiceAmount: action.invoiceAmount,
            invoiceNo: action.invoiceNo,
            currencyCode: action.currencyCode,
          }),
        }));
      case 'remove':
        return void (paymentId && (await plane.deletePaymentLine({ paymentId })));
      case 'currency':
        return void (paymentId
          ? await plane.updatePaymentLine({ paymentId, currencyCode: action.currencyCode })
          : await plane.updateContract({ contractId, changes: { currencyCode: action.currencyCode } }));
      case 'deleteAndRestore': {
        await plane.deleteContract({ contractId });
        return void (await plane.restoreContract({ contractId }));
      }
    }
  } catch (error) {
    if (!isFailure(error) || error.code === 'NOT_FOUND') throw error;
  }
}

/** The invoiced amounts, computed from the records and lines as the API returns them, without stored totals. */
function computed({ currencyCode, payments, invoices }: ContractDetail) {
  const net = (linked: ContractDetail['invoices']) =>
    linked.reduce(
      (sum, { status: state, invoiceAmount, currencyCode: own }) =>
        sum + (state === 'issued' ? 1 : state === 'red_letter' ? -1 : 0) * Number(toMinor(invoiceAmount, own)),
      0,
    );
  const lines = payments.map((line) => {
    const linked = invoices.filter(({ receivablePlanId }) => receivablePlanId === line.id);
    return {
      line,
      linked,
      invoiced: linked.length > 0 ? net(linked) : Number(toMinor(line.invoiceAmount ?? 0, line.currencyCode)),
      amount: Number(toMinor(line.amount, line.currencyCode)),
    };
  });
  const own = lines.filter(({ line }) => line.currencyCode === currencyCode);
  const unlinked = net(invoices.filter(({ receivablePlanId }) => receivablePlanId === null));
  return {
    lines,
    unlinked,
    contract: own.reduce((sum, { invoiced }) => sum + invoiced, 0) + unlinked,
    lacking: own.reduce((sum, { invoiced, amount: due }) => sum + Math.max(0, due - invoiced), 0),
  };
}

describe('the invoiced amount', () => {
  forEachPlane((name, makePlane) => {
    it('equals that of the records, after any sequence of changes', async function () {
      this.timeout(240_000);
      await fc.assert(
        fc.asyncProperty(fc.array(step, { minLength: 6, maxLength: 24 }), async (steps) => {
          const t = makePlane();
          const { id } = await t.plane.createContract(
            aContract({
              payments: [aLine({ amount: 300 }), aLine({ amount: 200, period: 'second', currencyCode: 'JPY' })],
            }),
          );
          for (const action of steps) {
            await take(t, id, action);
            const detail = await t.plane.getContract({ contractId: id });
            const { lines, unlinked, contract, lacking } = computed(detail);
            for (const { line, linked, invoiced } of lines) {
              expect(
                [toMinor(line.invoicedAmount, line.currencyCode), toMinor(line.uninvoicedAmount, line.currencyCode)],
                JSON.stringify(action),
              ).to.deep.equal([invoiced, Math.max(0, Number(toMinor(line.amount, line.currencyCode)) - invoiced)]);
              expect(invoiced, 'red letters within what is issued').to.be.at.least(0);
              // Void ones are excluded; all others are in the line's currency.
              expect(
                linked.filter(
                  ({ status: state, currencyCode }) => state !== 'void' && currencyCode !== line.currencyCode,
                ),
              ).to.deep.equal([]);
              const reported = linked.filter(
                ({ invoiceNo, status: state, reversedByInvoiceId }) =>
                  invoiceNo === line.invoiceNo && state === 'issued' && reversedByInvoiceId === null,
              );
              if (line.invoiceNo !== null) expect(reported, 'one record with the number of the line').to.have.length(1);
            }
            expect(unlinked).to.be.at.least(0);
            expect(
              [
                toMinor(detail.invoicedAmount, detail.currencyCode),
                toMinor(detail.uninvoicedAmount, detail.currencyCode),
              ],
              JSON.stringify(action),
            ).to.deep.equal([contract, lacking]);
            const numbers = detail.invoices
              .filter(({ status: state }) => state !== 'void')
              .map(({ invoiceNo }) => invoiceNo.toLowerCase());
            expect(new Set(numbers).size, 'no duplicate numbers').to.equal(numbers.length);
          }
        }),
        { numRuns: name === 'sqlite' ? 80 : 15 },
      );
    });
  });
});
