import { expect } from 'chai';
import { forEachPlane } from '../support/plane.js';
import { aContract, aLine } from '../support/samples.js';

describe('contracts', () => {
  forEachPlane((_name, makePlane) => {
    it('are read back as they were created', async () => {
      const { plane } = makePlane();
      const made = await plane.createContract(
        aContract({ payments: [aLine(), aLine({ dueDate: '2026-03-01', receivedAmount: 400 })] }),
      );
      expect(made.outstandingAmount).to.equal(1600);
      expect(await plane.getContract({ contractId: made.id })).to.deep.equal(made);
    });
  });
});
