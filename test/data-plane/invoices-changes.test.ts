import { expect } from 'chai';
import { newId } from '../../data-plane-agent/base/ids.js';
import type { PaymentLineInput } from '../../data-plane-agent/plane/contract/records/lines.js';
import { badFields, failureOf } from '../support/failures.js';
import { forEachPlane } from '../support/plane.js';
import { aLine } from '../support/samples.js';
import { anInvoice, invoicedContract } from '../support/invoices.js';

describe('invoice records', () => {
  forEachPlane((_name, makePlane) => {
    it('have a unique number within the subject company, ignoring case, which a void one releases', async () => {
      const t = makePlane();
      const subjectId = newId();
      const [b, sibling, otherSubject] = [
        await invoicedContract(t, { subjectId }),
        await invoicedContract(t, { subjectId }),
        await invoicedContract(t),
      ];
      const first = await b.post({ invoiceNo: 'Ünï-7' });
      const taken = (value: string) => ({ code: 'DUPLICATE_CODE', details: { field: 'invoiceNo', value } });
      expect(await failureOf(sibling.post({ invoiceNo: 'ÜNÏ-7' }))).to.deep.equal(taken('ÜNÏ-7'));
      expect(await failureOf(b.post({ invoiceNo: 'ünï-7', status: 'issued' }))).to.deep.equal(taken('ünï-7'));
      expect(await sibling.post({ invoiceNo: 'ünï-7', status: 'void' })).to.include({ status: 'void' });
      await otherSubject.post({ invoiceNo: 'ünï-7' });
      const second = await sibling.post({ invoiceNo: 'B-9' });
      expect(await failureOf(sibling.patch(second.id, { invoiceNo: 'ÜNÏ-7' }))).to.deep.equal(taken('ÜNÏ-7'));
      expect((await b.patch(first.id, { invoiceNo: 'ünï-7' })).invoiceNo, 'of its own number').to.equal('ünï-7');
      await b.patch(first.id, { status: 'void' });
      expect((await sibling.patch(second.id, { invoiceNo: 'ÜNÏ-7' })).invoiceNo).to.equal('ÜNÏ-7');
    });

    it('move with their contract to another subject company, unless a number is taken there', async () => {
      const t = makePlane();
      const there = newId();
      const [b, holder] = [await invoicedContract(t), await invoicedContract(t, { subjectId: there })];
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

    it('that are renamed or deleted in the same request must have free numbers in the end', async () => {
      const t = makePlane();
      const there = newId();
      const [b, holder] = [
        await invoicedContract(t, {
          payments: [
            aLine({ invoiceNo: 'W-1', invoiceAmount: 10 }),
            aLine({ period: 'other', invoiceNo: 'W-2', invoiceAmount: 20 }),
          ],
        }),
        await invoicedContract(t, { subjectId: there }),
      ];
      for (const invoiceNo of ['w-1', 'w-4']) await holder.post({ invoiceNo });
      const move = (...payments: PaymentLineInput[]) =>
        t.plane.updateContract({ contractId: b.contractId, changes: { subjectId: there, payments } });
      const taken = (value: string) => ({ code: 'DUPLICATE_CODE', details: { field: 'invoiceNo', value } });
      expect(
        await failureOf(move(aLine({ amount: 7 }), aLine({ period: 'other' }))),
        'another amount does not change the number',
      ).to.deep.equal(taken('W-1'));
      expect(
        await failureOf(move(aLine({ invoiceAmount: 11 }), aLine({ period: 'other' }))),
        'nor does another sum',
      ).to.deep.equal(taken('W-1'));
      expect(await failureOf(move(aLine({ invoiceNo: 'W-4' }), aLine({ period: 'other' })))).to.deep.equal(
        taken('W-4'),
      );
      expect(await failureOf(move(aLine({ invoiceNo: 'W-2' }), aLine({ period: 'other' })))).to.deep.equal(
        taken('W-2'),
      );
      const moved = await move(aLine({ invoiceNo: 'W-3' }), aLine({ period: 'other', invoiceNo: null }));
      expect([moved.subjectId, moved.invoices.map(({ invoiceNo }) => invoiceNo)]).to.deep.equal([there, ['W-3']]);
      expect(await failureOf(holder.post({ invoiceNo: 'w-3' })), 'the line exists by then').to.deep.equal(taken('w-3'));
      expect((await holder.post({ invoiceNo: 'W-2' })).invoiceNo).to.equal('W-2');
    });

    it('are deleted and restored with their contract, unless a number was taken meanwhile', async () => {
      const t = makePlane();
      const subjectId = newId();
      const [b, other] = [await invoicedContract(t, { subjectId }), await invoicedContract(t, { subjectId })];
      await b.post({ invoiceNo: 'R-1', status: 'issued', receivablePlanId: b.lineId });
      await t.plane.deleteContract({ contractId: b.contractId });
      const sameNumber = await other.post({ invoiceNo: 'r-1' });
      expect(await failureOf(t.plane.restoreContract({ contractId: b.contractId }))).to.deep.equal({
        code: 'DUPLICATE_CODE',
        details: { field: 'invoiceNo', value: 'R-1' },
      });
      await other.patch(sameNumber.id, { status: 'void' });
      const restored = await t.plane.restoreContract({ contractId: b.contractId });
      expect(restored.invoices.map(({ invoiceNo }) => invoiceNo)).to.deep.equal(['R-1']);
      expect(restored.invoicedAmount).to.equal(100);
    });

    it("are in their line's currency, or else the contract's; a draft follows it, an issued one fixes it", async () => {
      const t = makePlane();
      const b = await invoicedContract(t, {
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

    it("without a line fix the contract's currency, too", async () => {
      const t = makePlane();
      const b = await invoicedContract(t, { payments: [] });
      await b.post({ status: 'issued' });
      expect(
        await failureOf(t.plane.updateContract({ contractId: b.contractId, changes: { currencyCode: 'USD' } })),
      ).to.deep.equal({ code: 'CURRENCY_FIXED', details: { currencyCode: 'CNY' } });
    });

    it('are fully editable as drafts, and hardly once issued', async () => {
      const b = await invoicedContract(makePlane());
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
      expect(await b.patch(id, { ...everything, status: 'issued' }), 'stored values may be sent back').to.include({
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

    it('refer only to existing lines, receipts and files', async () => {
      const t = makePlane();
      const [b, other] = [await invoicedContract(t), await invoicedContract(t)];
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

    it('keep their line from being deleted once issued, while drafts and void ones are deleted with it', async () => {
      const t = makePlane();
      const b = await invoicedContract(t, {
        payments: [aLine({ amount: 1_000 }), aLine({ amount: 500, period: 'second' })],
      });
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
      expect((await b.post({ invoiceNo: draft.invoiceNo })).invoiceNo, 'the number is free').to.equal(draft.invoiceNo);
    });

    it('are guarded by a version if the caller sends one, also on a locked contract', async () => {
      const t = makePlane();
      const b = await invoicedContract(t);
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

    it("are not found outside the contract's scope, and are in the trail of their contract", async () => {
      const t = makePlane();
      const b = await invoicedContract(t);
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
      const other = await invoicedContract(t);
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
