import { expect } from 'chai';
import { newId } from '../../data-plane-agent/base/ids.js';
import type { ContractInput } from '../../data-plane-agent/plane/contract/records/contracts.js';
import type { InvoiceEvidencePatch, PaymentLineInput } from '../../data-plane-agent/plane/contract/records/lines.js';
import { failureOf } from '../support/failures.js';
import { forEachPlane, type TestPlane } from '../support/plane.js';
import { aContract, aLine } from '../support/samples.js';

async function contractWithLine(
  t: TestPlane,
  line: Partial<PaymentLineInput> = {},
  changes: Partial<ContractInput> = {},
) {
  const contract = await t.plane.createContract(
    aContract({ payments: [aLine({ amount: 1_000, ...line })], ...changes }),
  );
  const contractId = contract.id;
  const paymentId = contract.payments[0]?.id ?? '';
  return {
    contract,
    contractId,
    paymentId,
    recordEvidence: (patch: InvoiceEvidencePatch) => t.plane.recordInvoiceEvidence({ paymentId, ...patch }),
    post: (input: { invoiceNo: string; invoiceAmount: number; status?: 'draft' | 'issued' | 'red_letter' }) =>
      t.plane.addInvoice({ contractId, receivablePlanId: paymentId, ...input }),
    detail: () => t.plane.getContract({ contractId }),
    records: async () =>
      (await t.plane.getContract({ contractId })).invoices.map(({ invoiceNo, invoiceAmount, status }) => [
        invoiceNo,
        invoiceAmount,
        status,
      ]),
  };
}

