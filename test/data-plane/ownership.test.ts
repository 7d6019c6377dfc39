import { expect } from 'chai';
import { newId } from '../../data-plane-agent/base/ids.js';
import type { ContractInput } from '../../data-plane-agent/plane/contract/records/contracts.js';
import { failureOf } from '../support/failures.js';
import { forEachPlane, type TestPlane } from '../support/plane.js';
import { aContract } from '../support/samples.js';

const handover = (memberId: string, successorId: string) => ({
  memberId,
  memberName: 'Lea Leaver',
  successorId,
  successorScope: null,
  successorSuperiorId: null,
  transferContracts: true,
  transferContractSupervisors: true,
  transferTasks: true,
  transferReminders: true,
  transferSavedViews: true,
});
const enter = (t: TestPlane, changes: Partial<ContractInput>) => t.plane.createContract(aContract(changes));
const auditOf = async ({ database, call }: TestPlane, recordId: string) =>
  (
    await database.read(call, (tx) =>
      tx.all(
        "SELECT action, actor_id, changes FROM audit_log WHERE tenant_id = ? AND record_id = ? AND action = 'handOver' ORDER BY id",
        [call.tenantId, recordId],
      ),
    )
  ).map((row) => ({ actor: row['actor_id'], changes: JSON.parse(String(row['changes'])) as unknown }));

