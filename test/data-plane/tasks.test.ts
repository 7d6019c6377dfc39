import { expect } from 'chai';
import { newId } from '../../data-plane-agent/base/ids.js';
import type { ContractInput } from '../../data-plane-agent/plane/contract/records/contracts.js';
import type { TaskInput, TaskPatch } from '../../data-plane-agent/plane/contract/records/tasks.js';
import { failureOf } from '../support/failures.js';
import { forEachPlane, listedContracts, type TestPlane } from '../support/plane.js';
import { aContract } from '../support/samples.js';

let made = 0;

async function createContract(t: TestPlane, changes: Partial<ContractInput> = {}) {
  const { id: contractId } = await t.plane.createContract(aContract(changes));
  return {
    contractId,
    add: (input: Partial<TaskInput> = {}) =>
      t.plane.addTask({ contractId, code: `T-${++made}`, title: 'Deliver the crane', ...input }),
    patch: (taskId: string, patch: TaskPatch) => t.plane.updateTask({ contractId, taskId, changes: patch }),
    detail: () => t.plane.getContract({ contractId }),
  };
}
const tasksOf = async ({ database, call }: TestPlane, contractId: string) =>
  database.read(call, (tx) =>
    tx.get('SELECT tasks_live, tasks_done, tasks_in_time_until FROM contracts WHERE tenant_id = ? AND id = ?', [
      call.tenantId,
      contractId,
    ]),
  );

