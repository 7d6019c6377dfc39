import { expect } from 'chai';
import { newId } from '../../data-plane-agent/base/ids.js';
import type { ContractInput } from '../../data-plane-agent/plane/contract/records/contracts.js';
import type { InvoiceInput, InvoicePatch } from '../../data-plane-agent/plane/contract/records/invoices.js';
import type { PaymentLineInput } from '../../data-plane-agent/plane/contract/records/lines.js';
import { INVOICE_STATUSES, type InvoiceStatus } from '../../data-plane-agent/plane/contract/vocabulary.js';
import { badFields, failureOf } from '../support/failures.js';
import { forEachPlane, type TestPlane } from '../support/plane.js';
import { aContract, aLine } from '../support/samples.js';

let made = 0;
const anInvoice = (changes: Partial<InvoiceInput> = {}): InvoiceInput => ({
  invoiceNo: `F-${++made}`,
  invoiceAmount: 100,
  ...changes,
});

/** As the specification has it. */
const TABLE: Readonly<Record<InvoiceStatus, readonly InvoiceStatus[]>> = {
  draft: ['issued', 'void'],
  issued: ['void', 'red_letter'],
  void: [],
  red_letter: [],
};

async function book(t: TestPlane, changes: Partial<ContractInput> = {}) {
  const contract = await t.plane.createContract(aContract({ payments: [aLine({ amount: 1_000 })], ...changes }));
  const contractId = contract.id;
  return {
    contract,
    contractId,
    lineId: contract.payments[0]?.id ?? '',
    post: (input: Partial<InvoiceInput> = {}) => t.plane.addInvoice({ contractId, ...anInvoice(input) }),
    patch: (invoiceId: string, patch: InvoicePatch) => t.plane.updateInvoice({ contractId, invoiceId, changes: patch }),
    detail: () => t.plane.getContract({ contractId }),
  };
}

