import { expect } from 'chai';
import { newId } from '../../data-plane-agent/base/ids.js';
import type {
  ContractDetail,
  ContractInput,
  ContractPatch,
} from '../../data-plane-agent/plane/contract/records/contracts.js';
import type { PaymentLine, PaymentLineInput } from '../../data-plane-agent/plane/contract/records/lines.js';
import { PaymentLineInput as LineSchema } from '../../data-plane-agent/plane/contract/records/lines.js';
import { badFields, failureOf } from '../support/failures.js';
import { forEachPlane, type TestPlane } from '../support/plane.js';
import { aContract, aLine } from '../support/samples.js';

const FIELDS = Object.keys(LineSchema.properties);
/** What a client that read a line sends back of it. */
const asRequest = (line: PaymentLine): PaymentLineInput =>
  Object.fromEntries(Object.entries(line).filter(([field]) => FIELDS.includes(field))) as PaymentLineInput; // the request's own fields
const planOf = ({ payments }: Pick<ContractDetail, 'payments'>) => payments.map(asRequest);
const shape = ({ payments }: Pick<ContractDetail, 'payments'>) =>
  payments.map(({ period, dueDate, amount }) => [period, dueDate, amount]);

describe('the plan of a contract, sent as it should be', () => {
  forEachPlane((_name, makePlane) => {
    const enter = (t: TestPlane, payments: PaymentLineInput[], changes: Partial<ContractInput> = {}) =>
      t.plane.createContract(aContract({ payments, ...changes }));
    const send = (
      { plane }: Pick<TestPlane, 'plane'>,
      { id }: Pick<ContractDetail, 'id'>,
      payments: PaymentLineInput[] | null,
      more: ContractPatch = {},
    ) => plane.updateContract({ contractId: id, changes: { ...more, payments } });
    const reread = (t: TestPlane, { id }: Pick<ContractDetail, 'id'>) => t.plane.getContract({ contractId: id });

    it('what has the same period stays the same line, what is new comes, what is missing goes', async () => {
      const t = makePlane();
      const made = await enter(t, [
        aLine({ period: 'A', dueDate: '2026-04-01' }),
        aLine({ period: 'B', dueDate: '2026-05-01' }),
        aLine({ period: 'C', dueDate: '2026-06-01' }),
      ]);
      t.clock.advance(1_000);
      const changed = await send(t, made, [
        aLine({ period: 'C', dueDate: '2026-06-15', amount: 30 }),
        aLine({ period: 'D', dueDate: '2026-07-01', amount: 40 }),
        aLine({ period: 'A', dueDate: '2026-04-01' }),
      ]);
      expect(shape(changed)).to.deep.equal([
        ['A', '2026-04-01', 1_000],
        ['C', '2026-06-15', 30],
        ['D', '2026-07-01', 40],
      ]);
      expect(changed.payments[0], 'a line as it was').to.deep.equal(made.payments[0]);
      expect(changed.payments[1]?.id).to.equal(made.payments[2]?.id);
      expect([changed.version, changed.receivableAmount, changed.outstandingAmount, changed.nextDueDate]).to.deep.equal(
        [2, 1_070, 1_070, '2026-04-01'],
      );
      expect(await reread(t, made)).to.deep.equal(changed);
      const removed = (
        await t.plane.listPayments({ tab: 'all', contractId: made.id, includeDeleted: true })
      ).items.filter(({ deletedAt }) => deletedAt !== null);
      expect(removed.map(({ period }) => period)).to.deep.equal(['B']);
    });

    it('to send back what was read, in any order, changes nothing', async () => {
      const t = makePlane();
      const made = await enter(t, [
        aLine({
          period: 'A',
          receivedAmount: 1_200,
          method: 'wire',
          payerName: 'Kunde',
          receiptAccount: '6222 0000 1102',
          bankSerialNo: 'S-1',
          reconciliationNote: 'too much',
        }),
        aLine({ period: 'B', receivedAmount: 5, reconciliationStatus: 'matched', receivedDate: '2026-01-02' }),
        aLine({ period: 'C', invoiceAmount: 70, invoiceNo: 'F-1', invoiceDate: '2026-02-01' }),
        aLine({ period: 'D', currencyCode: 'EUR' }),
      ]);
      t.clock.advance(1_000);
      for (const caller of [
        t,
        { plane: t.as({ rights: { ...t.call.rights, sensitive: false, paymentEntry: false, invoice: false } }) },
      ]) {
        const seen = await caller.plane.getContract({ contractId: made.id });
        const back = await send(caller, made, planOf(seen).toReversed());
        expect(back).to.deep.equal({ ...seen, warnings: seen.warnings });
        expect(back.version).to.equal(1);
      }
      const [fewer] = planOf(made);
      expect(
        (
          await send(
            t,
            made,
            made.payments.map(({ period, dueDate, amount }) => ({ period, dueDate, amount })),
          )
        ).version,
        'fields that are not sent stay',
      ).to.equal(1);
      expect(fewer?.receiptAccount).to.equal('6222 0000 1102');
    });

    it('an empty plan, and none, remove what may go', async () => {
      const t = makePlane();
      for (const nothing of [[], null]) {
        const made = await enter(t, [aLine(), aLine({ period: 'B' })]);
        const emptied = await send(t, made, nothing);
        expect([
          emptied.payments,
          emptied.receivableAmount,
          emptied.paymentStatus,
          emptied.nextDueDate,
          emptied.version,
        ]).to.deep.equal([[], 0, 'unpaid', null, 2]);
        expect((await send(t, made, nothing)).version).to.equal(2);
      }
    });

    it('a line with money stays, and then nothing of the request happens', async () => {
      const t = makePlane();
      const made = await enter(t, [
        aLine({ period: 'paid', receivedAmount: 1 }),
        aLine({ period: 'invoiced', invoiceNo: 'F-9', invoiceAmount: 10 }),
        aLine({ period: 'open' }),
      ]);
      const ids = made.payments.filter(({ period }) => period !== 'open').map(({ id }) => id);
      const { code, details } = await failureOf(send(t, made, [aLine({ period: 'new' })], { remark: 'not kept' }));
      expect(code).to.equal('LINE_HAS_MONEY');
      expect((details as { paymentIds: string[] }).paymentIds).to.have.members(ids);
      expect(await reread(t, made)).to.deep.equal(made);
    });

    describe('a period that comes twice', () => {
      it('is told apart by due date', async () => {
        const t = makePlane();
        const made = await enter(t, [
          aLine({ period: 'rent', dueDate: '2026-04-01', amount: 1 }),
          aLine({ period: 'rent', dueDate: '2026-05-01', amount: 2 }),
        ]);
        const changed = await send(t, made, [
          aLine({ period: 'rent', dueDate: '2026-05-01', amount: 20 }),
          aLine({ period: 'rent', dueDate: '2026-06-01', amount: 3 }),
        ]);
        expect(shape(changed)).to.deep.equal([
          ['rent', '2026-05-01', 20],
          ['rent', '2026-06-01', 3],
        ]);
        expect(changed.payments[0]?.id).to.equal(made.payments[1]?.id);
        expect(made.payments.map(({ id }) => id)).not.to.include(changed.payments[1]?.id);
      });

      it('also where only the request has it twice, or only the contract', async () => {
        const t = makePlane();
        const once = await enter(t, [aLine({ period: 'rent', dueDate: '2026-04-01' })]);
        const split = await send(t, once, [
          aLine({ period: 'rent', dueDate: '2026-03-01' }),
          aLine({ period: 'rent', dueDate: '2026-04-01' }),
        ]);
        expect(split.payments.map(({ id }) => id).indexOf(once.payments[0]?.id ?? '')).to.equal(1);
        const joined = await send(t, split, [aLine({ period: 'rent', dueDate: '2026-04-01' })]);
        expect(joined.payments.map(({ id }) => id)).to.deep.equal([once.payments[0]?.id]);
      });

      it('with one due date is refused, and each such line is named', async () => {
        const t = makePlane();
        const made = await enter(t, [aLine()]);
        const twin = aLine({ period: 'rent', dueDate: '2026-04-01' });
        expect(await badFields(send(t, made, [twin, aLine(), twin, twin]))).to.deep.equal({
          'payments[2].period': 'must not be repeated with the same dueDate: payments[0] has both',
          'payments[3].period': 'must not be repeated with the same dueDate: payments[0] has both',
        });
      });

      it('entered twice, the one with money on it is meant', async () => {
        const t = makePlane();
        const made = await enter(t, [aLine(), aLine({ receivedAmount: 3 }), aLine()]);
        const kept = await send(t, made, [aLine()]);
        expect(kept.payments.map(({ id, receivedAmount }) => [id, receivedAmount])).to.deep.equal([
          [made.payments.find(({ receivedAmount }) => receivedAmount === 3)?.id, 3],
        ]);
      });
    });

    describe('receipts and invoices on it', () => {
      it("are recorded as on the line's own endpoints, history and all", async () => {
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

      it('null clears a field, and 0 takes the money back', async () => {
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

      it('another amount must be matched again, also when the status is sent back with it', async () => {
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

      it('need the right to them, and to send back what a line has needs none', async () => {
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

      it('a new contract asks for the same rights, whoever enters it', async () => {
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

      it('`matched` without money is refused', async () => {
        const t = makePlane();
        const made = await enter(t, [aLine()]);
        expect(await failureOf(send(t, made, [aLine({ reconciliationStatus: 'matched' })]))).to.deep.equal({
          code: 'RECONCILE_WITHOUT_RECEIPT',
          details: {},
        });
      });

      it('a transfer that other lines name is pointed out, with those lines', async () => {
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
        expect((await send(t, made, planOf(changed))).warnings).to.deep.equal([]);
      });

      it('files must exist, and those that a line has already may be sent back', async () => {
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
      it('of the contract and of the plan change together', async () => {
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

      it('amounts are read in the currency that the line then has', async () => {
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

      it('of a line with money stays', async () => {
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

    describe('of a locked contract', () => {
      const locked = async () => {
        const t = makePlane({ controls: { active: 'admin' } });
        return {
          t,
          made: await enter(t, [aLine({ period: 'A' }), aLine({ period: 'B' })], { workflowStage: 'active' }),
        };
      };

      it('stays as it is: amounts, dates, currencies, and which lines there are', async () => {
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

      it('is open for receipts and invoices, and for the same plan again', async () => {
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

    it('every bad amount is named by its place', async () => {
      const t = makePlane();
      const made = await enter(t, [aLine({ period: 'A' })]);
      expect(
        await badFields(
          send(t, made, [aLine({ period: 'A', amount: 1.001 }), aLine({ period: 'B', receivedAmount: 0.001 })]),
        ),
      ).to.deep.equal({
        'payments[0].amount': 'must have at most 2 decimals in CNY',
        'payments[1].receivedAmount': 'must have at most 2 decimals in CNY',
      });
      const huge = aLine({ amount: 8_000_000_000_000 });
      expect(
        await badFields(
          send(t, made, [
            { ...huge, period: 'A' },
            { ...huge, period: 'B' },
          ]),
        ),
      ).to.have.property('payments');
    });

    it('parallel changes of the plan end in one of them, with figures that are its own', async () => {
      const t = makePlane();
      const made = await enter(t, [aLine({ period: 'A', amount: 1 })]);
      await Promise.all(
        Array.from({ length: 20 }, (_, i) =>
          send(t, made, [
            aLine({ period: 'A', amount: i + 1 }),
            ...(i % 2 ? [aLine({ period: `B${i}`, amount: 100 * i })] : []),
          ]),
        ),
      );
      const after = await reread(t, made);
      expect(after.payments.filter(({ period }) => period === 'A')).to.have.length(1);
      expect(after.payments.length).to.be.at.most(2);
      const sum = after.payments.reduce((total, { amount }) => total + amount, 0);
      expect([after.receivableAmount, after.outstandingAmount]).to.deep.equal([sum, sum]);
      const last = after.payments.find(({ period }) => period !== 'A');
      if (last) expect(last.amount).to.equal(100 * Number(last.period.slice(1)));
      expect((await t.plane.getPaymentStats({})).outstanding).to.equal(sum);
    });

    it('one change of it is one event in the trail', async () => {
      const t = makePlane();
      const made = await enter(t, [aLine({ period: 'A' }), aLine({ period: 'B' })]);
      await send(t, made, [aLine({ period: 'B', amount: 5 }), aLine({ period: 'C' })]);
      const { items } = await t.plane.listHistory({ contractId: made.id });
      expect(items.map(({ action }) => action)).to.deep.equal(['updateContract', 'createContract']);
      expect(
        items[0]?.changes.filter(({ field }) => field === 'deletedAt').map(({ recordName }) => recordName),
      ).to.deep.equal(['A']);
    });
  });
});
