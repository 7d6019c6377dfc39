import { expect } from 'chai';
import { newId } from '../../data-plane-agent/base/ids.js';
import { OPEN_LINES_CHUNK } from '../../data-plane-agent/plane/contract/records/open-lines.js';
import { forEachPlane, PLANES } from '../support/plane.js';
import { aContract, aLine } from '../support/samples.js';

describe('the open lines of a tenant', () => {
  forEachPlane(
    (_name, makePlane) => {
      it('are those with an outstanding amount, overdue or not, with the data of their contract', async () => {
        const { plane } = makePlane();
        const contract = await plane.createContract(
          aContract({
            payments: [
              aLine({ period: 'overdue', dueDate: '2020-01-01', amount: 10 }),
              aLine({
                period: 'later',
                dueDate: '2030-01-01',
                amount: 1_234.5,
                receivedAmount: 0.05,
                receivedDate: '2026-03-01',
              }),
              aLine({ period: 'paid', amount: 10, receivedAmount: 10, receivedDate: '2026-03-01' }),
              aLine({ period: 'free', amount: 0 }),
            ],
          }),
        );
        const { lines, next } = await plane.listOpenLines({ after: null });
        expect(next).to.equal(null);
        const { contractNo, projectName, partyA } = contract;
        const lineOf = (period: string) => contract.payments.find((line) => line.period === period)?.id;
        expect(lines).to.have.deep.members([
          {
            paymentId: lineOf('overdue'),
            contractNo,
            projectName,
            partyA,
            period: 'overdue',
            dueDate: '2020-01-01',
            outstandingAmount: 10,
            currencyCode: 'CNY',
          },
          {
            paymentId: lineOf('later'),
            contractNo,
            projectName,
            partyA,
            period: 'later',
            dueDate: '2030-01-01',
            outstandingAmount: 1_234.45,
            currencyCode: 'CNY',
          },
        ]);
      });

      it('do not include deleted lines, lines of deleted contracts, and those outside the scope of the caller', async () => {
        const test = makePlane();
        const { plane } = test;
        const subjectId = newId();
        const kept = await plane.createContract(
          aContract({ subjectId, payments: [aLine({ period: 'a' }), aLine({ period: 'b' })] }),
        );
        const other = await plane.createContract(aContract({ payments: [aLine({ period: 'c' })] }));
        const gone = await plane.createContract(aContract({ payments: [aLine({ period: 'd' })] }));
        await plane.deletePaymentLine({ paymentId: kept.payments.find(({ period }) => period === 'b')?.id ?? '' });
        await plane.deleteContract({ contractId: gone.id });
        const periods = async (of: typeof plane) =>
          (await of.listOpenLines({ after: null })).lines.map(({ period }) => period).toSorted();
        expect(await periods(plane)).to.deep.equal(['a', 'c']);
        expect(await periods(test.as({ subjectScope: [subjectId] }))).to.deep.equal(['a']);
        expect(await periods(test.as({ ownerScope: other.ownerId }))).to.deep.equal(['c']);
        expect(await periods(test.as({ subjectScope: [] }))).to.deep.equal([]);
        expect(await periods(makePlane().plane)).to.deep.equal([]);
      });
    },
    { only: PLANES },
  );

  forEachPlane((_name, makePlane) => {
    it('are listed in pages by id, each line once', async () => {
      const { plane } = makePlane();
      const of = (count: number) => Array.from({ length: count }, (_, i) => aLine({ period: String(i) }));
      for (const count of [300, 201]) await plane.createContract(aContract({ payments: of(count) }));
      const first = await plane.listOpenLines({ after: null });
      expect(first.lines).to.have.length(OPEN_LINES_CHUNK);
      expect(first.next).to.equal(first.lines.at(-1)?.paymentId);
      const second = await plane.listOpenLines({ after: first.next });
      expect([second.lines.length, second.next]).to.deep.equal([1, null]);
      const ids = [...first.lines, ...second.lines].map(({ paymentId }) => paymentId);
      expect(ids).to.deep.equal([...new Set(ids)].toSorted());
    });
  });
});