describe('the invoice data of a line', () => {
  forEachPlane((_name, makePlane) => {
    it('is one issued record once it has a number, and is counted once', async () => {
      const b = await contractWithLine(makePlane(), {}, { invoicePoints: 13 });
      expect(await b.recordEvidence({ invoiceAmount: 400 })).to.include({
        invoiceAmount: 400,
        invoicedAmount: 400,
        invoiceDate: '2026-03-15',
      });
      expect(await b.records()).to.deep.equal([]);
      expect(await b.recordEvidence({ invoiceNo: 'L-1' })).to.include({
        invoiceNo: 'L-1',
        invoicedAmount: 400,
        uninvoicedAmount: 600,
      });
      const { invoices, invoicedAmount } = await b.detail();
      expect(invoices).to.have.length(1);
      expect(invoices[0]).to.include({
        invoiceNo: 'L-1',
        invoiceAmount: 400,
        invoiceDate: '2026-03-15',
        status: 'issued',
        receivablePlanId: b.paymentId,
        taxRate: 13,
        taxAmount: 46.02,
        netAmount: 353.98,
      });
      expect(invoicedAmount).to.equal(400);
      await b.post({ invoiceNo: 'L-2', invoiceAmount: 100, status: 'issued' });
      expect(await b.detail()).to.include({ invoicedAmount: 500, uninvoicedAmount: 500 });
    });

    it("updates the record's amount, date and number, and changes nothing when repeated", async () => {
      const b = await contractWithLine(makePlane());
      await b.recordEvidence({ invoiceNo: 'L-1', invoiceAmount: 400 });
      const [first] = (await b.detail()).invoices;
      await b.recordEvidence({ invoiceNo: 'L-2', invoiceAmount: 450, invoiceDate: '2026-03-01' });
      const { invoices, version } = await b.detail();
      expect(invoices).to.have.length(1);
      expect(invoices[0]).to.include({
        id: first?.id,
        invoiceNo: 'L-2',
        invoiceAmount: 450,
        invoiceDate: '2026-03-01',
      });
      await b.recordEvidence({ invoiceNo: 'L-2', invoiceAmount: 450, invoiceDate: '2026-03-01' });
      await b.recordEvidence({ invoiceDate: null });
      expect(await b.detail()).to.include({ version });
      await b.recordEvidence({ invoiceAmount: null });
      expect(await b.records()).to.deep.equal([['L-2', 0, 'issued']]);
    });

    it('creates records for a new line, in a new contract and in its plan, also in one request', async () => {
      const t = makePlane();
      const subjectId = newId();
      const b = await contractWithLine(t, { invoiceNo: 'N-1', invoiceAmount: 10 }, { subjectId });
      expect(b.contract.invoices.map(({ invoiceNo }) => invoiceNo)).to.deep.equal(['N-1']);
      expect(b.contract).to.include({ invoicedAmount: 10 });
      const added = await t.plane.addPaymentLine({
        contractId: b.contractId,
        ...aLine({ period: 'second', invoiceNo: 'N-2', invoiceAmount: 20 }),
      });
      expect(added).to.include({ invoicedAmount: 20, invoiceDate: '2026-03-15' });
      const changed = await t.plane.updateContract({
        contractId: b.contractId,
        // The first two exchange their numbers.
        changes: {
          payments: [
            aLine({ invoiceNo: 'N-2', invoiceAmount: 10 }),
            aLine({ period: 'second', invoiceNo: 'N-1', invoiceAmount: 20 }),
            aLine({ period: 'third', invoiceNo: 'N-3', invoiceAmount: 5 }),
          ],
        },
      });
      expect(changed.invoices.map(({ invoiceNo, invoiceAmount }) => [invoiceNo, invoiceAmount])).to.deep.equal([
        ['N-2', 10],
        ['N-1', 20],
        ['N-3', 5],
      ]);
      expect(changed).to.include({ invoicedAmount: 35 });
      const duplicate = { code: 'DUPLICATE_CODE', details: { field: 'invoiceNo', value: 'n-3' } };
      expect(
        await failureOf(t.plane.createContract(aContract({ subjectId, payments: [aLine({ invoiceNo: 'n-3' })] }))),
      ).to.deep.equal(duplicate);
      expect(
        await failureOf(
          t.plane.addPaymentLine({ contractId: b.contractId, ...aLine({ period: 'fourth', invoiceNo: 'n-3' }) }),
        ),
      ).to.deep.equal(duplicate);
      expect(
        await failureOf(
          t.plane.createContract(
            aContract({ payments: [aLine({ invoiceNo: 'n-3' }), aLine({ period: 'b', invoiceNo: 'N-3' })] }),
          ),
        ),
      ).to.deep.include({ code: 'DUPLICATE_CODE' });
    });

    it('uses an existing record with its number', async () => {
      const b = await contractWithLine(makePlane());
      const posted = await b.post({ invoiceNo: 'P-1', invoiceAmount: 300, status: 'draft' });
      expect(await b.recordEvidence({ invoiceNo: 'p-1' })).to.include({ invoicedAmount: 300 });
      const { invoices } = await b.detail();
      expect(
        invoices.map(({ id, invoiceNo, status, invoiceAmount }) => [id, invoiceNo, status, invoiceAmount]),
      ).to.deep.equal([[posted.id, 'p-1', 'issued', 300]]);
      await b.recordEvidence({ invoiceDate: '2026-03-02' });
      expect((await b.detail()).invoices[0]).to.include({ invoiceAmount: 300, invoiceDate: '2026-03-02' });
    });

    it('creates no record without a number, unless money was matched to the line', async () => {
      const t = makePlane();
      const b = await contractWithLine(t);
      await b.recordEvidence({ invoiceNo: 'C-1', invoiceAmount: 400 });
      expect(await b.recordEvidence({ invoiceNo: null })).to.include({
        invoiceNo: null,
        invoiceAmount: 400,
        invoicedAmount: 400,
      });
      expect(await b.records()).to.deep.equal([]);
      await b.recordEvidence({ invoiceNo: 'C-1' });
      await t.plane.recordReceipt({ paymentId: b.paymentId, receivedAmount: 1 });
      await t.plane.recordReceipt({ paymentId: b.paymentId, reconciliationStatus: 'matched' });
      expect(await failureOf(b.recordEvidence({ invoiceNo: null }))).to.deep.equal({
        code: 'LINE_HAS_MONEY',
        details: { paymentIds: [b.paymentId] },
      });
      expect(await b.records()).to.deep.equal([['C-1', 400, 'issued']]);
    });

    it('is cleared once its record is void or reversed, and the line accepts another', async () => {
      const t = makePlane();
      const b = await contractWithLine(t);
      for (const [invoiceNo, status] of [
        ['V-1', 'void'],
        ['V-1', 'red_letter'],
      ] as const) {
        await b.recordEvidence({ invoiceNo, invoiceAmount: 400 });
        const record = (await b.detail()).invoices.at(-1);
        await t.plane.updateInvoice({ contractId: b.contractId, invoiceId: record?.id ?? '', changes: { status } });
        const { payments, invoicedAmount } = await b.detail();
        expect(payments[0], status).to.include({
          invoiceNo: null,
          invoiceAmount: null,
          invoiceDate: null,
          invoicedAmount: 0,
          uninvoicedAmount: 1_000,
        });
        expect(invoicedAmount).to.equal(0);
      }
      expect(
        await failureOf(b.recordEvidence({ invoiceNo: 'V-1', invoiceAmount: 1 })),
        'the number of a reversed record remains taken',
      ).to.deep.equal({ code: 'DUPLICATE_CODE', details: { field: 'invoiceNo', value: 'V-1' } });
      expect(await b.recordEvidence({ invoiceNo: 'V-2', invoiceAmount: 250 })).to.include({ invoicedAmount: 250 });
      expect(await b.records()).to.deep.equal([
        ['V-1', 400, 'void'],
        ['V-1', 400, 'issued'],
        ['V-1-R', 400, 'red_letter'],
        ['V-2', 250, 'issued'],
      ]);
    });

    it('does not fall below the red letters on the line', async () => {
      const b = await contractWithLine(makePlane());
      await b.recordEvidence({ invoiceNo: 'E-1', invoiceAmount: 400 });
      await b.post({ invoiceNo: 'E-2', invoiceAmount: 300, status: 'red_letter' });
      expect(await failureOf(b.recordEvidence({ invoiceAmount: 299.99 }))).to.deep.equal({
        code: 'RED_LETTER_EXCEEDS_ISSUED',
        details: { issuedAmount: 299.99, redLetterAmount: 300, currencyCode: 'CNY' },
      });
      expect(await failureOf(b.recordEvidence({ invoiceNo: null }))).to.include({ code: 'RED_LETTER_EXCEEDS_ISSUED' });
      expect(await b.recordEvidence({ invoiceAmount: 300 })).to.include({ invoicedAmount: 0, uninvoicedAmount: 1_000 });
    });

    it('without a number counts only while the line has no records, with a warning', async () => {
      const b = await contractWithLine(makePlane());
      expect((await b.recordEvidence({ invoiceAmount: 400 })).warnings).to.deep.equal([]);
      await b.post({ invoiceNo: 'U-1', invoiceAmount: 100, status: 'draft' });
      expect(await b.detail()).to.include({ invoicedAmount: 0, uninvoicedAmount: 1_000 });
      const reported = await b.recordEvidence({ invoiceAmount: 450 });
      expect(reported).to.include({ invoicedAmount: 0 });
      expect(reported.warnings.map(({ code }) => code)).to.deep.equal(['INVOICE_RECORDS_COUNT']);
    });
  });
});
