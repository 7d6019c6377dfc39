import { expect } from 'chai';
import { newId } from '../../data-plane-agent/base/ids.js';
import { failureOf } from '../support/failures.js';
import { forEachPlane, type TestPlane } from '../support/plane.js';
import { aContract } from '../support/samples.js';

const close = (t: TestPlane, subjectId: string, closingId = newId()) => t.plane.closeSubject({ subjectId, closingId });
const enter = (t: TestPlane, subjectId: string) => t.plane.createContract(aContract({ subjectId }));
const refusedFor = (subjectId: string) => ({
  code: 'REFERENCE_INVALID',
  details: { field: 'subjectId', value: subjectId },
});

describe('a subject company that is being removed', () => {
  forEachPlane((_name, makePlane) => {
    it('is not closed while it has contracts, including those in the trash', async () => {
      const t = makePlane();
      const subjectId = newId();
      const { id } = await enter(t, subjectId);
      await t.plane.deleteContract({ contractId: id });
      expect(await close(t, subjectId)).to.deep.equal({ contracts: 1 });
      await enter(t, subjectId);
      expect(await close(t, subjectId)).to.deep.equal({ contracts: 2 });
    });

    it('refuses new and moved contracts and files while it is closed', async () => {
      const t = makePlane();
      const [subjectId, other] = [newId(), newId()];
      const elsewhere = await enter(t, other);
      expect(await close(t, subjectId)).to.deep.equal({ contracts: 0 });
      const file = {
        subjectId,
        fileName: 'a.pdf',
        contentType: 'application/pdf',
        sizeBytes: 10,
        kind: 'contract_original' as const,
      };
      for (const refused of [
        enter(t, subjectId),
        t.plane.updateContract({ contractId: elsewhere.id, changes: { subjectId } }),
        t.plane.presignFile(file),
      ])
        expect(await failureOf(refused)).to.deep.equal(refusedFor(subjectId));
      await enter(t, other);
      expect((await enter(makePlane(), subjectId)).subjectId, 'another organisation is not affected').to.equal(
        subjectId,
      );
    });

    it('is reopened when its removal is cancelled, unless another removal is in progress', async () => {
      const t = makePlane();
      const [subjectId, first, second] = [newId(), newId(), newId()];
      for (const closingId of [first, second]) await close(t, subjectId, closingId);
      await t.plane.reopenClosed({ closingId: first });
      expect(await failureOf(enter(t, subjectId))).to.deep.equal(refusedFor(subjectId));
      await t.plane.reopenClosed({ closingId: second });
      expect((await enter(t, subjectId)).subjectId).to.equal(subjectId);
    });

    it('is reopened after ten minutes without an outcome', async () => {
      const t = makePlane();
      const subjectId = newId();
      await close(t, subjectId);
      t.clock.advance(10 * 60_000 - 1);
      expect(await failureOf(enter(t, subjectId))).to.deep.equal(refusedFor(subjectId));
      t.clock.advance(1);
      expect((await enter(t, subjectId)).subjectId).to.equal(subjectId);
    });
  });

  forEachPlane(
    (_name, makePlane) => {
      it('refuses the rows of an import, too, before, after or meanwhile', async () => {
        const t = makePlane();
        for (let round = 0; round < 6; round++) {
          const [subjectId, other] = [newId(), newId()];
          const rows = [aContract({ subjectId }), aContract({ subjectId: other }), aContract({ subjectId })].map(
            (row) => ({ ...row }),
          );
          const context = {
            people: {
              members: rows.map(({ ownerId }, i) => ({
                id: ownerId,
                name: `M ${i}`,
                email: `m${i}@a.test`,
                active: true,
              })),
              subjects: [
                { id: subjectId, name: 'One' },
                { id: other, name: 'Two' },
              ],
            },
            roleCodes: [],
          };
          const [{ contracts }, report] = await Promise.all([
            close(t, subjectId),
            t.plane.importContracts({ rows, sheet: null, ...context }),
          ]);
          expect([report.created - 1, report.failed], `round ${round}`).to.deep.equal(contracts > 0 ? [2, 0] : [0, 2]);
          expect(contracts).to.be.oneOf([0, 2]);
        }
      });

      it('is closed before or after a concurrent creation, never during one', async () => {
        const t = makePlane();
        for (let round = 0; round < 10; round++) {
          const subjectId = newId();
          const entering = Array.from({ length: 4 }, () =>
            enter(t, subjectId).then(
              () => true,
              () => false,
            ),
          );
          const [{ contracts }, ...entered] = await Promise.all([close(t, subjectId), ...entering]);
          expect(entered.some(Boolean), `round ${round}`).to.equal(contracts > 0);
        }
      });
    },
    { only: ['sqlite', 'postgres'] },
  );
});
