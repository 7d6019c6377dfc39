import { expect } from 'chai';
import { badFields, failureOf } from '../support/failures.js';
import { forEachPlane } from '../support/plane.js';
import { aLine } from '../support/samples.js';
import { enter, planOf, reread, send, shape } from '../support/contract-plans.js';

describe("a contract's plan replaced as a whole", () => {
  forEachPlane((_name, makePlane) => {
    it('keeps lines with the same period, adds new ones, and deletes missing ones', async () => {
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
      expect(changed.payments[0], 'an unchanged line').to.deep.equal(made.payments[0]);
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

    it('is unchanged by its own stored lines, in any order', async () => {
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
        'omitted fields are kept',
      ).to.equal(1);
      expect(fewer?.receiptAccount).to.equal('6222 0000 1102');
    });

    it('loses all deletable lines to an empty list, and to null', async () => {
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

    it('keeps a line with money, and then refuses the whole request', async () => {
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

    describe('with a period that occurs twice', () => {
      it('distinguishes the lines by due date', async () => {
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

      it('does so also if it occurs twice only in the request, or only in the contract', async () => {
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

      it('is refused if the due dates are equal, too, and each such line is reported', async () => {
        const t = makePlane();
        const made = await enter(t, [aLine()]);
        const twin = aLine({ period: 'rent', dueDate: '2026-04-01' });
        expect(await badFields(send(t, made, [twin, aLine(), twin, twin]))).to.deep.equal({
          'payments[2].period': 'must not be repeated with the same dueDate: payments[0] has both',
          'payments[3].period': 'must not be repeated with the same dueDate: payments[0] has both',
        });
      });

      it('matches the line with money if both were created before', async () => {
        const t = makePlane();
        const made = await enter(t, [aLine(), aLine({ receivedAmount: 3 }), aLine()]);
        const kept = await send(t, made, [aLine()]);
        expect(kept.payments.map(({ id, receivedAmount }) => [id, receivedAmount])).to.deep.equal([
          [made.payments.find(({ receivedAmount }) => receivedAmount === 3)?.id, 3],
        ]);
      });
    });

    it('reports every invalid amount by its position', async () => {
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

    it('equals one of several concurrent requests, with consistent totals', async () => {
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

    it('is recorded as one event in the trail', async () => {
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
