import { expect } from 'chai';
import { newId } from '../../data-plane-agent/base/ids.js';
import { badFields, failureOf } from '../support/failures.js';
import { forEachPlane, listedContracts, type TestPlane } from '../support/plane.js';
import { aContract, aLine } from '../support/samples.js';

describe('bulk operations on contracts', () => {
  forEachPlane((name, makePlane) => {
    const several = async ({ plane }: Pick<TestPlane, 'plane'>, count: number) => {
      const made = [];
      for (let i = 0; i < count; i++)
        made.push(await plane.createContract(aContract({ payments: [aLine({ amount: 10 })] })));
      return made;
    };
    const file = async ({ database, call }: TestPlane, kind: string, subjectId: string | null = null) => {
      const id = newId();
      await database.write(call, (tx) =>
        tx.run(
          'INSERT INTO files (tenant_id, id, kind, file_name, subject_id, created_at, updated_at) VALUES (?, ?, ?, ?, ?, 0, 0)',
          [call.tenantId, id, kind, 'a.pdf', subjectId],
        ),
      );
      return id;
    };

    it('delete every contract that can be deleted once, and report the others in the order of the request', async () => {
      const t = makePlane({ controls: { active: 'admin' } });
      const [a, b, c] = await several(t, 3);
      const paid = await t.plane.createContract(
        aContract({ workflowStage: 'active', payments: [aLine({ receivedAmount: 5 })] }),
      );
      const alsoPaid = await t.plane.createContract(
        aContract({ workflowStage: 'active', payments: [aLine({ receivedAmount: 5 })] }),
      );
      const unknown = newId();
      const ids = [alsoPaid.id, 'no id', c?.id ?? '', a?.id ?? '', unknown, c?.id ?? '', paid.id, 'NO ID', unknown];
      expect(await t.as({ controls: {} }).bulkDeleteContracts({ ids })).to.deep.equal({
        deleted: 2,
        notFound: ['no id', unknown, 'NO ID'],
        blocked: [
          { id: alsoPaid.id, code: 'CONTRACT_HAS_MONEY' },
          { id: paid.id, code: 'CONTRACT_HAS_MONEY' },
        ],
      });
      expect((await listedContracts(t.plane, {})).items.map(({ id }) => id)).to.have.members([
        b?.id,
        paid.id,
        alsoPaid.id,
      ]);
      expect((await t.plane.listTrash({})).items.map(({ id }) => id)).to.have.members([a?.id, c?.id]);
      expect((await t.plane.getPaymentStats({})).counts.all).to.equal(3);
      expect(await t.plane.bulkDeleteContracts({ ids: [a?.id ?? '', paid.id, alsoPaid.id] })).to.deep.equal({
        deleted: 2,
        notFound: [a?.id],
        blocked: [],
      });
    });

    it('record an event in the trail of each deleted contract', async () => {
      const t = makePlane();
      const made = await several(t, 3);
      await t.plane.bulkDeleteContracts({ ids: made.map(({ id }) => id) });
      for (const { id } of made) expect((await t.plane.restoreContract({ contractId: id })).payments).to.have.length(1);
      for (const { id } of made)
        expect((await t.plane.listHistory({ contractId: id })).items.map(({ action }) => action)).to.deep.equal([
          'restoreContract',
          'bulkDeleteContracts',
          'createContract',
        ]);
    });

    it('report contracts out of scope as not found, and leave them', async () => {
      const t = makePlane();
      const [a] = await several(t, 1);
      const nothing = { deleted: 0, notFound: [a?.id], blocked: [] };
      for (const otherTenant of [makePlane().plane, t.as({ subjectScope: [] }), t.as({ ownerScope: newId() })])
        expect(await otherTenant.bulkDeleteContracts({ ids: [a?.id ?? ''] })).to.deep.equal(nothing);
      expect((await listedContracts(t.plane, {})).total).to.equal(1);
    });

    it('refuse an empty list, and more than a thousand ids', async () => {
      const t = makePlane();
      const tooMany = Array.from({ length: 1_001 }, newId);
      expect(await badFields(t.plane.bulkDeleteContracts({ ids: [] }))).to.deep.equal({
        ids: 'must have at least 1 items',
      });
      expect(await badFields(t.plane.bulkDeleteContracts({ ids: tooMany }))).to.deep.equal({
        ids: 'must have at most 1000 items',
      });
      expect(await badFields(t.plane.bulkAttachContracts({ ids: [], contractAttachment: newId() }))).to.deep.equal({
        ids: 'must have at least 1 items',
      });
      expect(await t.plane.bulkDeleteContracts({ ids: tooMany.slice(1) })).to.deep.include({ deleted: 0 });
    });

    it('count each contract once in two concurrent deletions', async () => {
      const t = makePlane();
      const ids = (await several(t, 12)).map(({ id }) => id);
      const results = await Promise.all([
        t.plane.bulkDeleteContracts({ ids }),
        t.plane.bulkDeleteContracts({ ids: ids.toReversed() }),
        t.plane.bulkDeleteContracts({ ids: ids.slice(3) }),
      ]);
      expect(results.reduce((sum, { deleted }) => sum + deleted, 0)).to.equal(12);
      expect((await listedContracts(t.plane, {})).total).to.equal(0);
    });

    it('attach one file to all contracts, including locked ones', async () => {
      const t = makePlane({ controls: { signed: 'admin' } });
      const [a, b] = await several(t, 2);
      const locked = await t.plane.createContract(aContract({ workflowStage: 'signed' }));
      for (const kind of ['contract_original', 'other_evidence']) {
        const contractAttachment = await file(t, kind);
        const ids = [b?.id ?? '', 'no id', a?.id ?? '', locked.id, a?.id ?? ''];
        expect(await t.plane.bulkAttachContracts({ ids, contractAttachment })).to.deep.equal({
          updated: 3,
          notFound: ['no id'],
        });
        expect((await listedContracts(t.plane, {})).items.map((contract) => contract.contractAttachment)).to.deep.equal(
          [contractAttachment, contractAttachment, contractAttachment],
        );
      }
      const { contractAttachment, version } = await t.plane.getContract({ contractId: locked.id });
      expect(version).to.equal(3);
      expect(
        await t.plane.bulkAttachContracts({ ids: [locked.id], contractAttachment: contractAttachment ?? '' }),
        'contracts that already have it',
      ).to.deep.equal({ updated: 1, notFound: [] });
      expect((await t.plane.getContract({ contractId: locked.id })).version).to.equal(3);
    });

    it('refuse a file of another kind or out of scope, and change nothing', async () => {
      const t = makePlane();
      const [a] = await several(t, 1);
      const otherTenant = makePlane();
      const scoped = t.as({ subjectScope: [a?.subjectId ?? ''] });
      for (const [plane, contractAttachment] of [
        [t.plane, await file(t, 'invoice')],
        [t.plane, newId()],
        [t.plane, 'no id'],
        [t.plane, await file(otherTenant, 'contract_original')],
        [scoped, await file(t, 'contract_original', newId())],
      ] as const) {
        expect(await failureOf(plane.bulkAttachContracts({ ids: [a?.id ?? ''], contractAttachment }))).to.deep.equal({
          code: 'FILE_REFERENCE_INVALID',
          details: { field: 'contractAttachment', value: contractAttachment },
        });
      }
      expect((await t.plane.getContract({ contractId: a?.id ?? '' })).version).to.equal(1);
    });

    if (name === 'sqlite') {
      it('let other requests be served meanwhile', async () => {
        const t = makePlane();
        const ids = (await several(t, 300)).map(({ id }) => id);
        let turns = 0;
        let isRunning = true;
        const count = (): void => {
          turns++;
          if (isRunning) setImmediate(count);
        };
        setImmediate(count);
        const { deleted } = await t.plane.bulkDeleteContracts({ ids });
        isRunning = false;
        expect(deleted).to.equal(300);
        expect(turns).to.be.greaterThan(10);
      });
    }
  });
});
