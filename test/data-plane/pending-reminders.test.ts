import { expect } from 'chai';
import { newId } from '../../data-plane-agent/base/ids.js';
import type { ContractDetail } from '../../data-plane-agent/plane/contract/records/contracts.js';
import { failureOf } from '../support/failures.js';
import { forEachPlane, type TestPlane } from '../support/plane.js';
import { aContract, aLine } from '../support/samples.js';

const TODAY = '2026-03-15';

const handover = (memberId: string, successorId: string, changes: object = {}) => ({
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
  ...changes,
});

/** A contract with a reminder that is queued. */
async function reminded(t: TestPlane, ownerId: string, subjectId = newId()): Promise<ContractDetail> {
  const contract = await t.plane.createContract(
    aContract({ ownerId, subjectId, payments: [aLine({ period: 'March', dueDate: TODAY })] }),
  );
  const channel = { id: newId(), kind: 'email', enabled: true, digest: 1 };
  await t.plane.decideReminders({ runId: newId(), channel, after: null, limit: 500 });
  return contract;
}

/** Who the queued reminder of a contract is sent to. */
async function addressee({ plane, call, database }: TestPlane, { id }: ContractDetail): Promise<string | undefined> {
  const row = await database.read(call, (tx) =>
    tx.get('SELECT message_id FROM reminders WHERE tenant_id = ? AND contract_id = ?', [call.tenantId, id]),
  );
  const { reminders } = await plane.getReminderMessage({ messageId: String(row?.['message_id']) });
  return reminders[0] && (reminders[0].recipientId ?? reminders[0].line.ownerId);
}

describe('reminders that are not sent yet when a member leaves', () => {
  forEachPlane((_name, makePlane) => {
    const people = () => [newId(), newId(), newId()] as const;

    it('go to the successor with the contracts, once', async () => {
      const t = makePlane();
      const [leaver, successor, other] = people();
      const mine = await reminded(t, leaver);
      const foreign = await reminded(t, other);
      const { totals, samples } = await t.plane.getHandoverExtent({ memberId: leaver });
      expect(totals.reminders).to.equal(1);
      expect(samples.reminders.map(({ name }) => name)).to.deep.equal([`${mine.contractNo} March due_day`]);

      const { transferred } = await t.plane.handOver(handover(leaver, successor));
      expect(transferred).to.include({ contracts: 1, reminders: 1 });
      expect([await addressee(t, mine), await addressee(t, foreign)]).to.deep.equal([successor, other]);
      expect((await t.plane.getHandoverExtent({ memberId: leaver })).totals.reminders).to.equal(0);
      expect((await t.plane.getHandoverExtent({ memberId: successor })).totals.reminders).to.equal(1);
      expect((await t.plane.handOver(handover(leaver, successor))).transferred.reminders).to.equal(0);
    });

    it('go to the successor without the contracts, and from there to the next', async () => {
      const t = makePlane();
      const [leaver, successor, next] = people();
      const mine = await reminded(t, leaver);
      const alone = { transferContracts: false };
      expect((await t.plane.handOver(handover(leaver, successor, alone))).transferred).to.include({
        contracts: 0,
        reminders: 1,
      });
      expect(await addressee(t, mine)).to.equal(successor);
      expect((await t.plane.getContract({ contractId: mine.id })).ownerId).to.equal(leaver);
      expect((await t.plane.handOver(handover(leaver, successor, alone))).transferred.reminders).to.equal(0);
      expect((await t.plane.handOver(handover(successor, next))).transferred).to.include({
        contracts: 0,
        reminders: 1,
      });
      expect(await addressee(t, mine)).to.equal(next);
      const { items } = await t.plane.listHistory({ contractId: mine.id });
      expect(items[0]?.changes).to.deep.equal([
        {
          record: 'reminder',
          recordId: items[0]?.changes[0]?.recordId,
          recordName: 'due_day',
          field: 'recipientId',
          before: successor,
          after: next,
        },
      ]);
    });

    it('still go to the member if only the contracts are transferred, and can be transferred later', async () => {
      const t = makePlane();
      const [leaver, successor] = people();
      const mine = await reminded(t, leaver);
      const { transferred } = await t.plane.handOver(handover(leaver, successor, { transferReminders: false }));
      expect(transferred).to.include({ contracts: 1, reminders: 0 });
      expect(await addressee(t, mine)).to.equal(leaver);
      expect((await t.plane.getHandoverExtent({ memberId: successor })).totals.reminders).to.equal(0);
      expect((await t.plane.handOver(handover(leaver, successor))).transferred).to.include({
        contracts: 0,
        reminders: 1,
      });
      expect(await addressee(t, mine)).to.equal(successor);
    });

    it('are not transferred to a successor who may not see their contracts', async () => {
      const t = makePlane();
      const [leaver, successor] = people();
      const subjectId = newId();
      const mine = await reminded(t, leaver, subjectId);
      const failure = await failureOf(
        t.plane.handOver(handover(leaver, successor, { transferContracts: false, successorScope: [newId()] })),
      );
      expect(failure).to.deep.include({
        code: 'SUCCESSOR_SCOPE_INSUFFICIENT',
        details: { subjectIds: [subjectId] },
      });
      expect(await addressee(t, mine)).to.equal(leaver);
      expect((await t.plane.getHandoverExtent({ memberId: leaver })).subjectIds).to.deep.equal([subjectId]);
    });

    it('are samples only for callers who may see them, and none of deleted contracts', async () => {
      const t = makePlane();
      const [leaver] = people();
      const mine = await reminded(t, leaver);
      const scoped = await t.as({ subjectScope: [newId()] }).getHandoverExtent({ memberId: leaver });
      expect([scoped.totals.reminders, scoped.samples.reminders]).to.deep.equal([1, []]);
      await t.plane.deleteContract({ contractId: mine.id });
      expect((await t.plane.getHandoverExtent({ memberId: leaver })).totals.reminders).to.equal(0);
    });
  });
});
