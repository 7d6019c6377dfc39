import { expect } from 'chai';
import fc from 'fast-check';
import type { PaymentLineInput } from '../../data-plane-agent/plane/contract/records/lines.js';
import { forEachPlane, type TestPlane } from '../support/plane.js';
import { failureOf } from '../support/failures.js';
import { aContract, aLine } from '../support/samples.js';

describe('receipts', () => {
  forEachPlane((_name, makePlane) => {
    it('store the delta of each change of the total, newest first; a correction has the day on which it is made', async () => {
      const test = makePlane();
      const paymentId = await oneLine(test, { amount: 100 });
      await test.plane.recordReceipt({
        paymentId,
        receivedAmount: 40,
        method: 'wire',
        bankSerialNo: 'S-1',
        payerName: '上海远东',
      });
      test.clock.advance(1_000);
      await test.plane.recordReceipt({ paymentId, receivedAmount: 100, receivedDate: '2026-03-20' });
      await test.plane.recordReceipt({ paymentId, receivedAmount: 100 });
      test.clock.advance(1_000);
      const corrected = await test
        .as({ actor: { kind: 'cli', id: null, name: 'operator', roleCode: null, ip: null } })
        .recordReceipt({ paymentId, receivedAmount: 70.5 });
      expect(corrected).to.include({
        receivedAmount: 70.5,
        outstandingAmount: 29.5,
        receivedDate: '2026-03-20',
        method: 'wire',
      });
      const { items, ...frame } = await test.plane.listReceipts({ paymentId });
      expect(frame).to.deep.equal({ page: 1, pageSize: 20, total: 3, pageCount: 1 });
      expect(
        items.map(({ delta, total, receivedDate, actorName, at }) => ({ delta, total, receivedDate, actorName, at })),
      ).to.deep.equal([
        {
          delta: -29.5,
          total: 70.5,
          receivedDate: '2026-03-15',
          actorName: 'operator',
          at: '2026-03-15T08:00:02.000Z',
        },
        { delta: 60, total: 100, receivedDate: '2026-03-20', actorName: 'Ming Li', at: '2026-03-15T08:00:01.000Z' },
        { delta: 40, total: 40, receivedDate: '2026-03-15', actorName: 'Ming Li', at: '2026-03-15T08:00:00.000Z' },
      ]);
      expect(items[2]).to.include({
        paymentId,
        method: 'wire',
        bankSerialNo: 'S-1',
        payerName: '上海远东',
        currencyCode: 'CNY',
      });
      expect(await test.plane.listReceipts({ paymentId, page: 2, pageSize: 2 })).to.deep.equal({
        items: [items[2]],
        page: 2,
        pageSize: 2,
        total: 3,
        pageCount: 2,
      });
    });

    it('include the amount received before the line was created', async () => {
      const test = makePlane();
      const paymentId = await oneLine(test, { amount: 100, receivedAmount: 30, receivedDate: '2026-01-05' });
      const { items } = await test.plane.listReceipts({ paymentId });
      expect(items.map(({ delta, total, receivedDate }) => ({ delta, total, receivedDate }))).to.deep.equal([
        { delta: 30, total: 30, receivedDate: '2026-01-05' },
      ]);
    });

    it('move the money of a corrected date from one day to the other, once', async () => {
      const test = makePlane();
      const paymentId = await oneLine(test, { amount: 100, receivedAmount: 40, receivedDate: '2026-01-05' });
      await test.plane.recordReceipt({ paymentId, receivedAmount: 90 });
      const history = async () =>
        (await test.plane.listReceipts({ paymentId })).items.map(({ delta, total, receivedDate }) => [
          delta,
          total,
          receivedDate,
        ]);
      const inMonths = async () =>
        (await test.plane.getAnalyticsCashflow({ subjectId: null, displayCurrency: 'CNY' })).series
          .filter(({ receivedAmount }) => receivedAmount !== 0)
          .map(({ period, receivedAmount }) => [period, receivedAmount]);
      expect(await inMonths()).to.deep.equal([
        ['2026-01', 40],
        ['2026-03', 50],
      ]);
      for (let i = 0; i < 2; i++)
        expect(await test.plane.recordReceipt({ paymentId, receivedDate: '2026-02-10' })).to.include({
          receivedAmount: 90,
          receivedDate: '2026-02-10',
          reconciliationStatus: 'pending',
        });
      expect(await history()).to.deep.equal([
        [50, 90, '2026-02-10'],
        [-50, 40, '2026-03-15'],
        [50, 90, '2026-03-15'],
        [40, 40, '2026-01-05'],
      ]);
      expect(await inMonths()).to.deep.equal([
        ['2026-01', 40],
        ['2026-02', 50],
      ]);

      await test.plane.recordReceipt({ paymentId, receivedAmount: 30 });
      await test.plane.updatePaymentLine({ paymentId, receivedDate: '2026-02-11' });
      expect((await history()).slice(0, 3), 'no more than the remaining amount').to.deep.equal([
        [30, 30, '2026-02-11'],
        [-30, 0, '2026-02-10'],
        [-60, 30, '2026-03-15'],
      ]);
      await test.plane.recordReceipt({ paymentId, receivedAmount: 20, receivedDate: '2026-04-01' });
      await test.plane.recordReceipt({ paymentId, receivedDate: '2026-04-02' });
      expect((await history()).slice(0, 3), 'a refund').to.deep.equal([
        [-10, 20, '2026-04-02'],
        [10, 30, '2026-04-01'],
        [-10, 20, '2026-04-01'],
      ]);
    });

    it('move the money of a date corrected in a plan, too', async () => {
      const test = makePlane();
      const line = aLine({ amount: 100, receivedAmount: 40 });
      const {
        id: contractId,
        payments: [entered],
      } = await test.plane.createContract(aContract({ payments: [line] }));
      await test.plane.updateContract({ contractId, changes: { payments: [{ ...line, receivedDate: '2026-02-10' }] } });
      const { items } = await test.plane.listReceipts({ paymentId: entered?.id ?? '' });
      expect(items.map(({ delta, receivedDate }) => [delta, receivedDate])).to.deep.equal([
        [40, '2026-02-10'],
        [-40, '2026-03-15'],
        [40, '2026-03-15'],
      ]);
    });

    it('that reduce the total to zero clear the date and the reconciliation', async () => {
      const test = makePlane();
      const paymentId = await oneLine(test, { amount: 100, receivedAmount: 100, reconciliationStatus: 'matched' });
      expect(await test.plane.recordReceipt({ paymentId, receivedAmount: 0 })).to.include({
        receivedDate: null,
        reconciliationStatus: 'pending',
        paymentStatus: 'unpaid',
        outstandingAmount: 100,
      });
      expect(await test.plane.recordReceipt({ paymentId, receivedAmount: null }), 'null is zero, too').to.include({
        receivedAmount: 0,
      });
      expect((await test.plane.listReceipts({ paymentId })).items.map(({ delta }) => delta)).to.deep.equal([-100, 100]);
    });

    it('that overpay a line make it an exception by default, and require a note', async () => {
      const test = makePlane();
      const paymentId = await oneLine(test, { amount: 100 });
      const over = await test.plane.recordReceipt({ paymentId, receivedAmount: 120 });
      expect(over).to.include({
        reconciliationStatus: 'exception',
        overpaidAmount: 20,
        outstandingAmount: 0,
        paymentStatus: 'paid',
        dueStatus: 'settled',
      });
      expect(over.warnings.map(({ code, message }) => [code, message])).to.deep.equal([
        [
          'NOTE_RECOMMENDED',
          'This line has received 20.00 CNY more than its amount; say in reconciliationNote why, or what will be done.',
        ],
      ]);
      expect(
        (await test.plane.recordReceipt({ paymentId, reconciliationNote: 'advance for April' })).warnings,
      ).to.deep.equal([]);
      expect(
        await test.plane.recordReceipt({ paymentId, receivedAmount: 130, reconciliationStatus: 'matched' }),
      ).to.include({ reconciliationStatus: 'matched' });
    });

    it('that refund what was overpaid end the exception, unless the caller names it', async () => {
      const test = makePlane();
      const after = async (change: { reconciliationStatus?: 'exception' }, line: Partial<PaymentLineInput> = {}) => {
        const paymentId = await oneLine(test, { amount: 100, ...line });
        await test.plane.addReceipt({ paymentId, amount: 150 });
        await test.plane.recordReceipt({ paymentId, reconciliationNote: 'refund ordered' });
        const still = await test.plane.recordReceipt({ paymentId, receivedAmount: 120 });
        expect(still.reconciliationStatus, 'while it is overpaid').to.equal('exception');
        return (await test.plane.recordReceipt({ paymentId, receivedAmount: 100, ...change })).reconciliationStatus;
      };
      expect(await after({})).to.equal('pending');
      expect(await after({ reconciliationStatus: 'exception' })).to.equal('exception');
      expect(await after({}, { currencyCode: 'USD' }), 'another currency is one, too').to.equal('exception');
      const paymentId = await oneLine(test, { amount: 100, receivedAmount: 50, reconciliationStatus: 'exception' });
      expect(await test.plane.recordReceipt({ paymentId, receivedAmount: 40 }), 'for another reason').to.include({
        reconciliationStatus: 'exception',
      });
    });

    it('are required for a match', async () => {
      const test = makePlane();
      const paymentId = await oneLine(test, { amount: 100 });
      expect(await failureOf(test.plane.recordReceipt({ paymentId, reconciliationStatus: 'matched' }))).to.deep.equal({
        code: 'RECONCILE_WITHOUT_RECEIPT',
        details: {},
      });
      expect(await failureOf(test.plane.updatePaymentLine({ paymentId, reconciliationStatus: 'matched' }))).to.include({
        code: 'RECONCILE_WITHOUT_RECEIPT',
      });
      expect(
        await test.plane.recordReceipt({ paymentId, receivedAmount: 1, reconciliationStatus: 'matched' }),
      ).to.include({ reconciliationStatus: 'matched' });
      expect(
        await failureOf(test.plane.recordReceipt({ paymentId, receivedAmount: 0, reconciliationStatus: 'matched' })),
      ).to.include({ code: 'RECONCILE_WITHOUT_RECEIPT' });
    });

    it('list at most twenty other lines in the warning for a transfer that settles several', async () => {
      const test = makePlane();
      const { payments } = await test.plane.createContract(
        aContract({
          payments: Array.from({ length: 23 }, (_, n) =>
            aLine({ period: `P${n}`, ...(n < 22 ? { receivedAmount: 1, bankSerialNo: 'S-9' } : {}) }),
          ),
        }),
      );
      const paymentId = payments.find(({ period }) => period === 'P22')?.id ?? '';
      const [warning, ...others] = (
        await test.plane.recordReceipt({ paymentId, receivedAmount: 1, bankSerialNo: 'S-9' })
      ).warnings;
      expect(others).to.deep.equal([]);
      expect(warning).to.include({ code: 'BANK_SERIAL_REUSED' });
      expect(warning?.paymentIds).to.have.length(20).and.not.include(paymentId);
      expect(
        (await test.plane.recordReceipt({ paymentId, receivedAmount: 2 })).warnings,
        'it is reported when the serial number is set',
      ).to.deep.equal([]);
    });

    it('are correct after fifty concurrent requests on each of two lines of one contract', async () => {
      const test = makePlane();
      const { id, payments } = await test.plane.createContract(
        aContract({ payments: [aLine({ amount: 1_000 }), aLine({ amount: 1_000, period: 'second' })] }),
      );
      await Promise.all(
        Array.from({ length: 100 }, (_, n) =>
          test.plane.recordReceipt({ paymentId: payments[n % 2]?.id ?? '', receivedAmount: n + 1 }),
        ),
      );
      const contract = await test.plane.getContract({ contractId: id });
      for (const line of contract.payments) {
        const { items, total } = await test.plane.listReceipts({ paymentId: line.id, pageSize: 100 });
        expect(total).to.equal(50);
        const history = items.toReversed();
        history.reduce((before, { delta, total: after }) => {
          expect(after).to.equal(before + delta);
          return after;
        }, 0);
        expect(items[0]?.total).to.equal(line.receivedAmount);
      }
      expect(contract.receivedAmount).to.equal(contract.payments.reduce((sum, line) => sum + line.receivedAmount, 0));
      expect(contract.version).to.equal(101);
    });

    it("and changes in any order leave the contract's totals equal to its lines'", async () => {
      const test = makePlane();
      await fc.assert(
        fc.asyncProperty(fc.array(step, { maxLength: 12 }), async (steps) => {
          const { id, payments } = await test.plane.createContract(
            aContract({
              payments: [aLine({ amount: 10 }), aLine({ amount: 20, period: 'second', dueDate: '2026-02-01' })],
            }),
          );
          for (const { line, ...change } of steps)
            await test.plane.updatePaymentLine({ paymentId: payments[line]?.id ?? '', ...change });
          const { payments: lines, ...contract } = await test.plane.getContract({ contractId: id });
          const sum = (of: (line: (typeof lines)[number]) => number) =>
            lines.reduce((total, line) => total + of(line), 0);
          const open = lines.filter(({ amount, receivedAmount }) => amount > receivedAmount);
          expect(contract).to.include({
            receivableAmount: sum(({ amount }) => amount),
            receivedAmount: sum(({ receivedAmount }) => receivedAmount),
            outstandingAmount: sum(({ amount, receivedAmount }) => Math.max(0, amount - receivedAmount)),
            overpaidAmount: sum(({ amount, receivedAmount }) => Math.max(0, receivedAmount - amount)),
            invoicedAmount: sum(({ invoiceAmount }) => invoiceAmount ?? 0),
            uninvoicedAmount: sum(({ amount, invoiceAmount }) => Math.max(0, amount - (invoiceAmount ?? 0))),
            nextDueDate: open.map(({ dueDate }) => dueDate).toSorted()[0] ?? null,
            overdueAmount: open
              .filter(({ dueDate }) => dueDate < '2026-03-15')
              .reduce((total, { amount, receivedAmount }) => total + amount - receivedAmount, 0),
            paymentStatus:
              open.length === 0
                ? 'paid'
                : lines.every(({ receivedAmount }) => receivedAmount === 0)
                  ? 'unpaid'
                  : 'partial',
          });
        }),
        { numRuns: 25 },
      );
    });
  });
});

// Whole amounts, so that the sums in the test are exact.
const amount = fc.integer({ min: 0, max: 40 });
const step = fc.record(
  {
    line: fc.integer({ min: 0, max: 1 }),
    amount,
    receivedAmount: amount,
    invoiceAmount: amount,
    dueDate: fc.constantFrom('2026-03-14', '2026-03-15', '2026-09-01'),
  },
  { requiredKeys: ['line'] },
);

/** Creates a contract with this line, and returns the line's id. */
async function oneLine({ plane }: Pick<TestPlane, 'plane'>, line: Partial<PaymentLineInput>): Promise<string> {
  const { payments } = await plane.createContract(aContract({ payments: [aLine(line)] }));
  return payments[0]?.id ?? '';
}
