import { expect } from 'chai';
import { newId } from '../../data-plane-agent/base/ids.js';
import type { PaymentLineInput } from '../../data-plane-agent/plane/contract/records/lines.js';
import { forEachPlane, type TestPlane } from '../support/plane.js';
import { badFields, failureOf } from '../support/failures.js';
import { aContract, aLine } from '../support/samples.js';

// The calls run on 2026-03-15, the lead is 7 days, the currency CNY.
describe('payment lines', () => {
  forEachPlane((_name, makePlane) => {
    it("are added with the amount already received, and the contract's totals include it", async () => {
      const { plane } = makePlane();
      const { id } = await plane.createContract(aContract({ payments: [aLine({ amount: 100 })] }));
      const line = await plane.addPaymentLine({
        contractId: id,
        period: 'delivery',
        dueDate: '2026-03-10',
        amount: 250.5,
        receivedAmount: 50.25,
        method: 'wire',
      });
      expect(line).to.include({
        contractId: id,
        amount: 250.5,
        receivedAmount: 50.25,
        outstandingAmount: 200.25,
        receivedDate: '2026-03-15',
        paymentStatus: 'partial',
        dueStatus: 'overdue',
        daysOverdue: 5,
        currencyCode: 'CNY',
      });
      const contract = await plane.getContract({ contractId: id });
      expect(contract).to.include({
        receivableAmount: 350.5,
        receivedAmount: 50.25,
        outstandingAmount: 300.25,
        overdueAmount: 200.25,
        nextDueDate: '2026-03-10',
        paymentStatus: 'partial',
        version: 2,
      });
      expect(contract.payments.map(({ period }) => period)).to.deep.equal(['delivery', '2026-04']);
    });

    it('are updated, and a matched one is pending again after its amount changes', async () => {
      const test = makePlane();
      const { line, contractId } = await oneLine(test, {
        amount: 100,
        receivedAmount: 60,
        reconciliationStatus: 'matched',
      });
      const moved = await test.plane.updatePaymentLine({ paymentId: line.id, period: 'final', dueDate: '2026-05-01' });
      expect(moved).to.include({
        period: 'final',
        dueDate: '2026-05-01',
        amount: 100,
        reconciliationStatus: 'matched',
      });
      expect(await test.plane.updatePaymentLine({ paymentId: line.id, amount: 120 })).to.include({
        amount: 120,
        outstandingAmount: 60,
        reconciliationStatus: 'pending',
      });
      expect(await test.plane.getContract({ contractId })).to.include({
        outstandingAmount: 60,
        receivableAmount: 120,
        nextDueDate: '2026-05-01',
        version: 3,
      });
    });

    it('become an exception if a new amount leaves them overpaid, unless the caller sets a status', async () => {
      const test = makePlane();
      const [first, second] = [
        await oneLine(test, { amount: 100, receivedAmount: 100 }),
        await oneLine(test, { amount: 100, receivedAmount: 100 }),
      ];
      expect(await test.plane.updatePaymentLine({ paymentId: first.line.id, amount: 60 })).to.include({
        overpaidAmount: 40,
        reconciliationStatus: 'exception',
      });
      expect(
        await test.plane.updatePaymentLine({ paymentId: second.line.id, amount: 60, reconciliationStatus: 'matched' }),
      ).to.include({ overpaidAmount: 40, reconciliationStatus: 'matched' });
    });

    it('keep their version, without receipt or audit row, after a change that changes nothing', async () => {
      const test = makePlane();
      const { line, contractId } = await oneLine(test, { amount: 100, receivedAmount: 60, method: 'wire' });
      const before = { contract: await test.plane.getContract({ contractId }), audits: await auditRows(test) };
      test.clock.advance(60_000);
      await test.plane.recordReceipt({ paymentId: line.id, receivedAmount: 60, receivedDate: null, method: 'wire' });
      await test.plane.recordReceipt({ paymentId: line.id });
      await test.plane.updatePaymentLine({ paymentId: line.id, amount: 100, period: line.period });
      await test.plane.recordInvoiceEvidence({ paymentId: line.id, invoiceNo: null });
      expect(await test.plane.getContract({ contractId })).to.deep.equal(before.contract);
      expect(await auditRows(test)).to.equal(before.audits);
      expect((await test.plane.listReceipts({ paymentId: line.id })).total).to.equal(1);
    });

    it("have the contract's currency or another one, which is fixed once there is money", async () => {
      const { plane, ...test } = makePlane();
      const { line, contractId } = await oneLine({ plane, ...test }, { amount: 100 });
      const yen = await plane.updatePaymentLine({ paymentId: line.id, currencyCode: 'JPY' });
      expect(yen).to.include({ amount: 100, currencyCode: 'JPY' });
      expect(yen.warnings.map(({ code }) => code)).to.deep.equal(['MIXED_CURRENCY']);
      expect(await plane.getContract({ contractId })).to.include({
        receivableAmount: 0,
        outstandingAmount: 0,
        paymentStatus: 'unpaid',
      });
      expect(await plane.updatePaymentLine({ paymentId: line.id, currencyCode: null })).to.include({
        amount: 100,
        currencyCode: 'CNY',
      });
      await plane.updatePaymentLine({ paymentId: line.id, amount: 100.25 });
      expect(await badFields(plane.updatePaymentLine({ paymentId: line.id, currencyCode: 'JPY' }))).to.have.all.keys(
        'amount',
      );
      await plane.recordReceipt({ paymentId: line.id, receivedAmount: 1 });
      expect(
        await failureOf(plane.updatePaymentLine({ paymentId: line.id, currencyCode: 'JPY', amount: 100 })),
      ).to.deep.equal({ code: 'CURRENCY_FIXED', details: { currencyCode: 'CNY' } });
      expect(
        await plane.updatePaymentLine({ paymentId: line.id, currencyCode: 'CNY' }),
        'the same currency is no change',
      ).to.include({ receivedAmount: 1 });
      await plane.recordReceipt({ paymentId: line.id, receivedAmount: 0 });
      expect(
        await failureOf(plane.updatePaymentLine({ paymentId: line.id, currencyCode: 'JPY', amount: 100 })),
        'it has a receipt history',
      ).to.include({ code: 'CURRENCY_FIXED' });
    });

    it("are an exception if money was received in another currency than the contract's", async () => {
      const test = makePlane();
      const { line } = await oneLine(test, { amount: 100, currencyCode: 'USD' });
      expect(await test.plane.recordReceipt({ paymentId: line.id, receivedAmount: 100 })).to.include({
        reconciliationStatus: 'exception',
        currencyCode: 'USD',
      });
      expect(
        await test.plane.recordReceipt({ paymentId: line.id, receivedAmount: 99, reconciliationStatus: 'matched' }),
      ).to.include({ reconciliationStatus: 'matched' });
    });

    it('are deleted if they have no receipts: they leave the totals, and stay in the history', async () => {
      const test = makePlane();
      const { line, contractId } = await oneLine(test, { amount: 100 });
      expect(await test.plane.deletePaymentLine({ paymentId: line.id })).to.deep.equal({ ok: true });
      expect(await test.plane.getContract({ contractId })).to.deep.include({
        payments: [],
        receivableAmount: 0,
        nextDueDate: null,
        version: 2,
      });
      expect(await failureOf(test.plane.deletePaymentLine({ paymentId: line.id }))).to.include({ code: 'NOT_FOUND' });
      expect(await failureOf(test.plane.recordReceipt({ paymentId: line.id, receivedAmount: 1 }))).to.include({
        code: 'NOT_FOUND',
      });
      expect(await failureOf(test.plane.updatePaymentLine({ paymentId: line.id, amount: 1 }))).to.include({
        code: 'NOT_FOUND',
      });
    });

    for (const [what, money] of [
      ['a receipt', { receivedAmount: 1 }],
      ['an invoice', { invoiceNo: 'F-1' }],
      ['an invoiced amount', { invoiceAmount: 1 }],
    ] as const) {
      it(`are not deleted with ${what}`, async () => {
        const test = makePlane();
        const { line } = await oneLine(test, { amount: 100, ...money });
        expect(await failureOf(test.plane.deletePaymentLine({ paymentId: line.id }))).to.deep.equal({
          code: 'LINE_HAS_MONEY',
          details: { paymentIds: [line.id] },
        });
      });
    }

    it('of a locked contract keep the plan, and accept receipts, invoices and additions', async () => {
      const { as } = makePlane({ controls: { signed: 'admin' } });
      const plane = as({});
      const { id, payments, locked } = await plane.createContract(
        aContract({ workflowStage: 'signed', payments: [aLine({ amount: 100 })] }),
      );
      const paymentId = payments[0]?.id ?? '';
      expect(locked).to.equal(true);
      for (const change of [{ amount: 101 }, { period: 'other' }, { dueDate: '2026-06-01' }, { currencyCode: 'USD' }]) {
        expect(await failureOf(plane.updatePaymentLine({ paymentId, ...change }))).to.deep.equal({
          code: 'CONTRACT_LOCKED',
          details: { fields: ['payments'] },
        });
      }
      expect(await failureOf(plane.deletePaymentLine({ paymentId }))).to.include({ code: 'CONTRACT_LOCKED' });
      expect(
        await plane.updatePaymentLine({ paymentId, amount: 100, receivedAmount: 10 }),
        'an equal value is no change',
      ).to.include({ receivedAmount: 10 });
      expect(await plane.recordReceipt({ paymentId, receivedAmount: 20 })).to.include({ receivedAmount: 20 });
      expect(await plane.recordInvoiceEvidence({ paymentId, invoiceAmount: 20 })).to.include({ invoicedAmount: 20 });
      expect(await plane.addPaymentLine({ contractId: id, ...aLine() })).to.include({ contractId: id });
    });

    it('count invoice evidence as invoiced until it is cleared, and warn if it exceeds the line', async () => {
      const test = makePlane();
      const { line, contractId } = await oneLine(test, { amount: 100 });
      const invoiced = await test.plane.recordInvoiceEvidence({
        paymentId: line.id,
        invoiceAmount: 130,
        invoiceNo: 'F-1',
        invoiceDate: '2026-03-01',
      });
      expect(invoiced).to.include({
        invoiceAmount: 130,
        invoiceNo: 'F-1',
        invoiceDate: '2026-03-01',
        invoicedAmount: 130,
        uninvoicedAmount: 0,
      });
      expect(invoiced.warnings.map(({ code }) => code)).to.deep.equal(['INVOICE_EXCEEDS_LINE']);
      expect(await test.plane.getContract({ contractId })).to.include({ invoicedAmount: 130, uninvoicedAmount: 0 });
      expect(await test.plane.recordInvoiceEvidence({ paymentId: line.id, invoiceAmount: null })).to.include({
        invoiceAmount: null,
        invoicedAmount: 0,
        uninvoicedAmount: 100,
        invoiceNo: 'F-1',
      });
    });

    it('report amounts with more decimals than the currency', async () => {
      const test = makePlane();
      const { line, contractId } = await oneLine(test, { amount: 100 });
      expect(
        await badFields(
          test.plane.recordReceipt({ paymentId: line.id, receivedAmount: 1.005, reconciliationStatus: 'matched' }),
        ),
      ).to.deep.equal({ receivedAmount: 'must have at most 2 decimals in CNY' });
      expect(
        await badFields(test.plane.recordInvoiceEvidence({ paymentId: line.id, invoiceAmount: 1.005 })),
      ).to.have.all.keys('invoiceAmount');
      expect(
        await badFields(
          test.plane.addPaymentLine({
            contractId,
            ...aLine({ amount: 0.001, receivedAmount: 0.5, invoiceAmount: 0.002, currencyCode: 'JPY' }),
          }),
        ),
      ).to.have.all.keys('amount', 'receivedAmount', 'invoiceAmount');
    });

    it('report the field by which a total exceeds the cap', async () => {
      const test = makePlane();
      const { line, contractId } = await oneLine(test, { amount: 8_999_999_999_999 });
      const second = await test.plane.addPaymentLine({ contractId, ...aLine({ amount: 1 }) });
      expect(await badFields(test.plane.addPaymentLine({ contractId, ...aLine({ amount: 0.01 }) }))).to.have.all.keys(
        'amount',
      );
      expect(await badFields(test.plane.updatePaymentLine({ paymentId: second.id, amount: 1.01 }))).to.have.all.keys(
        'amount',
      );
      await test.plane.recordReceipt({ paymentId: line.id, receivedAmount: 9_000_000_000_000 });
      expect(await badFields(test.plane.recordReceipt({ paymentId: second.id, receivedAmount: 0.01 }))).to.deep.equal({
        receivedAmount: "must leave the sum of the contract's lines in bounds: it must be <= 9000000000000 in CNY",
      });
      await test.plane.recordInvoiceEvidence({ paymentId: line.id, invoiceAmount: 9_000_000_000_000 });
      expect(
        await badFields(test.plane.recordInvoiceEvidence({ paymentId: second.id, invoiceAmount: 0.01 })),
      ).to.have.all.keys('invoiceAmount');
    });

    it('are refused with a new contract if together they exceed the cap', async () => {
      const { plane } = makePlane();
      const two = (line: Partial<PaymentLineInput>) =>
        plane.createContract(aContract({ payments: [aLine(line), aLine({ ...line, period: 'second' })] }));
      for (const line of [
        { amount: 9_000_000_000_000 },
        { amount: 1, receivedAmount: 9_000_000_000_000 },
        { amount: 1, invoiceAmount: 9_000_000_000_000 },
      ]) {
        expect(await badFields(two(line))).to.have.all.keys('payments');
      }
    });

    it('are not changed by a request with a missing file', async () => {
      const test = makePlane();
      const { line, contractId } = await oneLine(test, { amount: 100 });
      const fileId = newId();
      expect(
        await failureOf(test.plane.recordReceipt({ paymentId: line.id, receivedAmount: 5, proof: fileId })),
      ).to.deep.equal({ code: 'FILE_REFERENCE_INVALID', details: { field: 'proof', value: fileId } });
      expect(
        await failureOf(test.plane.recordInvoiceEvidence({ paymentId: line.id, invoiceAttachment: 'no-id' })),
      ).to.deep.include({ details: { field: 'invoiceAttachment', value: 'no-id' } });
      expect(await failureOf(test.plane.addPaymentLine({ contractId, ...aLine({ proof: fileId }) }))).to.include({
        code: 'FILE_REFERENCE_INVALID',
      });
      expect(await test.plane.getContract({ contractId })).to.include({ receivedAmount: 0, version: 1 });
    });

    it("outside the caller's tenant, subject scope or owner scope are treated as missing", async () => {
      const test = makePlane();
      const { line, contractId } = await oneLine(test, { amount: 100, receivedAmount: 1 });
      const otherCallers = {
        'another tenant': { tenantId: newId() },
        'another subject': { subjectScope: [newId()] },
        'no subject': { subjectScope: [] },
        'another owner': { ownerScope: newId() },
      };
      for (const [caller, scope] of Object.entries(otherCallers)) {
        const plane = test.as(scope);
        const calls = {
          update: () => plane.updatePaymentLine({ paymentId: line.id, amount: 1 }),
          remove: () => plane.deletePaymentLine({ paymentId: line.id }),
          receive: () => plane.recordReceipt({ paymentId: line.id, receivedAmount: 2 }),
          invoice: () => plane.recordInvoiceEvidence({ paymentId: line.id, invoiceAmount: 2 }),
          receipts: () => plane.listReceipts({ paymentId: line.id }),
          add: () => plane.addPaymentLine({ contractId, ...aLine() }),
          list: () => plane.listPayments({ contractId }),
        };
        for (const [what, call] of Object.entries(calls))
          expect(await failureOf(call()), `${what} by ${caller}`).to.deep.equal({ code: 'NOT_FOUND', details: {} });
        expect(await plane.listPayments({ tab: 'all' }), caller).to.include({ total: 0 });
        expect((await plane.getPaymentStats({})).counts.all, caller).to.equal(0);
      }
      for (const paymentId of [newId(), 'no-id'])
        expect(await failureOf(test.plane.recordReceipt({ paymentId, receivedAmount: 2 }))).to.deep.equal({
          code: 'NOT_FOUND',
          details: {},
        });
      expect(await failureOf(test.plane.addPaymentLine({ contractId: 'no-id', ...aLine() }))).to.deep.equal({
        code: 'NOT_FOUND',
        details: {},
      });
      expect(await test.plane.getContract({ contractId })).to.include({ version: 1 });
    });

    it('are visible to the owner and the superior of their contract', async () => {
      const [owner, superior] = [newId(), newId()];
      const test = makePlane();
      await test.plane.createContract(
        aContract({ ownerId: owner, ownerSuperiorId: superior, payments: [aLine({ amount: 5 })] }),
      );
      await test.plane.createContract(aContract({ payments: [aLine({ amount: 7 })] }));
      for (const ownerScope of [owner, superior]) {
        expect(
          (await test.as({ ownerScope }).listPayments({ tab: 'all' })).items.map(({ amount }) => amount),
        ).to.deep.equal([5]);
        expect(await test.as({ ownerScope }).getPaymentStats({})).to.include({ amount: 5 });
      }
    });
  });
});

/** A contract with this line. */
async function oneLine({ plane }: Pick<TestPlane, 'plane'>, line: Partial<PaymentLineInput>) {
  const { id, payments } = await plane.createContract(aContract({ payments: [aLine(line)] }));
  const [made] = payments;
  if (!made) throw new Error('the contract has no line');
  return { contractId: id, line: made };
}

async function auditRows({ database, call }: TestPlane): Promise<number> {
  return database.read(call, async (tx) =>
    Number((await tx.get('SELECT count(*) AS n FROM audit_log WHERE tenant_id = ?', [call.tenantId]))?.['n']),
  );
}