describe('invoice records', () => {
  forEachPlane((_name, makePlane) => {
    it('are entered in any of four states, drafts unless it is said', async () => {
      const b = await book(makePlane(), { invoicePoints: 13 });
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

    it('count on their line once issued, and red letters take away', async () => {
      const b = await book(makePlane());
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

    it("without a line stand in the contract's own sum, and not in what its lines lack", async () => {
      const b = await book(makePlane());
      await b.post({ status: 'issued', invoiceAmount: 250 });
      const reversed = await b.post({ status: 'issued', invoiceAmount: 80 });
      await b.patch(reversed.id, { status: 'red_letter' });
      await b.post({ receivablePlanId: b.lineId, status: 'issued', invoiceAmount: 100 });
      expect(await b.detail()).to.include({ invoicedAmount: 350, uninvoicedAmount: 900 });
    });

    for (const from of INVOICE_STATUSES) {
      for (const to of INVOICE_STATUSES) {
        const isAllowed = from === to || TABLE[from].includes(to);
        it(`${isAllowed ? 'go' : 'do not go'} from ${from} to ${to}`, async () => {
          const b = await book(makePlane());
          await b.post({ status: 'issued', invoiceAmount: 100 }); // what a red letter may take away
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
          const isTurned = from === 'issued' && to === 'red_letter';
          expect(moved.status).to.equal(isTurned ? 'issued' : to);
          expect(moved.contractVersion).to.equal(from === to ? version : version + 1);
          expect(moved.invoiceDate).to.equal(
            ['issued', 'red_letter'].includes(moved.status) || from === 'issued' ? '2026-03-15' : null,
          );
        });
      }
    }

    it('that are turned to red letter stay, with a counter record beside them; again changes nothing', async () => {
      const t = makePlane();
      const b = await book(t);
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

    it('are never taken away beyond what is issued beside them', async () => {
      const b = await book(makePlane());
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
        "the line's do not count",
      ).to.deep.equal(exceeded(40, 41));
      await b.post({ receivablePlanId: b.lineId, status: 'red_letter', invoiceAmount: 30 });
      expect(
        await failureOf(b.patch(linked.id, { status: 'red_letter' })),
        'its counter record would pass it',
      ).to.deep.equal(exceeded(100, 130));
      expect(await failureOf(b.patch(linked.id, { status: 'void' }))).to.deep.equal(exceeded(0, 30));
      expect(await b.detail()).to.include({ invoicedAmount: 110 });
    });

    it('twenty red letters at once leave the sum at or above nothing', async () => {
      const b = await book(makePlane());
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

    it('are not void once money was matched to them', async () => {
      const t = makePlane();
      const b = await book(t, { payments: [aLine({ amount: 1_000 }), aLine({ amount: 1_000, period: 'second' })] });
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
      expect(await b.patch(again.id, { status: 'void' }), 'the money was given back').to.include({ status: 'void' });
    });

    it('have a number of their own within the subject company, whatever its case; a void one gives it back', async () => {
      const t = makePlane();
      const subjectId = newId();
      const [b, sibling, stranger] = [await book(t, { subjectId }), await book(t, { subjectId }), await book(t)];
      const first = await b.post({ invoiceNo: 'Ünï-7' });
      const taken = (value: string) => ({ code: 'DUPLICATE_CODE', details: { field: 'invoiceNo', value } });
      expect(await failureOf(sibling.post({ invoiceNo: 'ÜNÏ-7' }))).to.deep.equal(taken('ÜNÏ-7'));
      expect(await failureOf(b.post({ invoiceNo: 'ünï-7', status: 'issued' }))).to.deep.equal(taken('ünï-7'));
      expect(await sibling.post({ invoiceNo: 'ünï-7', status: 'void' })).to.include({ status: 'void' });
      await stranger.post({ invoiceNo: 'ünï-7' });
      const second = await sibling.post({ invoiceNo: 'B-9' });
      expect(await failureOf(sibling.patch(second.id, { invoiceNo: 'ÜNÏ-7' }))).to.deep.equal(taken('ÜNÏ-7'));
      expect((await b.patch(first.id, { invoiceNo: 'ünï-7' })).invoiceNo, 'of its own number').to.equal('ünï-7');
      await b.patch(first.id, { status: 'void' });
      expect((await sibling.patch(second.id, { invoiceNo: 'ÜNÏ-7' })).invoiceNo).to.equal('ÜNÏ-7');
    });

    it('go with their contract to another subject company, unless a number is taken there', async () => {
      const t = makePlane();
      const there = newId();
      const [b, holder] = [await book(t), await book(t, { subjectId: there })];
      await b.post({ invoiceNo: 'M-1', status: 'issued' });
      const held = await holder.post({ invoiceNo: 'm-1' });
      expect(
        await failureOf(t.plane.updateContract({ contractId: b.contractId, changes: { subjectId: there } })),
      ).to.deep.equal({ code: 'DUPLICATE_CODE', details: { field: 'invoiceNo', value: 'M-1' } });
      await holder.patch(held.id, { status: 'void' });
      await t.plane.updateContract({ contractId: b.contractId, changes: { subjectId: there } });
      expect(await failureOf(holder.post({ invoiceNo: 'm-1' }))).to.include({ code: 'DUPLICATE_CODE' });
      expect((await b.post({ invoiceNo: 'M-2' })).invoiceNo).to.equal('M-2');
    });

    it('that are renamed, or go, on the way there are asked for the number that they have in the end', async () => {
      const t = makePlane();
      const there = newId();
      const [b, holder] = [
        await book(t, {
          payments: [
            aLine({ invoiceNo: 'W-1', invoiceAmount: 10 }),
            aLine({ period: 'other', invoiceNo: 'W-2', invoiceAmount: 20 }),
          ],
        }),
        await book(t, { subjectId: there }),
      ];
      for (const invoiceNo of ['w-1', 'w-4']) await holder.post({ invoiceNo });
      const move = (...payments: PaymentLineInput[]) =>
        t.plane.updateContract({ contractId: b.contractId, changes: { subjectId: there, payments } });
      const taken = (value: string) => ({ code: 'DUPLICATE_CODE', details: { field: 'invoiceNo', value } });
      expect(
        await failureOf(move(aLine({ amount: 7 }), aLine({ period: 'other' }))),
        'another amount is no other number',
      ).to.deep.equal(taken('W-1'));
      expect(
        await failureOf(move(aLine({ invoiceAmount: 11 }), aLine({ period: 'other' }))),
        'nor is another sum',
      ).to.deep.equal(taken('W-1'));
      expect(await failureOf(move(aLine({ invoiceNo: 'W-4' }), aLine({ period: 'other' })))).to.deep.equal(
        taken('W-4'),
      );
      expect(await failureOf(move(aLine({ invoiceNo: 'W-2' }), aLine({ period: 'other' })))).to.deep.equal(
        taken('W-2'),
      );
      const moved = await move(aLine({ invoiceNo: 'W-3' }), aLine({ period: 'other', invoiceNo: null }));
      expect([moved.subjectId, moved.invoices.map(({ invoiceNo }) => invoiceNo)]).to.deep.equal([there, ['W-3']]);
      expect(await failureOf(holder.post({ invoiceNo: 'w-3' })), 'it is there by now').to.deep.equal(taken('w-3'));
      expect((await holder.post({ invoiceNo: 'W-2' })).invoiceNo).to.equal('W-2');
    });

    it('go with their contract and come back with it, unless a number was taken meanwhile', async () => {
      const t = makePlane();
      const subjectId = newId();
      const [b, other] = [await book(t, { subjectId }), await book(t, { subjectId })];
      await b.post({ invoiceNo: 'R-1', status: 'issued', receivablePlanId: b.lineId });
      await t.plane.deleteContract({ contractId: b.contractId });
      const taker = await other.post({ invoiceNo: 'r-1' });
      expect(await failureOf(t.plane.restoreContract({ contractId: b.contractId }))).to.deep.equal({
        code: 'DUPLICATE_CODE',
        details: { field: 'invoiceNo', value: 'R-1' },
      });
      await other.patch(taker.id, { status: 'void' });
      const restored = await t.plane.restoreContract({ contractId: b.contractId });
      expect(restored.invoices.map(({ invoiceNo }) => invoiceNo)).to.deep.equal(['R-1']);
      expect(restored.invoicedAmount).to.equal(100);
    });

    it("are in their line's currency, else the contract's; a draft follows, an issued one fixes it", async () => {
      const t = makePlane();
      const b = await book(t, {
        payments: [aLine({ amount: 1_000 }), aLine({ amount: 1_000, period: 'yen', currencyCode: 'JPY' })],
      });
      const yen = b.contract.payments.find(({ period }) => period === 'yen')?.id ?? '';
      const draft = await b.post({ receivablePlanId: yen, invoiceAmount: 20 });
      expect(draft).to.include({ currencyCode: 'JPY' });
      expect(draft.warnings.map(({ code }) => code)).to.deep.equal(['MIXED_CURRENCY']);
      expect(await badFields(b.post({ receivablePlanId: yen, invoiceAmount: 20.5 }))).to.deep.equal({
        invoiceAmount: 'must have at most 0 decimals in JPY',
      });
      const moved = await b.patch(draft.id, { receivablePlanId: b.lineId });
      expect(moved).to.include({ currencyCode: 'CNY', invoiceAmount: 20, receivablePlanId: b.lineId });
      const unlinked = await b.post({ invoiceAmount: 7 });
      await t.plane.updateContract({ contractId: b.contractId, changes: { currencyCode: 'KWD' } });
      const { invoices } = await b.detail();
      expect(invoices.map(({ id, currencyCode, invoiceAmount }) => [id, currencyCode, invoiceAmount])).to.deep.equal([
        [draft.id, 'KWD', 20],
        [unlinked.id, 'KWD', 7],
      ]);
      await t.plane.updatePaymentLine({ paymentId: b.lineId, currencyCode: 'EUR' });
      expect((await b.detail()).invoices[0]).to.include({ currencyCode: 'EUR', invoiceAmount: 20 });
      await b.patch(draft.id, { status: 'issued' });
      expect(await failureOf(t.plane.updatePaymentLine({ paymentId: b.lineId, currencyCode: 'CNY' }))).to.include({
        code: 'CURRENCY_FIXED',
      });
      await b.patch(unlinked.id, { status: 'issued' });
      expect(
        await failureOf(t.plane.updateContract({ contractId: b.contractId, changes: { currencyCode: 'CNY' } })),
      ).to.deep.equal({ code: 'CURRENCY_FIXED', details: { currencyCode: 'KWD' } });
    });

    it("without a line fix the contract's currency too", async () => {
      const t = makePlane();
      const b = await book(t, { payments: [] });
      await b.post({ status: 'issued' });
      expect(
        await failureOf(t.plane.updateContract({ contractId: b.contractId, changes: { currencyCode: 'USD' } })),
      ).to.deep.equal({ code: 'CURRENCY_FIXED', details: { currencyCode: 'CNY' } });
    });

    it('change in everything as drafts, and hardly once they are out', async () => {
      const b = await book(makePlane());
      const { id } = await b.post();
      const everything = {
        receivablePlanId: b.lineId,
        invoiceNo: `X-${id}`,
        invoiceAmount: 9.99,
        invoiceDate: '2026-02-01',
        attachment: 'shelf 4',
        taxRate: 6.5,
        note: 'n',
      };
      expect(await b.patch(id, everything)).to.include(everything);
      await b.patch(id, { status: 'issued' });
      const { version } = await b.detail();
      expect(await b.patch(id, { ...everything, status: 'issued' }), 'what it has may be sent back').to.include({
        ...everything,
        contractVersion: version,
      });
      expect(
        await failureOf(
          b.patch(id, {
            invoiceAmount: 10,
            invoiceDate: null,
            taxRate: 13,
            receivablePlanId: null,
            invoiceNo: 'other',
            note: 'm',
          }),
        ),
      ).to.deep.equal({
        code: 'INVOICE_FIXED',
        details: {
          fields: ['receivablePlanId', 'invoiceNo', 'invoiceAmount', 'invoiceDate', 'taxRate'],
          status: 'issued',
        },
      });
      expect(await b.patch(id, { note: null, attachment: 'shelf 5' })).to.include({
        note: null,
        attachment: 'shelf 5',
        contractVersion: version + 1,
      });
      await b.patch(id, { status: 'void' });
      expect(await failureOf(b.patch(id, { invoiceDate: '2026-01-01' }))).to.deep.equal({
        code: 'INVOICE_FIXED',
        details: { fields: ['invoiceDate'], status: 'void' },
      });
      expect(await b.patch(id, { note: 'a mistake' })).to.include({ note: 'a mistake' });
    });

    it('name only lines, receipts and files that are there', async () => {
      const t = makePlane();
      const [b, other] = [await book(t), await book(t)];
      await t.plane.recordReceipt({ paymentId: other.lineId, receivedAmount: 5 });
      const foreign = (await t.plane.listReceipts({ paymentId: other.lineId })).items[0]?.id ?? '';
      const { id } = await b.post();
      for (const [field, values, code] of [
        ['receivablePlanId', [other.lineId, newId(), 'nothing'], 'REFERENCE_INVALID'],
        ['paymentRecordId', [foreign, newId(), 'nothing'], 'REFERENCE_INVALID'],
        ['attachment', [newId()], 'FILE_REFERENCE_INVALID'],
      ] as const) {
        for (const value of values) {
          expect(await failureOf(b.post({ [field]: value })), field).to.deep.equal({ code, details: { field, value } });
          expect(await failureOf(b.patch(id, { [field]: value })), field).to.deep.equal({
            code,
            details: { field, value },
          });
        }
      }
      expect(await b.post({ attachment: 'archive, shelf 4' })).to.include({ attachment: 'archive, shelf 4' });
    });

    it('keep their line where it is once they are issued; drafts and void ones go with it', async () => {
      const t = makePlane();
      const b = await book(t, { payments: [aLine({ amount: 1_000 }), aLine({ amount: 500, period: 'second' })] });
      const other = b.contract.payments[1]?.id ?? '';
      const { id } = await b.post({ receivablePlanId: b.lineId, status: 'issued' });
      await b.patch(id, { status: 'red_letter' });
      expect((await b.detail()).invoicedAmount).to.equal(0);
      expect(await failureOf(t.plane.deletePaymentLine({ paymentId: b.lineId }))).to.deep.equal({
        code: 'LINE_HAS_MONEY',
        details: { paymentIds: [b.lineId] },
      });
      expect(
        await failureOf(t.plane.updateContract({ contractId: b.contractId, changes: { payments: [] } })),
      ).to.deep.equal({ code: 'LINE_HAS_MONEY', details: { paymentIds: [b.lineId] } });
      const draft = await b.post({ receivablePlanId: other });
      await t.plane.deletePaymentLine({ paymentId: other });
      expect((await b.detail()).invoices.map((invoice) => invoice.id))
        .to.include(id)
        .and.not.include(draft.id);
      expect((await b.post({ invoiceNo: draft.invoiceNo })).invoiceNo, 'its number is free').to.equal(draft.invoiceNo);
    });

    it('are tied to a version when the caller asks, also on a locked contract', async () => {
      const t = makePlane();
      const b = await book(t);
      await t.database.write(t.call, (tx) =>
        tx.run('UPDATE contracts SET locked = 1 WHERE tenant_id = ? AND id = ?', [t.call.tenantId, b.contractId]),
      );
      const one = await t.as({ ifVersion: 1 }).addInvoice({ contractId: b.contractId, ...anInvoice() });
      expect(
        await failureOf(t.as({ ifVersion: 1 }).addInvoice({ contractId: b.contractId, ...anInvoice() })),
      ).to.deep.equal({ code: 'VERSION_MISMATCH', details: { version: 2 } });
      expect(
        await failureOf(
          t
            .as({ ifVersion: 1 })
            .updateInvoice({ contractId: b.contractId, invoiceId: one.id, changes: { status: 'issued' } }),
        ),
      ).to.include({ code: 'VERSION_MISMATCH' });
      expect(
        await t
          .as({ ifVersion: one.contractVersion })
          .updateInvoice({ contractId: b.contractId, invoiceId: one.id, changes: { status: 'issued' } }),
      ).to.include({ contractVersion: 3 });
    });

    it("are nobody's outside the contract's scope, and in the trail of their contract", async () => {
      const t = makePlane();
      const b = await book(t);
      const { id } = await b.post();
      for (const outsider of [t.as({ tenantId: newId() }), t.as({ subjectScope: [] }), t.as({ ownerScope: newId() })]) {
        expect(await failureOf(outsider.addInvoice({ contractId: b.contractId, ...anInvoice() }))).to.deep.equal({
          code: 'NOT_FOUND',
          details: {},
        });
        expect(
          await failureOf(outsider.updateInvoice({ contractId: b.contractId, invoiceId: id, changes: {} })),
        ).to.deep.equal({ code: 'NOT_FOUND', details: {} });
      }
      const other = await book(t);
      for (const [contractId, invoiceId] of [
        [other.contractId, id],
        [b.contractId, newId()],
        [b.contractId, 'no-id'],
        ['no-id', id],
      ] as const) {
        expect(await failureOf(t.plane.updateInvoice({ contractId, invoiceId, changes: {} }))).to.deep.equal({
          code: 'NOT_FOUND',
          details: {},
        });
      }
      await b.patch(id, { status: 'issued' });
      const rows = await t.database.read(t.call, (tx) =>
        tx.all(
          "SELECT record_kind, changes FROM audit_log WHERE tenant_id = ? AND record_id = ? AND action = 'updateInvoice'",
          [t.call.tenantId, b.contractId],
        ),
      );
      expect(rows.map((row) => row['record_kind'])).to.deep.equal(['contract']);
      const changes = JSON.parse(String(rows[0]?.['changes'])) as {
        record: string;
        id: string;
        fields: Record<string, unknown>;
      }[];
      expect(changes.find(({ record }) => record === 'invoice')).to.deep.equal({
        record: 'invoice',
        id,
        fields: { status: ['draft', 'issued'], invoiceDate: [null, '2026-03-15'] },
      });
    });
  });
});
