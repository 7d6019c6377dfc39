import { expect } from 'chai';
import { newId } from '../../data-plane-agent/base/ids.js';
import type { PaymentLineInput } from '../../data-plane-agent/plane/contract/records/lines.js';
import { badFields, failureOf } from '../support/failures.js';
import { forEachPlane } from '../support/plane.js';
import { aContract, aLine } from '../support/samples.js';
import { enter, planOf, reread, send } from '../support/contract-plans.js';

describe("a contract's plan replaced as a whole", () => {
  forEachPlane((_name, makePlane) => {
    describe('receipts and invoices on it', () => {
      it('are recorded as by the endpoints of the line, including the history', async () => {
        const t = makePlane();
        const made = await enter(t, [aLine({ period: 'A' }), aLine({ period: 'B' })]);
        const [a] = made.payments;
        const changed = await send(t, made, [
          aLine({ period: 'A', receivedAmount: 400, method: 'wire' }),
          aLine({ period: 'B', invoiceNo: 'F-2', invoiceAmount: 1_100 }),
          aLine({ period: 'C', receivedAmount: 50, receivedDate: '2026-02-02' }),
        ]);
        expect(
          changed.payments.map(({ receivedAmount, receivedDate, invoiceNo }) => [
            receivedAmount,
            receivedDate,
            invoiceNo,
          ]),
        ).to.deep.equal([
          [400, t.call.today, null],
          [0, null, 'F-2'],
          [50, '2026-02-02', null],
        ]);
        expect([changed.receivedAmount, changed.invoicedAmount, changed.paymentStatus]).to.deep.equal([
          450,
          1_100,
          'partial',
        ]);
        expect(changed.warnings.map(({ code, paymentIds }) => [code, paymentIds])).to.deep.equal([
          ['PLAN_DIFFERS_FROM_TOTAL', undefined],
          ['INVOICE_EXCEEDS_LINE', [changed.payments[1]?.id]],
        ]);
        const corrected = await send(
          t,
          made,
          planOf(changed).map((line) => (line.period === 'A' ? { ...line, receivedAmount: null } : line)),
        );
        expect(corrected.payments[0]).to.include({
          receivedAmount: 0,
          receivedDate: null,
          reconciliationStatus: 'pending',
          method: 'wire',
        });
        expect(
          (await t.plane.listReceipts({ paymentId: a?.id ?? '' })).items.map(({ delta, total }) => [delta, total]),
        ).to.deep.equal([
          [-400, 0],
          [400, 400],
        ]);
        expect(
          (await t.plane.listReceipts({ paymentId: changed.payments[2]?.id ?? '' })).items.map(
            ({ delta, receivedDate }) => [delta, receivedDate],
          ),
        ).to.deep.equal([[50, '2026-02-02']]);
      });

      it('are cleared by null, and by 0 for a received amount', async () => {
        const t = makePlane();
        const made = await enter(t, [aLine({ receivedAmount: 10, payerName: 'X', reconciliationStatus: 'matched' })]);
        const cleared = await send(t, made, [{ ...aLine(), payerName: null, reconciliationStatus: null }]);
        expect(cleared.payments[0]).to.include({
          payerName: null,
          reconciliationStatus: 'pending',
          receivedAmount: 10,
        });
        expect((await send(t, made, [aLine({ receivedAmount: 0 })])).paymentStatus).to.equal('unpaid');
      });

      it('must be matched again after the amount changes, even if the request repeats the status', async () => {
        const t = makePlane();
        const made = await enter(t, [aLine({ receivedAmount: 100, reconciliationStatus: 'matched' })]);
        const plan = planOf(made).map((line) => ({ ...line, amount: 900 }));
        expect(
          (await send({ plane: t.as({ rights: { ...t.call.rights, paymentEntry: false } }) }, made, plan)).payments[0],
        ).to.include({ amount: 900, reconciliationStatus: 'pending' });
        expect(
          (await send(t, made, [aLine({ amount: 900, reconciliationStatus: 'matched' })])).payments[0]
            ?.reconciliationStatus,
        ).to.equal('matched');
      });

      it('require their right for a change, and none to repeat the stored values', async () => {
        const t = makePlane();
        const made = await enter(t, [
          aLine({ period: 'A', receivedAmount: 100, bankSerialNo: 'S-7' }),
          aLine({ period: 'B', invoiceNo: 'F-3' }),
        ]);
        const noReceipts = { plane: t.as({ rights: { ...t.call.rights, paymentEntry: false } }) };
        const noInvoices = { plane: t.as({ rights: { ...t.call.rights, invoice: false } }) };
        const withA = (changes: Partial<PaymentLineInput>) =>
          planOf(made).map((line) => (line.period === 'A' ? { ...line, ...changes } : line));
        for (const changes of [
          { receivedAmount: 101 },
          { receivedAmount: 0 },
          { bankSerialNo: null },
          { reconciliationNote: 'x' },
          { receivedDate: '2020-01-01' },
          { reconciliationStatus: 'matched' as const },
        ]) {
          expect(await failureOf(send(noReceipts, made, withA(changes))), JSON.stringify(changes)).to.deep.equal({
            code: 'FORBIDDEN',
            details: { needs: 'payment_entry (edit)' },
          });
        }
        expect(
          await failureOf(send(noReceipts, made, [...planOf(made), aLine({ period: 'new', receivedAmount: 1 })])),
        ).to.have.property('code', 'FORBIDDEN');
        for (const changes of [{ invoiceAmount: 0 }, { invoiceNo: 'F-4' }, { invoiceDate: '2026-01-01' }]) {
          expect(await failureOf(send(noInvoices, made, withA(changes)))).to.deep.equal({
            code: 'FORBIDDEN',
            details: { needs: 'invoice (edit)' },
          });
        }
        expect(
          await failureOf(send(noInvoices, made, [...planOf(made), aLine({ period: 'new', invoiceNo: 'F-5' })])),
        ).to.have.property('code', 'FORBIDDEN');
        expect(await reread(t, made)).to.deep.equal(made);
        const planned = await send(
          noReceipts,
          made,
          withA({ amount: 500, dueDate: '2026-09-09' }).concat(aLine({ period: 'new', receivedAmount: 0 })),
        );
        expect([planned.version, planned.payments.length, planned.receivedAmount]).to.deep.equal([2, 3, 100]);
      });

      it('require the same rights from every caller on a new contract', async () => {
        const t = makePlane();
        const plane = t.as({ rights: { ...t.call.rights, paymentEntry: false, invoice: false } });
        expect(
          await failureOf(plane.createContract(aContract({ payments: [aLine({ receivedAmount: 1 })] }))),
        ).to.deep.equal({ code: 'FORBIDDEN', details: { needs: 'payment_entry (edit)' } });
        expect(
          await failureOf(plane.createContract(aContract({ payments: [aLine({ invoiceNo: 'x' })] }))),
        ).to.deep.equal({ code: 'FORBIDDEN', details: { needs: 'invoice (edit)' } });
        expect(
          (await plane.createContract(aContract({ payments: [aLine({ receivedAmount: 0, method: null })] }))).payments,
        ).to.have.length(1);
      });

      it('are refused as `matched` without money', async () => {
        const t = makePlane();
        const made = await enter(t, [aLine()]);
        expect(await failureOf(send(t, made, [aLine({ reconciliationStatus: 'matched' })]))).to.deep.equal({
          code: 'RECONCILE_WITHOUT_RECEIPT',
          details: {},
        });
      });

      it('produce a warning about a transfer that other lines refer to, with those lines', async () => {
        const t = makePlane();
        const other = await enter(t, [aLine({ receivedAmount: 1, bankSerialNo: 'T-1' })]);
        const made = await enter(t, [aLine({ period: 'A' }), aLine({ period: 'B' }), aLine({ period: 'C' })]);
        const changed = await send(t, made, [
          aLine({ period: 'A', receivedAmount: 1, bankSerialNo: 'T-1' }),
          aLine({ period: 'B', receivedAmount: 1, bankSerialNo: 'T-2' }),
          aLine({ period: 'C', receivedAmount: 2, bankSerialNo: 'T-2' }),
        ]);
        const reused = changed.warnings.find(({ code }) => code === 'BANK_SERIAL_REUSED');
        expect(reused?.paymentIds).to.have.members([
          other.payments[0]?.id,
          changed.payments[1]?.id,
          changed.payments[2]?.id,
        ]);
        expect((await send(t, made, planOf(changed))).warnings.map(({ code }) => code)).to.deep.equal([
          'PLAN_DIFFERS_FROM_TOTAL',
        ]);
      });

      it('must refer to existing files, but a line may keep the files it has', async () => {
        const t = makePlane();
        const made = await enter(t, [aLine({ period: 'A' }), aLine({ period: 'B' })]);
        const proof = newId();
        expect(await failureOf(send(t, made, [aLine({ period: 'A' }), aLine({ period: 'B', proof })]))).to.deep.equal({
          code: 'FILE_REFERENCE_INVALID',
          details: { field: 'payments[1].proof', value: proof },
        });
      });
    });

    describe('currency', () => {
      it('changes together with the plan', async () => {
        const t = makePlane();
        const made = await enter(
          t,
          [
            aLine({ period: 'A', amount: 10.25 }),
            aLine({ period: 'B', amount: 7.5, currencyCode: 'EUR' }),
            aLine({ period: 'C' }),
          ],
          { quantity: 1, unitPrice: 100 },
        );
        const yen = await send(
          t,
          made,
          [
            aLine({ period: 'A', amount: 1_500 }),
            aLine({ period: 'B', amount: 7.75 }),
            aLine({ period: 'D', amount: 20 }),
          ],
          { currencyCode: 'JPY' },
        );
        expect(
          yen.payments.map(({ period, amount, currencyCode }) => [period, amount, currencyCode]),
        ).to.have.deep.members([
          ['A', 1_500, 'JPY'],
          ['B', 7.75, 'EUR'],
          ['D', 20, 'JPY'],
        ]);
        expect([yen.currencyCode, yen.receivableAmount, yen.outstandingAmount]).to.deep.equal(['JPY', 1_520, 1_520]);
        expect(yen.warnings.map(({ code }) => code)).to.deep.equal(['MIXED_CURRENCY']);
      });

      it('determines how the amounts of a line are read', async () => {
        const t = makePlane();
        const made = await enter(t, [aLine({ period: 'A' })], { quantity: 1, unitPrice: 100 });
        expect(
          await badFields(
            send(t, made, [aLine({ period: 'A', amount: 1.5 }), aLine({ period: 'B', amount: 2.5 })], {
              currencyCode: 'JPY',
            }),
          ),
        ).to.deep.equal({
          'payments[0].amount': 'must have at most 0 decimals in JPY',
          'payments[1].amount': 'must have at most 0 decimals in JPY',
        });
        expect(
          (await send(t, made, [aLine({ period: 'A', amount: 1.5, currencyCode: 'CNY' })], { currencyCode: 'JPY' }))
            .payments[0],
        ).to.include({ amount: 1.5, currencyCode: 'CNY' });
      });

      it('cannot change on a line with money', async () => {
        const t = makePlane();
        const made = await enter(t, [aLine({ period: 'A', receivedAmount: 1 }), aLine({ period: 'B' })]);
        const fixed = { code: 'CURRENCY_FIXED', details: { currencyCode: 'CNY' } };
        expect(
          await failureOf(send(t, made, [aLine({ period: 'A', currencyCode: 'EUR' }), aLine({ period: 'B' })])),
        ).to.deep.equal(fixed);
        expect(await failureOf(send(t, made, planOf(made), { currencyCode: 'EUR' }))).to.deep.equal(fixed);
        await t.plane.recordReceipt({
          paymentId: made.payments.find(({ period }) => period === 'A')?.id ?? '',
          receivedAmount: 0,
        });
        expect(
          await failureOf(send(t, made, [aLine({ period: 'A', currencyCode: 'EUR' }), aLine({ period: 'B' })])),
          'money that was taken back',
        ).to.deep.equal(fixed);
        expect(
          (await send(t, made, [aLine({ period: 'A' }), aLine({ period: 'B', currencyCode: 'EUR' })])).payments.find(
            ({ period }) => period === 'B',
          )?.currencyCode,
        ).to.equal('EUR');
      });
    });

    describe('on a locked contract', () => {
      const locked = async () => {
        const t = makePlane({ controls: { active: 'admin' } });
        return {
          t,
          made: await enter(t, [aLine({ period: 'A' }), aLine({ period: 'B' })], { workflowStage: 'active' }),
        };
      };

      it('keeps its amounts, dates, currencies and set of lines', async () => {
        const { t, made } = await locked();
        const [a = aLine(), b = aLine()] = planOf(made);
        for (const plan of [
          [{ ...a, amount: 1 }, b],
          [{ ...a, dueDate: '2027-01-01' }, b],
          [{ ...a, currencyCode: 'EUR' }, b],
          [a],
          [a, b, aLine({ period: 'C' })],
          [],
          null,
        ]) {
          expect(await failureOf(send(t, made, plan)), JSON.stringify(plan)).to.deep.equal({
            code: 'CONTRACT_LOCKED',
            details: { fields: ['payments'] },
          });
        }
        expect(await failureOf(send(t, made, [], { partyA: 'Other' }))).to.deep.equal({
          code: 'CONTRACT_LOCKED',
          details: { fields: ['partyA', 'payments'] },
        });
      });

      it('accepts receipts and invoices, and the same plan again', async () => {
        const { t, made } = await locked();
        expect((await send(t, made, planOf(made).toReversed())).version).to.equal(1);
        const paid = await send(
          t,
          made,
          planOf(made).map((line) => ({ ...line, receivedAmount: 10, invoiceNo: `F-${line.period}` })),
        );
        expect([paid.receivedAmount, paid.version]).to.deep.equal([20, 2]);
      });
    });
  });
});