describe('fulfillment tasks', () => {
  forEachPlane((_name, makePlane) => {
    it('are added with the known fields, pending by default', async () => {
      const t = makePlane();
      const b = await createContract(t);
      const ownerId = newId();
      const full = {
        kind: 'delivery',
        ownerId,
        dueDate: '2026-03-10',
        acceptanceStatus: 'not_required',
        attachment: 'waybill 4711',
        metadata: { truck: 7, stops: ['Ulm'] },
      };
      const added = await b.add({ code: 'D-1', ...full });
      const actorId = t.call.actor.id;
      expect(added).to.deep.equal({
        id: added.id,
        contractId: b.contractId,
        code: 'D-1',
        title: 'Deliver the crane',
        status: 'pending',
        ...full,
        isOverdue: true,
        daysOverdue: 5,
        startedAt: null,
        completedAt: null,
        acceptedAt: null,
        acceptedBy: null,
        createdBy: actorId,
        updatedBy: actorId,
        createdAt: added.createdAt,
        updatedAt: added.createdAt,
        contractVersion: 2,
      });
      const plain = await b.add({ code: 'D-2', status: 'accepted' });
      expect(plain).to.deep.include({
        status: 'accepted',
        kind: null,
        ownerId: null,
        dueDate: null,
        acceptanceStatus: null,
        attachment: null,
        metadata: null,
        isOverdue: false,
        acceptedBy: actorId,
        contractVersion: 3,
      });
      const { fulfillmentTasks, version } = await b.detail();
      const { contractVersion: _, ...answered } = added;
      expect([fulfillmentTasks[0], fulfillmentTasks.length, version]).to.deep.equal([answered, 2, 3]);
    });

    it('change the given fields, and do not change if resent unchanged', async () => {
      const b = await createContract(makePlane());
      const added = await b.add({ kind: 'delivery', dueDate: '2026-05-01', metadata: { a: 1, b: { c: 2 } } });
      const changed = await b.patch(added.id, { title: 'Install', kind: null, metadata: { d: 3 } });
      expect(changed).to.deep.include({
        title: 'Install',
        kind: null,
        dueDate: '2026-05-01',
        metadata: { d: 3 },
        contractVersion: 3,
      });
      expect(
        await b.patch(added.id, { code: added.code, title: 'Install', status: 'pending', metadata: { d: 3 } }),
      ).to.deep.equal(changed);
      expect(await b.patch(added.id, { metadata: null })).to.deep.include({ metadata: null, contractVersion: 4 });
    });

    it('follow the table of transitions, with the timestamps of their status', async () => {
      const t = makePlane();
      const b = await createContract(t);
      const { id } = await b.add();
      t.clock.advance(60_000);
      expect((await b.patch(id, { status: 'in_progress' })).startedAt).to.equal(new Date(t.clock.now()).toISOString());
      expect(await failureOf(b.patch(id, { status: 'accepted' }))).to.deep.equal({
        code: 'INVALID_TRANSITION',
        details: {
          field: 'status',
          from: 'in_progress',
          to: 'accepted',
          allowed: ['pending', 'completed', 'blocked', 'canceled', 'overdue'],
        },
      });
      await b.patch(id, { status: 'completed' });
      t.clock.advance(60_000);
      const accepted = await b.patch(id, { status: 'accepted', acceptanceStatus: 'passed' });
      expect(accepted).to.include({
        acceptedAt: new Date(t.clock.now()).toISOString(),
        acceptedBy: t.call.actor.id,
        acceptanceStatus: 'passed',
      });
    });

    it("that were accepted are reopened only with the control admin at the contract's stage", async () => {
      const t = makePlane();
      const b = await createContract(t);
      const { id } = await b.add({ status: 'accepted' });
      const asked = { contractId: b.contractId, taskId: id, changes: { status: 'in_progress' as const } };
      for (const controls of [{}, { draft: 'sign' as const }, { review: 'admin' as const }]) {
        expect(await failureOf(t.as({ controls }).updateTask(asked))).to.deep.equal({
          code: 'WORKFLOW_CONTROL_REQUIRED',
          details: { control: 'admin', stage: 'draft', has: 'draft' in controls ? 'sign' : 'none' },
        });
      }
      expect(
        await failureOf(t.plane.updateTask({ ...asked, changes: { status: 'completed' } })),
        'an invalid move is reported as such to every caller',
      ).to.include({ code: 'INVALID_TRANSITION' });
      expect(await t.as({ controls: { draft: 'admin' } }).updateTask(asked)).to.include({
        status: 'in_progress',
        acceptedAt: null,
        completedAt: null,
      });
    });

    it('have a unique code within the contract, ignoring case', async () => {
      const t = makePlane();
      const [b, other] = [await createContract(t), await createContract(t)];
      const { id } = await b.add({ code: 'Größe' });
      const taken = { code: 'DUPLICATE_CODE', details: { field: 'code', value: 'GRÖßE' } };
      expect(await failureOf(b.add({ code: 'GRÖßE' }))).to.deep.equal(taken);
      const second = await b.add();
      expect(await failureOf(b.patch(second.id, { code: 'GRÖßE' }))).to.deep.equal(taken);
      expect((await b.patch(id, { code: 'größe' })).code).to.equal('größe');
      expect((await other.add({ code: 'GRÖßE' })).code).to.equal('GRÖßE');
    });

    it('determine the fulfillment of the contract, in lists and on every day, without being read', async () => {
      const t = makePlane();
      const b = await createContract(t);
      const status = async (today = '2026-03-15') => {
        const [{ items }, detail] = [
          await listedContracts(t.as({ today }), {}),
          await t.as({ today }).getContract({ contractId: b.contractId }),
        ];
        expect(items[0]?.fulfillmentStatus).to.equal(detail.fulfillmentStatus);
        return detail.fulfillmentStatus;
      };
      expect(await status()).to.equal('none');
      const one = await b.add({ dueDate: '2026-03-20' });
      const two = await b.add({ dueDate: '2026-03-25' });
      expect([
        await status(),
        await status('2026-03-21'),
        await status('2026-03-25'),
        await status('2026-03-26'),
      ]).to.deep.equal(['unfulfilled', 'unfulfilled', 'unfulfilled', 'lapsed']);
      await b.patch(one.id, { status: 'completed' });
      expect([await status(), await status('2026-03-26')]).to.deep.equal(['partial', 'lapsed']);
      await b.patch(two.id, { status: 'canceled' });
      expect([await status(), await status('2027-01-01')]).to.deep.equal(['fulfilled', 'fulfilled']);
      await b.patch(one.id, { status: 'in_progress', dueDate: null });
      expect(await status('2099-01-01')).to.equal('unfulfilled');
      expect(await tasksOf(t, b.contractId)).to.deep.equal({
        tasks_live: 1,
        tasks_done: 0,
        tasks_in_time_until: '9999-12-31',
      });
    });

    it('are limited to five hundred per contract', async function () {
      this.timeout(180_000);
      const t = makePlane();
      const b = await createContract(t);
      const one = await b.add();
      await t.database.write(t.call, async (tx) => {
        for (let i = 1; i < 500; i++) {
          await tx.run(
            'INSERT INTO fulfillment_tasks (tenant_id, id, contract_id, code, code_key, title, status, created_at, updated_at) VALUES (?, ?, ?, ?, ?, ?, ?, 0, 0)',
            [t.call.tenantId, newId(), b.contractId, `x${i}`, `x${i}`, 'x', 'pending'],
          );
        }
      });
      expect(await failureOf(b.add())).to.deep.equal({ code: 'LIMIT_REACHED', details: { limit: 500 } });
      expect((await b.patch(one.id, { status: 'completed' })).status).to.equal('completed');
    });

    it('are deleted and restored with their contract', async () => {
      const t = makePlane();
      const b = await createContract(t);
      const { id } = await b.add({ status: 'completed' });
      await t.plane.deleteContract({ contractId: b.contractId });
      expect(await failureOf(b.patch(id, { status: 'accepted' }))).to.include({ code: 'NOT_FOUND' });
      const restored = await t.plane.restoreContract({ contractId: b.contractId });
      expect(restored.fulfillmentTasks.map((task) => task.id)).to.deep.equal([id]);
      expect(restored.fulfillmentStatus).to.equal('fulfilled');
    });

    it('name only existing members and files, are not found outside the scope, and are guarded by a version', async () => {
      const t = makePlane();
      const b = await createContract(t);
      const { id } = await b.add();
      expect(await failureOf(b.add({ ownerId: 'nobody' }))).to.deep.equal({
        code: 'REFERENCE_INVALID',
        details: { field: 'ownerId', value: 'nobody' },
      });
      const attachment = newId();
      for (const work of [b.add({ attachment }), b.patch(id, { attachment })])
        expect(await failureOf(work)).to.deep.equal({
          code: 'FILE_REFERENCE_INVALID',
          details: { field: 'attachment', value: attachment },
        });
      for (const outsider of [t.as({ tenantId: newId() }), t.as({ subjectScope: [] }), t.as({ ownerScope: newId() })]) {
        expect(await failureOf(outsider.addTask({ contractId: b.contractId, code: 'x', title: 'x' }))).to.deep.equal({
          code: 'NOT_FOUND',
          details: {},
        });
        expect(
          await failureOf(outsider.updateTask({ contractId: b.contractId, taskId: id, changes: {} })),
        ).to.deep.equal({ code: 'NOT_FOUND', details: {} });
      }
      const other = await createContract(t);
      for (const [contractId, taskId] of [
        [other.contractId, id],
        [b.contractId, newId()],
        [b.contractId, 'no-id'],
      ] as const)
        expect(await failureOf(t.plane.updateTask({ contractId, taskId, changes: {} }))).to.deep.equal({
          code: 'NOT_FOUND',
          details: {},
        });
      expect(
        await failureOf(t.as({ ifVersion: 1 }).addTask({ contractId: b.contractId, code: 'x', title: 'x' })),
      ).to.deep.equal({ code: 'VERSION_MISMATCH', details: { version: 2 } });
      expect(
        await t
          .as({ ifVersion: 2 })
          .updateTask({ contractId: b.contractId, taskId: id, changes: { status: 'completed' } }),
      ).to.include({ contractVersion: 3 });
    });
  });
});

