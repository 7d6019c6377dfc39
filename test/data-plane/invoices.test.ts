import { expect } from 'chai';
import { INVOICE_STATUSES, type InvoiceStatus } from '../../data-plane-agent/plane/contract/vocabulary.js';
import { failureOf } from '../support/failures.js';
import { forEachPlane } from '../support/plane.js';
import { aLine } from '../support/samples.js';
import { invoicedContract } from '../support/invoices.js';

/** The transitions of the specification. */
const TABLE: Readonly<Record<InvoiceStatus, readonly InvoiceStatus[]>> = {
  draft: ['issued', 'void'],
  issued: ['void', 'red_letter'],
  void: [],
  red_letter: [],
};

describe('invoice records', () => {
  forEachPlane((_name, makePlane) => {
    it('are created in any of four states, as drafts by default', async () => {
      const b = await invoicedContract(makePlane(), { invoicePoints: 13 });
      const draft = await b.post({ note: 'soon' });
      expect(draft).to.deep.include({
        contractId: b.contractId,
        receivablePlanId: null,
        paymentRecordId: null,
        invoiceAmount: 100,
        currencyCode: 'CNY',
        invoiceDate: null,
        status: 'draft',
        attachment: null,
        taxRate: 13,
        taxAmount: 11.5,
        netAmount: 88.5,
        note: 'soon',
        reversesInvoiceId: null,
        reversedByInvoiceId: null,
        contractVersion: 2,
        warnings: [],
      });
      for (const status of ['issued', 'red_letter'] as const)
        expect(await b.post({ status }), status).to.include({ status, invoiceDate: '2026-03-15' });
      expect(await b.post({ status: 'issued', invoiceDate: '2026-01-31', taxRate: 0 })).to.include({
        invoiceDate: '2026-01-31',
        taxRate: 0,
        taxAmount: 0,
        netAmount: 100,
      });
      expect(await b.post({ status: 'void' })).to.include({ status: 'void', invoiceDate: null });
      const { invoices, version } = await b.detail();
      expect(invoices.map(({ status }) => status)).to.deep.equal(['draft', 'issued', 'red_letter', 'issued', 'void']);
      const { contractVersion: _, warnings: __, ...plain } = draft;
      expect(invoices[0]).to.deep.equal(plain);
      expect(version).to.equal(6);
    });

    it('with a tax rate between 0 and 1 are accepted with a warning, since the rate is in percent', async () => {
      const rated = await invoicedContract(makePlane());
      for (const [taxRate, warned] of [
        [0.13, ['TAX_RATE_BELOW_ONE']],
        [1, []],
      ] as const)
        expect((await rated.post({ taxRate })).warnings.map(({ code }) => code)).to.deep.equal(warned);
    });

    it('count on their line once issued, and red letters are subtracted', async () => {
      const b = await invoicedContract(makePlane());
      const receivablePlanId = b.lineId;
      await b.post({ receivablePlanId, invoiceAmount: 500 });
      await b.post({ receivablePlanId, invoiceAmount: 700, status: 'void' });
      await b.post({ receivablePlanId, invoiceAmount: 300, status: 'issued' });
      await b.post({ receivablePlanId, invoiceAmount: 200, status: 'issued' });
      await b.post({ receivablePlanId, invoiceAmount: 120.5, status: 'red_letter' });
      const { payments, ...contract } = await b.detail();
      expect(payments[0]).to.include({ invoicedAmount: 379.5, uninvoicedAmount: 620.5 });
      expect(contract).to.include({ invoicedAmount: 379.5, uninvoicedAmount: 620.5 });
      const over = await b.post({ receivablePlanId, invoiceAmount: 700, status: 'issued' });
      expect(over.warnings).to.deep.equal([
        {
          code: 'INVOICE_EXCEEDS_LINE',
          message: 'The invoiced amount exceeds the amount of the payment line.',
          paymentIds: [b.lineId],
        },
      ]);
      expect(await b.detail()).to.include({ invoicedAmount: 1_079.5, uninvoicedAmount: 0 });
    });

    it('without a line count for the contract, and do not reduce the uninvoiced amount of its lines', async () => {
      const b = await invoicedContract(makePlane());
      await b.post({ status: 'issued', invoiceAmount: 250 });
      const reversed = await b.post({ status: 'issued', invoiceAmount: 80 });
      await b.patch(reversed.id, { status: 'red_letter' });
      await b.post({ receivablePlanId: b.lineId, status: 'issued', invoiceAmount: 100 });
      expect(await b.detail()).to.include({ invoicedAmount: 350, uninvoicedAmount: 900 });
    });

    for (const from of INVOICE_STATUSES) {
      for (const to of INVOICE_STATUSES) {
        const isAllowed = from === to || TABLE[from].includes(to);
        it(`${isAllowed ? 'change' : 'do not change'} from ${from} to ${to}`, async () => {
          const b = await invoicedContract(makePlane());
          await b.post({ status: 'issued', invoiceAmount: 100 }); // the amount that a red letter may subtract
          const { id } = await b.post({ status: from });
          const { version } = await b.detail();
          if (!isAllowed) {
            expect(await failureOf(b.patch(id, { status: to }))).to.deep.equal({
              code: 'INVALID_TRANSITION',
              details: { field: 'status', from, to, allowed: [...TABLE[from]] },
            });
            expect((await b.detail()).version).to.equal(version);
            return;
          }
          const moved = await b.patch(id, { status: to });
          const isReversal = from === 'issued' && to === 'red_letter';
          expect(moved.status).to.equal(isReversal ? 'issued' : to);
          expect(moved.contractVersion).to.equal(from === to ? version : version + 1);
          expect(moved.invoiceDate).to.equal(
            ['issued', 'red_letter'].includes(moved.status) || from === 'issued' ? '2026-03-15' : null,
          );
        });
      }
    }

    it('that are reversed remain, with a red letter beside them, once', async () => {
      const t = makePlane();
      const b = await invoicedContract(t);
      const blue = await b.post({
        invoiceNo: 'B-1',
        receivablePlanId: b.lineId,
        status: 'issued',
        invoiceDate: '2026-02-27',
        invoiceAmount: 113,
        taxRate: 13,
        note: 'as agreed',
      });
      const turned = await b.patch(blue.id, { status: 'red_letter' });
      const { invoices, invoicedAmount, version } = await b.detail();
      const red = invoices.find(({ id }) => id !== blue.id);
      expect(red).to.include({
        invoiceNo: 'B-1-R',
        status: 'red_letter',
        invoiceDate: '2026-03-15',
        invoiceAmount: 113,
        taxRate: 13,
        receivablePlanId: b.lineId,
        reversesInvoiceId: blue.id,
        reversedByInvoiceId: null,
      });
      expect(turned).to.include({
        status: 'issued',
        invoiceDate: '2026-02-27',
        note: 'as agreed',
        reversedByInvoiceId: red?.id,
      });
      expect(invoicedAmount).to.equal(0);
      for (const status of ['red_letter', 'issued'] as const)
        expect(await b.patch(blue.id, { status })).to.include({
          reversedByInvoiceId: red?.id,
          contractVersion: version,
        });
      expect((await b.detail()).invoices).to.have.length(2);
      expect(await failureOf(b.patch(blue.id, { status: 'void' }))).to.deep.equal({
        code: 'INVALID_TRANSITION',
        details: { field: 'status', from: 'issued', to: 'void', allowed: [] },
      });
    });

    it('are never reversed beyond the issued amount', async () => {
      const b = await invoicedContract(makePlane());
      const linked = await b.post({ receivablePlanId: b.lineId, status: 'issued', invoiceAmount: 100 });
      await b.post({ status: 'issued', invoiceAmount: 40 });
      const exceeded = (issuedAmount: number, redLetterAmount: number) => ({
        code: 'RED_LETTER_EXCEEDS_ISSUED',
        details: { issuedAmount, redLetterAmount, currencyCode: 'CNY' },
      });
      expect(
        await failureOf(b.post({ receivablePlanId: b.lineId, status: 'red_letter', invoiceAmount: 100.01 })),
      ).to.deep.equal(exceeded(100, 100.01));
      expect(
        await failureOf(b.post({ status: 'red_letter', invoiceAmount: 41 })),
        'those of the line do not count',
      ).to.deep.equal(exceeded(40, 41));
      await b.post({ receivablePlanId: b.lineId, status: 'red_letter', invoiceAmount: 30 });
      expect(
        await failureOf(b.patch(linked.id, { status: 'red_letter' })),
        'its counter record would exceed it',
      ).to.deep.equal(exceeded(100, 130));
      expect(await failureOf(b.patch(linked.id, { status: 'void' }))).to.deep.equal(exceeded(0, 30));
      expect(await b.detail()).to.include({ invoicedAmount: 110 });
    });

    it('keep a sum of at least zero after twenty concurrent red letters', async () => {
      const b = await invoicedContract(makePlane());
      await b.post({ receivablePlanId: b.lineId, status: 'issued', invoiceAmount: 100 });
      const outcomes = await Promise.allSettled(
        Array.from({ length: 20 }, () =>
          b.post({ receivablePlanId: b.lineId, status: 'red_letter', invoiceAmount: 30 }),
        ),
      );
      expect(outcomes.filter(({ status }) => status === 'fulfilled')).to.have.length(3);
      const { invoices, invoicedAmount } = await b.detail();
      expect([invoices.length, invoicedAmount]).to.deep.equal([4, 10]);
    });

    it('cannot be voided once money was matched to them', async () => {
      const t = makePlane();
      const b = await invoicedContract(t, {
        payments: [aLine({ amount: 1_000 }), aLine({ amount: 1_000, period: 'second' })],
      });
      const other = b.contract.payments[1]?.id ?? '';
      const onLine = await b.post({ receivablePlanId: b.lineId, status: 'issued' });
      await t.plane.recordReceipt({ paymentId: b.lineId, receivedAmount: 100 });
      await t.plane.recordReceipt({ paymentId: b.lineId, reconciliationStatus: 'matched' });
      expect(await failureOf(b.patch(onLine.id, { status: 'void' }))).to.deep.equal({
        code: 'LINE_HAS_MONEY',
        details: { paymentIds: [b.lineId] },
      });
      await t.plane.recordReceipt({ paymentId: b.lineId, reconciliationStatus: 'pending' });
      expect(await b.patch(onLine.id, { status: 'void' })).to.include({ status: 'void' });

      await t.plane.recordReceipt({ paymentId: other, receivedAmount: 5 });
      const [receipt] = (await t.plane.listReceipts({ paymentId: other })).items;
      const named = await b.post({ status: 'issued', paymentRecordId: receipt?.id ?? '' });
      expect(await failureOf(b.patch(named.id, { status: 'void' }))).to.deep.equal({
        code: 'LINE_HAS_MONEY',
        details: { paymentIds: [other] },
      });
      expect(await b.patch(named.id, { status: 'red_letter' }))
        .to.have.property('reversedByInvoiceId')
        .that.is.a('string');
      const again = await b.post({ status: 'issued', paymentRecordId: receipt?.id ?? '' });
      await t.plane.recordReceipt({ paymentId: other, receivedAmount: 0 });
      expect(await b.patch(again.id, { status: 'void' }), 'the money was returned').to.include({ status: 'void' });
    });
  });
});
