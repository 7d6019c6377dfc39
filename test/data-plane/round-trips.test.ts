import { expect } from 'chai';
import { forEachPlane, type TestPlane } from '../support/plane.js';
import { aField } from '../support/fields.js';
import { HARBOUR, MING, ofRows } from '../support/import-samples.js';
import { countingRoundTrips } from '../support/round-trips.js';
import { aContract, aLine } from '../support/samples.js';

const LIST = { type: 'sale', sort: 'endDate', order: 'desc' } as const;
const FIGURES = { subjectId: null, displayCurrency: 'CNY' } as const;
const MONTHS = Array.from({ length: 12 }, (_, month) => `2026-${String(month + 1).padStart(2, '0')}`);

/** With all parts that are entered with a contract. */
const full = (fieldId: string) =>
  aContract({
    payments: MONTHS.map((period) => aLine({ period, dueDate: `${period}-15` })),
    terms: [{ kind: 'delivery', title: 'Ex works', note: 'Two years' }],
    extraNotes: [{ label: 'Gate', value: '4' }],
    dynamicFields: { [fieldId]: 'Hall 4' },
  });
const importedRows = (count: number) =>
  Array.from({ length: count }, () =>
    aContract({ subjectId: HARBOUR.id, ownerId: MING.id, payments: [aLine({ receivedAmount: 5 })] }),
  );
const receipt = (n: number) => ({ receivedAmount: n, method: 'wire', bankSerialNo: `S-${n}` });

/** A tenant of which everything was done once. */
async function usedTenant(test: TestPlane) {
  const { plane } = test;
  const { id: fieldId } = await aField(test);
  const { id: contractId, payments } = await plane.createContract(full(fieldId));
  const paymentId = payments[0]?.id ?? '';
  await plane.recordReceipt({ paymentId, ...receipt(1) });
  await plane.getContract({ contractId });
  await plane.listContracts(LIST);
  await plane.getPaymentStats({});
  await plane.getAnalyticsSummary(FIGURES);
  return { fieldId, contractId, paymentId };
}

describe('round trips to PostgreSQL', () => {
  const counted = countingRoundTrips();

  forEachPlane(
    (_name, makePlane) => {
      it('are few, and no more for more lines', async () => {
        const test = makePlane();
        const { plane } = test;
        const { fieldId, contractId, paymentId } = await usedTenant(test);
        const keyed = test.as({ idempotency: { key: 'once', requestHash: 'aa' } });
        const trips = {
          create: await counted(() => plane.createContract(full(fieldId))),
          createUnderKey: await counted(() => keyed.createContract(full(fieldId))),
          receipt: await counted(() => plane.recordReceipt({ paymentId, ...receipt(2) })),
          // With what the writes in between have added, and the end of the snapshot.
          stats: await counted(() => plane.getPaymentStats({})),
          summary: await counted(() => plane.getAnalyticsSummary(FIGURES)),
          // The first after a write: the version of the kept answer, the snapshot in two steps, and its end.
          get: await counted(() => plane.getContract({ contractId })),
          keptGet: await counted(() => plane.getContract({ contractId })),
          list: await counted(() => plane.listContracts(LIST)),
          keptList: await counted(() => plane.listContracts(LIST)),
        };
        expect(trips).to.deep.equal({
          create: 4,
          createUnderKey: 5,
          receipt: 3,
          stats: 2,
          summary: 2,
          get: 4,
          keptGet: 1,
          list: 5,
          keptList: 1,
        });
      });

      it('are shared by the contracts of an import', async () => {
        const { plane } = makePlane();
        await plane.createContract(aContract({ subjectId: HARBOUR.id, ownerId: MING.id }));
        // How many answers arrive together decides which statements go together: 15 to 19, and 37 one by one.
        const trips: number[] = [];
        for (let n = 0; n < 5; n++) trips.push(await counted(() => plane.importContracts(ofRows(importedRows(24)))));
        const [, , median] = trips.toSorted((a, b) => a - b);
        expect(median, trips.join()).to.be.at.most(18);
        expect(Math.max(...trips), trips.join()).to.be.below(24);
      });
    },
    { only: ['postgres'] },
  );
});
