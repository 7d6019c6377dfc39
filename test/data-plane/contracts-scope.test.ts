import { expect } from 'chai';
import { newId } from '../../data-plane-agent/base/ids.js';
import type { BoundPlane } from '../../data-plane-agent/plane/contract/data-plane.js';
import type { Operations } from '../../data-plane-agent/plane/operations/index.js';
import { failureOf } from '../support/failures.js';
import { forEachPlane } from '../support/plane.js';
import { aContract, aLine } from '../support/samples.js';

const NOT_FOUND = { code: 'NOT_FOUND', details: {} };

/** Expects that no operation finds a contract outside the caller's scope, and that nothing changes. */
async function expectUnseen(plane: BoundPlane<Operations>, contractId: string): Promise<void> {
  expect(await failureOf(plane.getContract({ contractId }))).to.deep.equal(NOT_FOUND);
  expect(await failureOf(plane.updateContract({ contractId, changes: { remark: 'stolen' } }))).to.deep.equal(NOT_FOUND);
  expect(await failureOf(plane.deleteContract({ contractId }))).to.deep.equal(NOT_FOUND);
  expect(await failureOf(plane.addPaymentLine({ contractId, ...aLine() }))).to.deep.equal(NOT_FOUND);
  const listed = await plane.listContracts({ pageSize: 200 });
  expect(listed.items.map(({ id }) => id)).not.to.include(contractId);
  expect((await plane.listContracts({ q: 'hidden treasure' })).total).to.equal(0);
}

describe('the contracts that a caller sees', () => {
  forEachPlane((_name, makePlane) => {
    it('are those of their tenant only', async () => {
      const mine = makePlane();
      const input = aContract({ remark: 'hidden treasure' });
      const contract = await mine.plane.createContract(input);
      const other = makePlane();
      await expectUnseen(other.plane, contract.id);
      expect((await other.plane.createContract({ ...input, remark: null })).contractNo).to.equal(input.contractNo);
      expect(await mine.plane.getContract({ contractId: contract.id })).to.deep.equal(contract);
    });

    it('are those of their subject companies, and none if the list is empty', async () => {
      const t = makePlane();
      const [north, south] = [newId(), newId()];
      const contract = await t.plane.createContract(aContract({ subjectId: north, remark: 'hidden treasure' }));
      const inSouth = await t.plane.createContract(aContract({ subjectId: south }));
      for (const subjectScope of [[south], []]) await expectUnseen(t.as({ subjectScope }), contract.id);
      expect((await t.as({ subjectScope: [south] }).listContracts({})).items.map(({ id }) => id)).to.deep.equal([
        inSouth.id,
      ]);
      expect((await t.as({ subjectScope: [north, south] }).listContracts({})).total).to.equal(2);
      expect((await t.as({ subjectScope: [] }).listContracts({})).total).to.equal(0);
      expect((await t.as({ subjectScope: [north] }).getContract({ contractId: contract.id })).id).to.equal(contract.id);
    });

    it('are, under an owner scope, those of which they are owner or superior', async () => {
      const t = makePlane();
      const [seller, boss, other] = [newId(), newId(), newId()];
      const contract = await t.plane.createContract(
        aContract({ ownerId: seller, ownerSuperiorId: boss, remark: 'hidden treasure' }),
      );
      const ownerless = await t.plane.createContract(aContract({ ownerId: other }));
      await expectUnseen(t.as({ ownerScope: other }), contract.id);
      for (const ownerScope of [seller, boss])
        expect((await t.as({ ownerScope }).listContracts({})).items.map(({ id }) => id)).to.deep.equal([contract.id]);
      expect((await t.as({ ownerScope: other, subjectScope: [ownerless.subjectId] }).listContracts({})).total).to.equal(
        1,
      );
      expect((await t.as({ ownerScope: other, subjectScope: [contract.subjectId] }).listContracts({})).total).to.equal(
        0,
      );
    });

    it('cannot be created for or moved to a subject company outside the scope', async () => {
      const t = makePlane();
      const [mine, other] = [newId(), newId()];
      const scoped = t.as({ subjectScope: [mine] });
      const refused = { code: 'REFERENCE_INVALID', details: { field: 'subjectId', value: other } };
      expect(await failureOf(scoped.createContract(aContract({ subjectId: other })))).to.deep.equal(refused);
      const contract = await scoped.createContract(aContract({ subjectId: mine }));
      expect(
        await failureOf(scoped.updateContract({ contractId: contract.id, changes: { subjectId: other } })),
      ).to.deep.equal(refused);
    });

    it('are filtered by a subject company outside the scope as by one that does not exist', async () => {
      const t = makePlane();
      const [mine, other] = [newId(), newId()];
      await t.plane.createContract(aContract({ subjectId: other }));
      const scoped = t.as({ subjectScope: [mine] });
      expect(await failureOf(scoped.listContracts({ subjectId: other }))).to.deep.equal(NOT_FOUND);
      expect((await scoped.listContracts({ subjectId: mine })).total).to.equal(0);
      expect((await t.plane.listContracts({ subjectId: other })).total).to.equal(1);
      for (const query of [{ subjectId: 'nowhere' }, { ownerId: 'nobody' }])
        expect(await failureOf(t.plane.listContracts(query))).to.deep.equal(NOT_FOUND);
      expect((await t.plane.listContracts({ ownerId: newId() })).items).to.deep.equal([]);
    });

    it('do not include one with an invalid id', async () => {
      await expectUnseen(makePlane().plane, 'not-an-id');
    });
  });
});
