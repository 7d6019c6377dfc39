import { expect } from 'chai';
import type { Warning } from '../../data-plane-agent/plane/contract/records/common.js';
import type { PaymentLineInput } from '../../data-plane-agent/plane/contract/records/lines.js';
import { HARBOUR, MING, ofRows } from '../support/import-samples.js';
import { forEachPlane, type TestPlane } from '../support/plane.js';
import { rebuildRollups, rollupsOf } from '../support/rollups.js';
import { aContract, aLine } from '../support/samples.js';

const CNY = (receivedAmount: number) => [{ currencyCode: 'CNY', receivedAmount }];
const reused = (warnings: readonly Warning[] | undefined) =>
  (warnings ?? []).filter(({ code, transfers }) => code === 'BANK_SERIAL_REUSED' && transfers);
/** The first transfer of the warning: its lines and what they have received by it. */
const figures = (warnings: readonly Warning[] | undefined) => {
  const [transfer] = reused(warnings)[0]?.transfers ?? [];
  return transfer && [transfer.lines, transfer.received];
};

describe('what payment lines have received by a bank transfer', () => {
  forEachPlane((_name, makePlane) => {
    const line = async ({ plane }: TestPlane, changes: Partial<PaymentLineInput> = {}) => {
      const { payments } = await plane.createContract(aContract({ payments: [aLine({ amount: 500, ...changes })] }));
      return payments[0]?.id ?? '';
    };
    /** The transfer as a new line without an amount of its own sees it, with the other lines; the line is deleted. */
    const seen = async ({ plane }: TestPlane, bankSerialNo: string) => {
      const { id, payments, warnings } = await plane.createContract(aContract({ payments: [aLine({ bankSerialNo })] }));
      await plane.deletePaymentLine({ paymentId: payments[0]?.id ?? '' });
      await plane.deleteContract({ contractId: id });
      const [warning] = reused(warnings);
      return warning && [warning.paymentIds, warning.transfers?.[0]?.received];
    };
    /** A line that received 25 by T-1 and then 35 by T-2. */
    const paidTwice = async (t: TestPlane) => {
      const paymentId = await line(t, { receivedAmount: 25, bankSerialNo: 'T-1' });
      await t.plane.addReceipt({ paymentId, amount: 35, bankSerialNo: 'T-2' });
      return paymentId;
    };

    it('excludes what a line has received by other transfers, and includes lines that name a later one', async () => {
      const t = makePlane();
      const first = await paidTwice(t);
      const second = await line(t);
      const { warnings } = await t.plane.addReceipt({ paymentId: second, amount: 144, bankSerialNo: 'T-2' });
      expect(reused(warnings)).to.deep.equal([
        {
          code: 'BANK_SERIAL_REUSED',
          message: '2 payment lines have received 179.00 CNY by bank transfer T-2.',
          paymentIds: [first],
          transfers: [{ bankSerialNo: 'T-2', lines: 2, received: CNY(179) }],
        },
      ]);
      expect(await seen(t, 'T-1'), 'the transfer that the line no longer names').to.deep.equal([[first], CNY(25)]);
    });

    it('does not change by a later receipt without a number, also after a correction', async () => {
      const t = makePlane();
      const paymentId = await paidTwice(t);
      await t.plane.addReceipt({ paymentId, amount: 60 });
      const sums = async () => [(await seen(t, 'T-1'))?.[1], (await seen(t, 'T-2'))?.[1]];
      expect(await sums()).to.deep.equal([CNY(25), CNY(35)]);
      await t.plane.recordReceipt({ paymentId, bankSerialNo: 'T-3' });
      expect([...(await sums()), (await seen(t, 'T-3'))?.[1]], 'only the last receipt is numbered').to.deep.equal([
        CNY(25),
        CNY(35),
        CNY(60),
      ]);
      await t.plane.addReceipt({ paymentId, amount: 1 });
      expect([...(await sums()), (await seen(t, 'T-3'))?.[1]], 'after one more receipt').to.deep.equal([
        CNY(25),
        CNY(35),
        CNY(60),
      ]);
    });

    it('is the same for every operation that sets a transfer', async () => {
      const ways: readonly ((t: TestPlane, paymentId: string) => Promise<readonly Warning[] | undefined>)[] = [
        async (t, paymentId) =>
          (await t.plane.recordReceipt({ paymentId, receivedAmount: 9, bankSerialNo: 'T-1' })).warnings,
        async (t, paymentId) => (await t.plane.addReceipt({ paymentId, amount: 9, bankSerialNo: 'T-1' })).warnings,
        async (t, paymentId) =>
          (await t.plane.updatePaymentLine({ paymentId, receivedAmount: 9, bankSerialNo: 'T-1' })).warnings,
        async (t) =>
          (await t.plane.createContract(aContract({ payments: [aLine({ receivedAmount: 9, bankSerialNo: 'T-1' })] })))
            .warnings,
        async (t) => {
          const { id } = await t.plane.createContract(aContract());
          const given = aLine({ period: 'new', receivedAmount: 9, bankSerialNo: 'T-1' });
          return (await t.plane.addPaymentLine({ contractId: id, ...given })).warnings;
        },
        async (t) => {
          const { id } = await t.plane.createContract(aContract());
          const payments = [aLine({ receivedAmount: 9, bankSerialNo: 'T-1' })];
          return (await t.plane.updateContract({ contractId: id, changes: { payments } })).warnings;
        },
        async (t) => {
          const payments = [aLine({ receivedAmount: 9, bankSerialNo: 'T-1' })];
          const input = aContract({ subjectId: HARBOUR.id, ownerId: MING.id, payments });
          return (await t.plane.importContracts(ofRows([input]))).rows[0]?.warnings;
        },
      ];
      for (const way of ways) {
        const t = makePlane();
        const paymentId = await line(t);
        await paidTwice(t);
        expect(figures(await way(t, paymentId)), String(way)).to.deep.equal([2, CNY(34)]);
      }
    });

    it('follows a corrected number, also after later receipts and a second correction', async () => {
      const t = makePlane();
      const paymentId = await line(t, { receivedAmount: 100, bankSerialNo: 'T-X' });
      await t.plane.recordReceipt({ paymentId, bankSerialNo: 'T-Y' });
      await t.plane.recordReceipt({ paymentId, bankSerialNo: 'T-1' });
      expect((await t.plane.listReceipts({ paymentId })).total, 'a correction adds no receipt').to.equal(1);
      expect(await seen(t, 'T-1')).to.deep.equal([[paymentId], CNY(100)]);
      for (const former of ['T-X', 'T-Y']) expect(await seen(t, former), former).to.equal(undefined);

      await t.plane.addReceipt({ paymentId, amount: 7, bankSerialNo: 'T-2' });
      expect(await seen(t, 'T-X'), 'after a later receipt').to.equal(undefined);
      expect(await seen(t, 'T-1')).to.deep.equal([[paymentId], CNY(100)]);
      expect(await seen(t, 'T-2')).to.deep.equal([[paymentId], CNY(7)]);
      const { items } = await t.plane.listReceipts({ paymentId });
      expect(items.map(({ delta, total, bankSerialNo }) => [delta, total, bankSerialNo])).to.deep.equal([
        [7, 107, 'T-2'],
        [100, 100, 'T-1'],
        [-100, 0, 'T-X'],
        [100, 100, 'T-X'],
      ]);

      await t.plane.updatePaymentLine({ paymentId, bankSerialNo: 'T-3' });
      expect(await seen(t, 'T-2'), 'only the last transfer is corrected').to.equal(undefined);
      expect([await seen(t, 'T-1'), await seen(t, 'T-3')]).to.deep.equal([
        [[paymentId], CNY(100)],
        [[paymentId], CNY(7)],
      ]);
    });

    it('follows a number that is set, corrected or removed together with the day', async () => {
      const t = makePlane();
      const paymentId = await line(t, { receivedAmount: 100, receivedDate: '2026-03-01' });
      await t.plane.recordReceipt({ paymentId, receivedDate: '2026-03-02', bankSerialNo: 'T-1' });
      expect(await seen(t, 'T-1')).to.deep.equal([[paymentId], CNY(100)]);
      await t.plane.recordReceipt({ paymentId, bankSerialNo: 'T-2' });
      await t.plane.recordReceipt({ paymentId, receivedDate: '2026-03-03' });
      expect([await seen(t, 'T-1'), await seen(t, 'T-2')]).to.deep.equal([undefined, [[paymentId], CNY(100)]]);
      await t.plane.recordReceipt({ paymentId, receivedDate: '2026-03-04', bankSerialNo: 'T-3' });
      expect([await seen(t, 'T-2'), await seen(t, 'T-3')]).to.deep.equal([undefined, [[paymentId], CNY(100)]]);
      await t.plane.recordReceipt({ paymentId, bankSerialNo: null });
      expect(await seen(t, 'T-3')).to.equal(undefined);
      const byDay = new Map<string | null, number>();
      for (const { receivedDate, delta } of (await t.plane.listReceipts({ paymentId })).items.toReversed())
        byDay.set(receivedDate, (byDay.get(receivedDate) ?? 0) + delta);
      expect([...byDay], 'the amount is counted on its last day').to.deep.equal([
        ['2026-03-01', 0],
        ['2026-03-02', 0],
        ['2026-03-03', 0],
        ['2026-03-04', 100],
      ]);
      const kept = await rollupsOf(t);
      await rebuildRollups(t);
      expect(kept).to.deep.equal(await rollupsOf(t));
    });

    it('is less refunds; a refund with a number of its own is not deducted, and a transfer paid back is no longer one of the line', async () => {
      const t = makePlane();
      const paymentId = await paidTwice(t);
      await t.plane.recordReceipt({ paymentId, receivedAmount: 50 });
      expect([await seen(t, 'T-1'), await seen(t, 'T-2')]).to.deep.equal([
        [[paymentId], CNY(25)],
        [[paymentId], CNY(25)],
      ]);
      await t.plane.recordReceipt({ paymentId, receivedAmount: 20, bankSerialNo: 'REFUND' });
      expect([await seen(t, 'T-2'), await seen(t, 'REFUND')]).to.deep.equal([
        [[paymentId], CNY(25)],
        [[paymentId], CNY(-30)],
      ]);
      const other = await line(t, { receivedAmount: 10, bankSerialNo: 'T-5' });
      await t.plane.recordReceipt({ paymentId: other, receivedAmount: 0 });
      expect(await seen(t, 'T-5'), 'it still names the transfer').to.deep.equal([[other], CNY(0)]);
      await t.plane.recordReceipt({ paymentId: other, receivedAmount: 1, bankSerialNo: 'T-6' });
      expect(await seen(t, 'T-5')).to.equal(undefined);
    });

    it('is exact for sums beyond 2^53 minor units, by currency', async () => {
      const t = makePlane();
      const most = { amount: 9_000_000_000_000, receivedAmount: 9_000_000_000_000, bankSerialNo: 'T-1' };
      for (let n = 0; n < 11; n++)
        await t.plane.createContract(aContract({ unitPrice: 1, payments: [aLine({ ...most, currencyCode: 'CNY' })] }));
      const { warnings } = await t.plane.createContract(
        aContract({
          payments: [
            aLine({ receivedAmount: 0.01, bankSerialNo: 'T-1' }),
            aLine({ period: 'B', receivedAmount: 3, bankSerialNo: 'T-1', currencyCode: 'USD' }),
          ],
        }),
      );
      expect(reused(warnings)[0]?.message).to.equal(
        '13 payment lines have received 99000000000000.01 CNY and 3.00 USD by bank transfer T-1.',
      );
    });

    it('says that a line is paid twice by one transfer after corrections too', async () => {
      const t = makePlane();
      const paymentId = await line(t, { receivedAmount: 10, bankSerialNo: 'T-X' });
      await t.plane.recordReceipt({ paymentId, bankSerialNo: 'T-1' });
      const repeated = async (bankSerialNo: string) =>
        (await t.plane.addReceipt({ paymentId, amount: 1, bankSerialNo })).warnings.map(({ code }) => code);
      expect(await repeated('T-X'), 'a number that was a typing error').to.deep.equal([]);
      expect(await repeated('T-1')).to.deep.equal(['BANK_SERIAL_REUSED']);
      expect(await repeated('T-1'), 'once more').to.deep.equal(['BANK_SERIAL_REUSED']);
      expect(await repeated('T-2')).to.deep.equal([]);
      expect(await repeated('T-X'), 'before the last one').to.deep.equal(['BANK_SERIAL_REUSED']);
    });

    it('excludes deleted lines and contracts, and lines that the caller may not see', async () => {
      const t = makePlane();
      const mine = aContract({ payments: [aLine({ receivedAmount: 4, bankSerialNo: 'T-1' })] });
      const me = t.as({ subjectScope: [mine.subjectId] });
      await paidTwice(t);
      expect(reused((await me.createContract(mine)).warnings), 'nothing that I see').to.deep.equal([]);
      const also = aContract({
        subjectId: mine.subjectId,
        payments: [aLine({ receivedAmount: 3, bankSerialNo: 'T-1' })],
      });
      const { id, payments, warnings } = await me.createContract(also);
      expect(figures(warnings)).to.deep.equal([2, CNY(7)]);
      await me.addReceipt({ paymentId: payments[0]?.id ?? '', amount: 2, bankSerialNo: 'T-2' });
      const owned = await t
        .as({ ownerScope: mine.ownerId })
        .createContract(aContract({ ownerId: mine.ownerId, payments: [aLine({ bankSerialNo: 'T-1' })] }));
      expect(figures(owned.warnings), 'as their owner').to.deep.equal([2, CNY(4)]);
      expect((await seen(t, 'T-1'))?.[1], 'with all lines').to.deep.equal(CNY(32));
      expect((await seen(t, 'T-2'))?.[1]).to.deep.equal(CNY(37));
      await t.plane.deleteContract({ contractId: id });
      expect((await seen(t, 'T-1'))?.[1], 'after a deletion').to.deep.equal(CNY(29));
    });
  });
});