describe('the daily step of overdue tasks', () => {
  forEachPlane((_name, makePlane) => {
    const step = (t: TestPlane, limit = 500) =>
      t
        .as({ actor: { kind: 'system', id: null, name: 'schedule', roleCode: null, ip: null } })
        .stepOverdueTasks({ limit });
    const statuses = async (b: Awaited<ReturnType<typeof createContract>>) =>
      (await b.detail()).fulfillmentTasks.map(({ status }) => status);

    it('marks pending and running tasks that were due before today, once', async () => {
      const t = makePlane();
      const b = await createContract(t);
      for (const status of ['pending', 'in_progress', 'blocked', 'completed', 'canceled'] as const)
        await b.add({ status, dueDate: '2026-03-14' });
      for (const dueDate of ['2026-03-15', null]) await b.add({ dueDate });
      const { version } = await b.detail();
      expect(await step(t)).to.deep.equal({ contracts: 1, tasks: 2, isMore: false });
      expect(await statuses(b)).to.deep.equal([
        'overdue',
        'overdue',
        'blocked',
        'completed',
        'canceled',
        'pending',
        'pending',
      ]);
      expect((await b.detail()).version).to.equal(version + 1);
      expect(await step(t)).to.deep.equal({ contracts: 0, tasks: 0, isMore: false });
      expect((await b.detail()).version).to.equal(version + 1);
      const rows = await t.database.read(t.call, (tx) =>
        tx.all(
          "SELECT actor_kind, record_id, changes FROM audit_log WHERE tenant_id = ? AND action = 'stepOverdueTasks'",
          [t.call.tenantId],
        ),
      );
      expect(rows.map((row) => [row['actor_kind'], row['record_id']])).to.deep.equal([['system', b.contractId]]);
      expect(JSON.parse(String(rows[0]?.['changes']))).to.have.length(3);
    });

    it('processes all of them in batches, and does not affect other tenants', async () => {
      const t = makePlane();
      const otherTenant = await createContract(makePlane());
      await otherTenant.add({ dueDate: '2026-01-01' });
      const contracts = await Promise.all(Array.from({ length: 5 }, () => createContract(t)));
      for (const [i, b] of contracts.entries()) await b.add({ dueDate: `2026-03-0${i + 1}` });
      const steps = [await step(t, 2), await step(t, 2), await step(t, 2), await step(t, 2)];
      expect(steps.map(({ tasks, isMore }) => [tasks, isMore])).to.deep.equal([
        [2, true],
        [2, true],
        [1, false],
        [0, false],
      ]);
      expect((await Promise.all(contracts.map(statuses))).flat()).to.deep.equal(
        Array.from({ length: 5 }, () => 'overdue'),
      );
      expect(await statuses(otherTenant)).to.deep.equal(['pending']);
    });

    it('and a concurrent change do not undo each other', async () => {
      const t = makePlane();
      const b = await createContract(t);
      const added = [];
      for (let i = 0; i < 8; i++) added.push(await b.add({ dueDate: '2026-03-01' }));
      await Promise.all([
        ...added.map(({ id }, i) =>
          b.patch(id, { title: `renamed ${i}`, ...(i % 2 === 0 ? { dueDate: '2026-06-01' } : {}) }),
        ),
        step(t),
        step(t),
      ]);
      await step(t);
      const { fulfillmentTasks } = await b.detail();
      expect(fulfillmentTasks.map(({ title, status, dueDate }) => [title, status, dueDate])).to.deep.equal(
        added.map((_, i) => [
          `renamed ${i}`,
          i % 2 === 0 ? 'pending' : 'overdue',
          i % 2 === 0 ? '2026-06-01' : '2026-03-01',
        ]),
      );
      expect(await tasksOf(t, b.contractId)).to.deep.equal({
        tasks_live: 8,
        tasks_done: 0,
        tasks_in_time_until: '2026-06-01',
      });
    });
  });
});

