import { expect } from 'chai';
import { newId } from '../../data-plane-agent/base/ids.js';
import { failureOf } from '../support/failures.js';
import { forEachPlane, type TestPlane } from '../support/plane.js';
import { aContract, aLine } from '../support/samples.js';

const DAY_MS = 86_400_000;
const NOT_FOUND = { code: 'NOT_FOUND', details: {} };

describe('deleted contracts', () => {
  forEachPlane((_name, makePlane) => {
    const trashed = async ({ plane }: Pick<TestPlane, 'plane'>) => (await plane.listTrash({ pageSize: 200 })).items;

    it('are in the trash for thirty days, the latest first, with the member who deleted them', async () => {
      const t = makePlane();
      const [a, b] = [
        await t.plane.createContract(aContract({ payments: [aLine({ amount: 70, receivedAmount: 20 })] })),
        await t.plane.createContract(aContract()),
      ];
      expect(await t.plane.listTrash({})).to.deep.equal({ items: [], page: 1, pageSize: 20, total: 0, pageCount: 0 });
      await t.plane.deleteContract({ contractId: a.id });
      t.clock.advance(60_000);
      const at = t.clock.now();
      const other = t.as({ actor: { ...t.call.actor, id: newId() } });
      await other.deleteContract({ contractId: b.id });
      const [first, second, ...more] = await trashed(t);
      expect([first?.id, second?.id, more.length]).to.deep.equal([b.id, a.id, 0]);
      expect(first).to.include({
        deletedAt: new Date(at).toISOString(),
        restorableUntil: new Date(at + 30 * DAY_MS).toISOString(),
        version: 2,
        contractNo: b.contractNo,
      });
      expect(second).to.include({
        deletedBy: t.call.actor.id,
        receivableAmount: 70,
        receivedAmount: 20,
        overdueAmount: 0,
        isOverdue: false,
      });
      expect((await t.plane.listTrash({ page: 2, pageSize: 1 })).items.map(({ id }) => id)).to.deep.equal([a.id]);
      t.clock.advance(30 * DAY_MS - 30_000);
      expect((await trashed(t)).map(({ id }) => id)).to.deep.equal([b.id]);
      expect(await failureOf(t.plane.restoreContract({ contractId: a.id })), 'a minute too late').to.deep.equal(
        NOT_FOUND,
      );
      expect((await t.plane.restoreContract({ contractId: b.id })).id).to.equal(b.id);
    });

    it('are restored completely: lines, tasks, invoices, sums, search and numbers', async () => {
      const t = makePlane();
      const input = aContract({
        remark: 'yellow 黄鹤楼',
        payments: [
          aLine({ period: 'A', receivedAmount: 400 }),
          aLine({ period: 'B', dueDate: '2026-01-31' }),
          aLine({ period: 'C' }),
        ],
        terms: [{ kind: 'other', title: 'T', note: 'N' }],
        extraNotes: [{ label: 'L', value: 'V' }],
      });
      const made = await t.plane.createContract(input);
      await t.plane.addTask({ contractId: made.id, code: 'T-1', title: 'Deliver' });
      await t.plane.addInvoice({ contractId: made.id, invoiceNo: 'INV-1', invoiceAmount: 100, status: 'issued' });
      await t.plane.deletePaymentLine({ paymentId: made.payments.find(({ period }) => period === 'C')?.id ?? '' });
      const before = await t.plane.getContract({ contractId: made.id });
      const stats = await t.plane.getPaymentStats({});
      await t.plane.deleteContract({ contractId: made.id }); // at the same millisecond as the line
      expect((await t.plane.getPaymentStats({})).counts.all).to.equal(0);
      t.clock.advance(5_000);
      const back = await t.plane.restoreContract({ contractId: made.id });
      expect(back.payments.map(({ period }) => period)).to.deep.equal(['B', 'A']);
      const untimed = <T extends { updatedAt: string }>(records: readonly T[]) =>
        records.map((record) => ({ ...record, updatedAt: '' }));
      const {
        version: _v,
        updatedAt: _u,
        payments: linesBack,
        fulfillmentTasks: tasksBack,
        invoices: invoicesBack,
        ...rest
      } = back;
      const { version, updatedAt: _t, payments, fulfillmentTasks, invoices, ...same } = before;
      expect(rest).to.deep.equal(same);
      expect([untimed(linesBack), untimed(tasksBack), untimed(invoicesBack)]).to.deep.equal([
        untimed(payments),
        untimed(fulfillmentTasks),
        untimed(invoices),
      ]);
      expect([fulfillmentTasks.length, invoices.length, back.version]).to.deep.equal([1, 1, version + 2]);
      expect(await t.plane.getContract({ contractId: made.id })).to.deep.equal(back);
      expect((await t.plane.listContracts({ q: '黄鹤楼' })).items.map(({ id }) => id)).to.deep.equal([made.id]);
      expect(await t.plane.getPaymentStats({})).to.deep.equal(stats);
      expect(
        (await t.plane.listReceipts({ paymentId: payments.find(({ period }) => period === 'A')?.id ?? '' })).total,
      ).to.equal(1);
      expect(await trashed(t)).to.deep.equal([]);
      expect(await failureOf(t.plane.createContract(input))).to.have.property('code', 'DUPLICATE_CONTRACT_NO');
    });

    it('stay in the trash while another contract has their number, and are restored afterwards', async () => {
      const t = makePlane();
      const deleted = await t.plane.createContract(aContract({ contractNo: 'HT-1', archiveCode: 'AR-1x' }));
      await t.plane.deleteContract({ contractId: deleted.id });
      const sameNumber = await t.plane.createContract(aContract({ contractNo: 'ht-1', archiveCode: 'ar-1X' }));
      expect(await failureOf(t.plane.restoreContract({ contractId: deleted.id }))).to.deep.equal({
        code: 'DUPLICATE_CONTRACT_NO',
        details: { contractNo: 'HT-1' },
      });
      await t.plane.updateContract({ contractId: sameNumber.id, changes: { contractNo: 'HT-2' } });
      expect(await failureOf(t.plane.restoreContract({ contractId: deleted.id }))).to.deep.equal({
        code: 'DUPLICATE_ARCHIVE_CODE',
        details: { archiveCode: 'AR-1x' },
      });
      expect((await trashed(t)).map(({ id }) => id)).to.deep.equal([deleted.id]);
      await t.plane.updateContract({ contractId: sameNumber.id, changes: { archiveCode: 'AR-2' } });
      expect((await t.plane.restoreContract({ contractId: deleted.id })).contractNo).to.equal('HT-1');
    });

    it('stay in the trash while another invoice has their invoice number', async () => {
      const t = makePlane();
      const subjectId = newId();
      const deleted = await t.plane.createContract(
        aContract({ subjectId, payments: [aLine({ invoiceNo: 'INV-7', invoiceAmount: 5 })] }),
      );
      await t.plane.deleteContract({ contractId: deleted.id });
      const sameNumber = await t.plane.createContract(
        aContract({ subjectId, payments: [aLine({ invoiceNo: 'inv-7', invoiceAmount: 5 })] }),
      );
      expect(await failureOf(t.plane.restoreContract({ contractId: deleted.id }))).to.deep.equal({
        code: 'DUPLICATE_CODE',
        details: { field: 'invoiceNo', value: 'INV-7' },
      });
      expect(
        (await t.plane.listPayments({ tab: 'all', contractId: deleted.id, includeDeleted: true })).items.every(
          ({ deletedAt }) => deletedAt !== null,
        ),
        'nothing was restored',
      ).to.equal(true);
      await t.plane.deleteContract({ contractId: sameNumber.id });
      expect(
        (await t.plane.restoreContract({ contractId: deleted.id })).invoices.map(({ invoiceNo }) => invoiceNo),
      ).to.deep.equal(['INV-7']);
    });

    it('are restored once by two requests, and an existing contract stays unchanged', async () => {
      const t = makePlane();
      const made = await t.plane.createContract(aContract());
      expect(await t.plane.restoreContract({ contractId: made.id })).to.deep.equal(made);
      await t.plane.deleteContract({ contractId: made.id });
      const both = await Promise.all(Array.from({ length: 6 }, () => t.plane.restoreContract({ contractId: made.id })));
      expect(new Set(both.map(({ version }) => version))).to.deep.equal(new Set([3]));
      expect((await t.plane.listHistory({ contractId: made.id })).items.map(({ action }) => action)).to.deep.equal([
        'restoreContract',
        'deleteContract',
        'createContract',
      ]);
    });

    it('either are restored or lose their number to a concurrent contract', async () => {
      const t = makePlane();
      for (let round = 0; round < 5; round++) {
        const input = aContract({ contractNo: `RACE-${round}` });
        const deleted = await t.plane.createContract(input);
        await t.plane.deleteContract({ contractId: deleted.id });
        const outcomes = await Promise.allSettled([
          t.plane.restoreContract({ contractId: deleted.id }),
          t.plane.createContract({ ...input, archiveCode: `R-${round}` }),
        ]);
        expect(outcomes.map(({ status }) => status).toSorted()).to.deep.equal(['fulfilled', 'rejected']);
        expect(outcomes.find((outcome) => outcome.status === 'rejected')?.reason).to.have.property(
          'code',
          'DUPLICATE_CONTRACT_NO',
        );
        expect((await t.plane.listContracts({ q: `RACE-${round}` })).total).to.equal(1);
      }
    });

    it('are visible and restored within the scopes only, under the version shown in the trash', async () => {
      const t = makePlane();
      const made = await t.plane.createContract(aContract());
      await t.plane.deleteContract({ contractId: made.id });
      for (const unseen of [
        makePlane().plane,
        t.as({ subjectScope: [newId()] }),
        t.as({ subjectScope: [] }),
        t.as({ ownerScope: newId() }),
      ]) {
        expect(await trashed({ plane: unseen })).to.deep.equal([]);
        expect(await failureOf(unseen.restoreContract({ contractId: made.id }))).to.deep.equal(NOT_FOUND);
      }
      for (const contractId of [newId(), 'nothing'])
        expect(await failureOf(t.plane.restoreContract({ contractId }))).to.deep.equal(NOT_FOUND);
      expect(await failureOf(t.as({ ifVersion: 1 }).restoreContract({ contractId: made.id }))).to.deep.equal({
        code: 'VERSION_MISMATCH',
        details: { version: 2 },
      });
      expect(
        (
          await t
            .as({ ifVersion: 2, subjectScope: [made.subjectId], ownerScope: made.ownerId })
            .restoreContract({ contractId: made.id })
        ).version,
      ).to.equal(3);
    });

    it('can be deleted and restored repeatedly, each time with the same content', async () => {
      const t = makePlane();
      const made = await t.plane.createContract(
        aContract({ payments: [aLine({ period: 'A' }), aLine({ period: 'B' })] }),
      );
      for (let round = 0; round < 3; round++) {
        await t.plane.deleteContract({ contractId: made.id });
        const back = await t.plane.restoreContract({ contractId: made.id });
        expect([back.payments.length, back.outstandingAmount]).to.deep.equal([2, 2_000]);
      }
      await t.plane.updateContract({ contractId: made.id, changes: { payments: [aLine({ period: 'A' })] } });
      await t.plane.deleteContract({ contractId: made.id });
      expect(
        (await t.plane.restoreContract({ contractId: made.id })).payments.map(({ period }) => period),
      ).to.deep.equal(['A']);
    });
  });
});