describe('a handover of contracts', () => {
  forEachPlane((_name, makePlane) => {
    it('moves the owner and the superior, including archived contracts, and changes nothing else', async () => {
      const t = makePlane();
      const [leaver, successor, superior] = [newId(), newId(), newId()];
      const [owned, archived, supervised, deleted, foreign] = [
        await enter(t, { ownerId: leaver, ownerSuperiorId: superior }),
        await enter(t, { ownerId: leaver, status: 'completed' }),
        await enter(t, { ownerId: superior, ownerSuperiorId: leaver }),
        await enter(t, { ownerId: leaver }),
        await enter(t, { ownerId: superior }),
      ];
      await t.database.write(t.call, (tx) =>
        tx.run(
          "UPDATE contracts SET stage_category = 'archived', stage_code = 'archived' WHERE tenant_id = ? AND id = ?",
          [t.call.tenantId, archived.id],
        ),
      );
      await t.plane.deleteContract({ contractId: deleted.id });
      t.clock.advance(60_000);

      const moved = await t.plane.handOver(handover(leaver, successor));
      expect(moved).to.deep.equal({
        transferred: {
          contracts: 2,
          contractsAsSupervisor: 1,
          openTasks: 0,
          reminders: 0,
          personalViews: 0,
          teamViews: 0,
        },
        superiorsReplaced: 0,
        superiorsCleared: 0,
      });
      const now = await Promise.all(
        [owned, archived, supervised, foreign].map(({ id }) => t.plane.getContract({ contractId: id })),
      );
      expect(now.map(({ ownerId, ownerSuperiorId, version }) => [ownerId, ownerSuperiorId, version])).to.deep.equal([
        [successor, superior, 2],
        [successor, null, 2],
        [superior, successor, 2],
        [superior, null, 1],
      ]);
      // The creator stays; the member who ran the handover is recorded.
      expect(now[0]).to.deep.include({
        createdBy: t.call.actor.id,
        createdAt: owned.createdAt,
        updatedBy: t.call.actor.id,
        updatedAt: new Date(t.clock.now()).toISOString(),
      });
      expect(await auditOf(t, owned.id)).to.deep.equal([
        {
          actor: t.call.actor.id,
          changes: [{ record: 'contract', id: owned.id, fields: { ownerId: [leaver, successor] } }],
        },
      ]);
      expect(await auditOf(t, foreign.id)).to.deep.equal([]);
    });

    it('moves nothing when repeated: no row, no audit', async () => {
      const t = makePlane();
      const [leaver, successor] = [newId(), newId()];
      const contract = await enter(t, { ownerId: leaver });
      await t.plane.handOver(handover(leaver, successor));
      expect((await t.plane.handOver(handover(leaver, successor))).transferred).to.include({
        contracts: 0,
        contractsAsSupervisor: 0,
      });
      expect((await t.plane.getContract({ contractId: contract.id })).version).to.equal(2);
      expect(await auditOf(t, contract.id)).to.have.length(1);
    });

    it('returns the first counts again under its key', async () => {
      const t = makePlane();
      const [leaver, successor] = [newId(), newId()];
      await enter(t, { ownerId: leaver });
      const call = { ...t.call, idempotency: { key: 'offboard', requestHash: 'h' } };
      const first = await t.data.invoke('handOver', { call }, handover(leaver, successor));
      expect(await t.data.invoke('handOver', { call }, handover(leaver, successor))).to.deep.equal({
        ...first,
        replayed: true,
      });
      expect(first.output.transferred.contracts).to.equal(1);
    });

    it('moves nothing if the successor may not see all of it, and reports what is missing', async () => {
      const t = makePlane();
      const [leaver, successor, north, south, west] = [newId(), newId(), newId(), newId(), newId()];
      const inNorth = await enter(t, { ownerId: leaver, subjectId: north });
      await enter(t, { ownerId: leaver, subjectId: south });
      await enter(t, { ownerId: newId(), ownerSuperiorId: leaver, subjectId: west });
      const refused = await failureOf(t.plane.handOver({ ...handover(leaver, successor), successorScope: [north] }));
      expect(refused).to.deep.equal({
        code: 'SUCCESSOR_SCOPE_INSUFFICIENT',
        details: { subjectIds: [south, west].toSorted() },
      });
      expect((await t.plane.getContract({ contractId: inNorth.id })).ownerId).to.equal(leaver);
      // Only contracts that would move count.
      const owned = { ...handover(leaver, successor), transferContractSupervisors: false };
      expect((await t.plane.handOver({ ...owned, successorScope: [north, south] })).transferred).to.include({
        contracts: 2,
        contractsAsSupervisor: 0,
      });
    });

    it('covers the whole tenant, whatever the administrator may see, and no other tenant', async () => {
      const t = makePlane();
      const [leaver, successor, north] = [newId(), newId(), newId()];
      const contract = await enter(t, { ownerId: leaver, subjectId: north });
      const otherTenant = makePlane();
      const theirs = await enter(otherTenant, { ownerId: leaver });
      const scoped = t.as({ subjectScope: [newId()], ownerScope: newId() });
      const extent = await scoped.getHandoverExtent({ memberId: leaver });
      expect([extent.totals.contracts, extent.samples.contracts, extent.subjectIds]).to.deep.equal([1, [], [north]]);
      expect(
        (await t.plane.getHandoverExtent({ memberId: leaver })).samples.contracts.map(({ id }) => id),
      ).to.deep.equal([contract.id]);
      expect((await scoped.closeSubject({ subjectId: north, closingId: newId() })).contracts).to.equal(1);
      expect((await scoped.handOver(handover(leaver, successor))).transferred.contracts).to.equal(1);
      expect((await otherTenant.plane.getContract({ contractId: theirs.id })).ownerId).to.equal(leaver);
    });

    it("uses the successor's superior, or none, if they would become their own", async () => {
      const t = makePlane();
      const [leaver, successor, chief, other] = [newId(), newId(), newId(), newId()];
      for (const ownerSuperiorId of [chief, chief, other, successor])
        await enter(t, { ownerId: successor, ownerSuperiorId });
      expect((await t.plane.listSuperiors({ memberId: successor })).superiorIds).to.deep.equal([chief, other]);
      const under = await enter(t, { ownerId: leaver, ownerSuperiorId: successor });
      expect(await t.plane.handOver({ ...handover(leaver, successor), successorSuperiorId: chief })).to.include({
        superiorsReplaced: 1,
        superiorsCleared: 0,
      });
      expect(await t.plane.getContract({ contractId: under.id })).to.include({
        ownerId: successor,
        ownerSuperiorId: chief,
      });
      const again = await enter(t, { ownerId: leaver, ownerSuperiorId: successor });
      expect(await t.plane.handOver(handover(leaver, successor))).to.include({
        superiorsReplaced: 0,
        superiorsCleared: 1,
      });
      expect(await t.plane.getContract({ contractId: again.id })).to.include({
        ownerId: successor,
        ownerSuperiorId: null,
      });
    });

    it('includes the latest twenty of many contracts as samples', async () => {
      const t = makePlane();
      const leaver = newId();
      const made: string[] = [];
      for (let n = 0; n < 23; n++) {
        t.clock.advance(1_000);
        made.push((await enter(t, { ownerId: leaver })).id);
      }
      const { totals, samples } = await t.plane.getHandoverExtent({ memberId: leaver });
      expect(totals.contracts).to.equal(23);
      expect(samples.contracts.map(({ id }) => id)).to.deep.equal(made.toReversed().slice(0, 20));
    });

    it('finds nothing for invalid ids', async () => {
      const t = makePlane();
      expect((await t.plane.getHandoverExtent({ memberId: 'nobody' })).totals.contracts).to.equal(0);
      expect((await t.plane.listSuperiors({ memberId: 'nobody' })).superiorIds).to.deep.equal([]);
      expect((await t.plane.closeSubject({ subjectId: 'nothing', closingId: newId() })).contracts).to.equal(0);
      expect(await failureOf(t.plane.handOver(handover('nobody', 'someone')))).to.deep.include({
        code: 'REFERENCE_INVALID',
      });
    });
  });

  forEachPlane(
    (_name, makePlane) => {
      it('moves each contract once in two concurrent requests', async () => {
        const t = makePlane();
        const [leaver, ...successors] = [newId(), newId(), newId()];
        const contracts = await Promise.all(
          Array.from({ length: 12 }, () => enter(t, { ownerId: leaver, ownerSuperiorId: leaver })),
        );
        const moved = await Promise.all(successors.map((successor) => t.plane.handOver(handover(leaver, successor))));
        expect(moved.map(({ transferred }) => transferred.contracts).toSorted((a, b) => a - b)).to.deep.equal([0, 12]);
        const now = await Promise.all(contracts.map(({ id }) => t.plane.getContract({ contractId: id })));
        expect(new Set(now.map(({ ownerId }) => ownerId)).size).to.equal(1);
        expect(now.every(({ version }) => version === 2)).to.equal(true);
      });
    },
    { only: ['sqlite', 'postgres'] },
  );
});