describe('a handover of tasks', () => {
  forEachPlane((_name, makePlane) => {
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

    it("moves open tasks, including those in other members' contracts, and nothing the second time", async () => {
      const t = makePlane();
      const [leaver, successor] = [newId(), newId()];
      const [own, foreign, deleted] = [
        await createContract(t, { ownerId: leaver }),
        await createContract(t),
        await createContract(t),
      ];
      for (const status of [
        'pending',
        'in_progress',
        'blocked',
        'overdue',
        'completed',
        'accepted',
        'canceled',
      ] as const)
        await foreign.add({ ownerId: leaver, status });
      await own.add({ ownerId: leaver });
      await own.add({ ownerId: successor });
      await deleted.add({ ownerId: leaver });
      await t.plane.deleteContract({ contractId: deleted.contractId });
      const versions = [(await own.detail()).version, (await foreign.detail()).version];

      expect((await t.plane.getHandoverExtent({ memberId: leaver })).totals).to.include({ contracts: 1, openTasks: 5 });
      expect(
        (await t.plane.handOver(handover(leaver, successor, { transferTasks: false, transferContracts: false })))
          .transferred,
      ).to.include({ contracts: 0, openTasks: 0 });
      expect((await t.plane.handOver(handover(leaver, successor))).transferred).to.include({
        contracts: 1,
        openTasks: 5,
      });
      expect((await foreign.detail()).fulfillmentTasks.map(({ ownerId }) => ownerId)).to.deep.equal([
        successor,
        successor,
        successor,
        successor,
        leaver,
        leaver,
        leaver,
      ]);
      expect((await own.detail()).fulfillmentTasks.map(({ ownerId }) => ownerId)).to.deep.equal([successor, successor]);
      expect([(await own.detail()).version, (await foreign.detail()).version], 'once each').to.deep.equal(
        versions.map((version) => version + 1),
      );
      expect((await t.plane.handOver(handover(leaver, successor))).transferred).to.include({
        contracts: 0,
        openTasks: 0,
      });
      const restored = await t.plane.restoreContract({ contractId: deleted.contractId });
      expect(restored.fulfillmentTasks[0]?.ownerId).to.equal(leaver);
    });

    it("includes samples within the caller's scope, and requires the successor to see all tasks", async () => {
      const t = makePlane();
      const [leaver, successor, seen] = [newId(), newId(), newId()];
      const [visible, hidden] = [await createContract(t, { subjectId: seen }), await createContract(t)];
      const task = await visible.add({ code: 'K-1', title: 'Train the crew', ownerId: leaver });
      await hidden.add({ ownerId: leaver });
      const { totals, samples, subjectIds } = await t
        .as({ subjectScope: [seen] })
        .getHandoverExtent({ memberId: leaver });
      expect([totals.openTasks, samples.openTasks]).to.deep.equal([2, [{ id: task.id, name: 'K-1 Train the crew' }]]);
      const other = (await hidden.detail()).subjectId;
      expect(subjectIds).to.have.members([seen, other]);
      expect(await failureOf(t.plane.handOver(handover(leaver, successor, { successorScope: [seen] })))).to.deep.equal({
        code: 'SUCCESSOR_SCOPE_INSUFFICIENT',
        details: { subjectIds: [other] },
      });
      expect((await t.plane.getHandoverExtent({ memberId: leaver })).totals.openTasks).to.equal(2);
      expect(
        (await t.plane.handOver(handover(leaver, successor, { successorScope: [seen], transferTasks: false })))
          .transferred.openTasks,
      ).to.equal(0);
    });
  });
});
