import { expect } from 'chai';
import { addDays } from '../../data-plane-agent/base/day.js';
import { newId } from '../../data-plane-agent/base/ids.js';
import type { ContractDetail, ContractInput } from '../../data-plane-agent/plane/contract/records/contracts.js';
import type { PaymentLineInput } from '../../data-plane-agent/plane/contract/records/lines.js';
import { failureOf } from '../support/failures.js';
import { forEachPlane, PLANES, type TestPlane } from '../support/plane.js';
import { aContract, aLine } from '../support/samples.js';

const TODAY = '2026-03-15';
const EMAIL = { id: newId(), kind: 'email', digest: 1 };
const SLACK = { id: newId(), kind: 'slack', digest: 20 };
const OVERDUE = { tab: 'overdue', subjectId: null, channel: EMAIL } as const;

const enter = (
  { plane }: TestPlane,
  lines: readonly Partial<PaymentLineInput>[],
  changes: Partial<ContractInput> = {},
): Promise<ContractDetail> =>
  plane.createContract(aContract({ payments: lines.map((line) => aLine(line)), ...changes }));

const numbers = (items: readonly { occurrence: number }[]): number[] =>
  items.map(({ occurrence }) => occurrence).toSorted((a, b) => a - b);

const lineOf = ({ id, payments }: ContractDetail) => ({ contractId: id, paymentId: payments[0]?.id ?? '' });

/** The number of reminders in each message of the outbox. */
async function messages({ database, call }: TestPlane): Promise<number[]> {
  const rows = await database.read(call, (tx) =>
    tx.all(
      "SELECT count(reminders.id) AS carried FROM outbox LEFT JOIN reminders ON reminders.tenant_id = outbox.tenant_id AND reminders.message_id = outbox.id WHERE outbox.tenant_id = ? AND topic = 'reminder' GROUP BY outbox.id ORDER BY outbox.id",
      [call.tenantId],
    ),
  );
  return rows.map(({ carried }) => Number(carried));
}

const idempotency = () => ({ key: newId(), requestHash: 'h' });

forEachPlane(
  (name, makePlane) => {
    describe('a reminder by hand', () => {
      it('is queued as a message of its own, numbered by line and due date, also before the due date', async () => {
        const t = makePlane();
        const line = lineOf(await enter(t, [{ dueDate: addDays(TODAY, 40) }]));
        const first = await t.plane.queueReminder({ ...line, channel: EMAIL });
        const second = await t.plane.queueReminder({ ...line, channel: SLACK });
        await t.plane.updatePaymentLine({ paymentId: line.paymentId, dueDate: addDays(TODAY, 50) });
        await t.plane.queueReminder({ ...line, channel: EMAIL });
        const { items } = await t.plane.listDeliveries({ paymentId: line.paymentId });
        expect(
          items.map(({ step, occurrence, dueDate, status, kind }) => [step, occurrence, dueDate, status, kind]),
        ).to.deep.equal([
          ['manual', 1, addDays(TODAY, 50), 'queued', 'email'],
          ['manual', 2, addDays(TODAY, 40), 'queued', 'slack'],
          ['manual', 1, addDays(TODAY, 40), 'queued', 'email'],
        ]);
        expect(items[0]).to.deep.include({ runId: null, recipients: [], attempts: 0, subject: null, reason: null });
        expect(await messages(t)).to.deep.equal([1, 1, 1]);
        const carried = await t.plane.getReminderMessage({ messageId: second.messageId });
        expect(carried.reminders.map(({ id }) => id)).to.deep.equal([second.deliveryId]);
        expect(await t.plane.getDelivery({ deliveryId: first.deliveryId })).to.deep.equal(items[2]);
      });

      it('takes the place of the automatic one of the day', async () => {
        const t = makePlane();
        const line = lineOf(await enter(t, [{ dueDate: TODAY }]));
        await t.plane.queueReminder({ ...line, channel: EMAIL });
        const { decided } = await t.plane.decideReminders({
          runId: newId(),
          channel: { ...EMAIL, enabled: true },
          after: null,
          limit: 10,
        });
        expect(decided.map(({ step, status, reason }) => [step, status, reason])).to.deep.equal([
          ['due_day', 'skipped', 'REMINDED_TODAY'],
        ]);
      });

      it('is refused for a settled or held line, and for one that the caller does not see', async () => {
        const t = makePlane();
        const [settled, held, open] = [
          await enter(t, [{ dueDate: '2026-03-01', receivedAmount: 1_000 }]),
          await enter(t, [{ dueDate: '2026-03-01' }]),
          await enter(t, [{ dueDate: '2026-03-01' }]),
        ];
        const queue = (line: ReturnType<typeof lineOf>, plane = t.plane) =>
          failureOf(plane.queueReminder({ ...line, channel: EMAIL }));
        expect(await queue(lineOf(settled))).to.deep.include({
          code: 'NOTHING_OUTSTANDING',
          details: { paymentId: lineOf(settled).paymentId },
        });
        const { paymentId } = lineOf(held);
        await t.plane.setPaymentHold({ paymentId, kind: 'promise', until: TODAY });
        expect(await queue(lineOf(held))).to.deep.include({
          code: 'LINE_HELD',
          details: { paymentId, kind: 'promise', until: TODAY },
        });
        const tomorrow = t.as({ today: addDays(TODAY, 1) });
        expect(await tomorrow.queueReminder({ ...lineOf(held), channel: EMAIL })).to.have.keys(
          'deliveryId',
          'messageId',
        );
        const elsewhere = { contractId: open.id, paymentId };
        expect(await queue(elsewhere)).to.deep.include({
          code: 'REFERENCE_INVALID',
          details: { field: 'paymentId', value: paymentId },
        });
        for (const [unknown, field] of [
          [{ ...lineOf(open), contractId: newId() }, 'contractId'],
          [{ ...lineOf(open), contractId: 'x' }, 'contractId'],
          [{ ...lineOf(open), paymentId: newId() }, 'paymentId'],
        ] as const)
          expect((await queue(unknown))?.details).to.deep.include({ field });
        expect((await queue(lineOf(open), t.as({ subjectScope: [newId()] })))?.details).to.deep.include({
          field: 'contractId',
        });
        await t.plane.deleteContract({ contractId: open.id });
        expect((await queue(lineOf(open)))?.code).to.equal('REFERENCE_INVALID');
      });

      it('is queued once for an idempotency key, and an event in the history of the contract', async () => {
        const t = makePlane();
        const contract = await enter(t, [{ dueDate: '2026-03-01' }]);
        const keyed = t.as({ idempotency: idempotency() });
        const queue = () => keyed.queueReminder({ ...lineOf(contract), channel: EMAIL });
        expect(await queue()).to.deep.equal(await queue());
        expect(await messages(t)).to.deep.equal([1]);
        const { items } = await t.plane.listHistory({ contractId: contract.id });
        expect(items[0]?.action).to.equal('queueReminder');
      });

      it('leaves each of two concurrent ones its own number', async () => {
        const t = makePlane();
        const line = lineOf(await enter(t, [{ dueDate: '2026-03-01' }]));
        await Promise.all(Array.from({ length: 6 }, () => t.plane.queueReminder({ ...line, channel: EMAIL })));
        const { items } = await t.plane.listDeliveries({ paymentId: line.paymentId });
        expect(numbers(items)).to.deep.equal([1, 2, 3, 4, 5, 6]);
      });
    });

    describe('a preview of a reminder', () => {
      it('has the present facts of the line and changes nothing', async () => {
        const t = makePlane();
        const contract = await enter(t, [{ period: 'March', dueDate: '2026-03-01', receivedAmount: 400 }]);
        const shown = await t.plane.previewReminder(lineOf(contract));
        expect(shown.line).to.deep.include({
          ...lineOf(contract),
          contractNo: contract.contractNo,
          period: 'March',
          amount: 1_000,
          receivedAmount: 400,
          outstandingAmount: 600,
          daysOverdue: 14,
        });
        expect([shown.level, shown.hold]).to.deep.equal(['escalated', null]);
        expect(await messages(t)).to.deep.equal([]);
      });

      it('names the step of the ladder that fits the age of the line', async () => {
        const t = makePlane();
        const line = lineOf(await enter(t, [{ dueDate: TODAY }]));
        const levels: unknown[] = [];
        for (const days of [-8, -7, -1, 0, 1, 6, 7, 89, 90])
          levels.push((await t.as({ today: addDays(TODAY, days) }).previewReminder(line)).level);
        const [early, late] = ['pre_due', 'escalated'];
        expect(levels).to.deep.equal([null, early, early, 'due_day', 'overdue_1', 'overdue_1', late, late, 'final']);
      });

      it('works for settled and held lines, and finds no line of another contract, scope or trash', async () => {
        const t = makePlane();
        const settled = lineOf(await enter(t, [{ dueDate: '2026-03-01', receivedAmount: 1_000 }]));
        const held = lineOf(await enter(t, [{ dueDate: '2026-03-01' }]));
        await t.plane.setPaymentHold({ paymentId: held.paymentId, kind: 'dispute' });
        expect((await t.plane.previewReminder(settled)).line.outstandingAmount).to.equal(0);
        expect((await t.plane.previewReminder(held)).hold).to.deep.equal({ kind: 'dispute', until: null });
        const missing = async (line: typeof held, plane = t.plane) =>
          (await failureOf(plane.previewReminder(line)))?.code;
        expect(await missing({ ...held, contractId: settled.contractId })).to.equal('NOT_FOUND');
        expect(await missing({ ...held, paymentId: 'x' })).to.equal('NOT_FOUND');
        expect(await missing(held, t.as({ subjectScope: [newId()] }))).to.equal('NOT_FOUND');
        await t.plane.deleteContract({ contractId: held.contractId });
        expect(await missing(held)).to.equal('NOT_FOUND');
      });
    });

    describe('reminders of all lines of a tab', () => {
      const book = (t: TestPlane) =>
        enter(t, [
          { period: 'late', dueDate: '2026-03-01' },
          { period: 'held', dueDate: '2026-03-02' },
          { period: 'settled', dueDate: '2026-03-03', receivedAmount: 1_000 },
          { period: 'soon', dueDate: '2026-03-20' },
          { period: 'later', dueDate: '2026-05-20' },
        ]);

      it('are those that the list of collections has, without the held ones', async () => {
        const t = makePlane();
        const { payments } = await book(t);
        const paymentId = payments.find(({ period }) => period === 'held')?.id ?? '';
        await t.plane.setPaymentHold({ paymentId, kind: 'dispute' });
        const period = new Map(payments.map(({ id, period }) => [id, period]));
        const run = async (tab: 'overdue' | 'soon' | 'all') => {
          const { runId } = await t.plane.queueReminders({ ...OVERDUE, tab });
          const { counts, items } = await t.plane.getReminderRun({ runId, limit: 200 });
          return { counts, items: items.map((item) => [period.get(item.paymentId), item.status, item.reason]) };
        };
        const none = { sent: 0, failed: 0, superseded: 0 };
        expect(await run('overdue')).to.deep.equal({
          counts: { ...none, queued: 1, skipped: 1 },
          items: [
            ['late', 'queued', null],
            ['held', 'skipped', 'HELD'],
          ],
        });
        expect((await run('soon')).items).to.deep.equal([['soon', 'queued', null]]);
        expect(await run('all')).to.deep.equal({
          counts: { ...none, queued: 2, skipped: 1 },
          items: [
            ['late', 'queued', null],
            ['held', 'skipped', 'HELD'],
            ['soon', 'queued', null],
          ],
        });
        expect(await messages(t)).to.deep.equal([1, 1, 1, 1]);
      });

      it('are limited to a subject company, and to the scope of the caller', async () => {
        const t = makePlane();
        const subjectId = newId();
        await enter(t, [{ dueDate: '2026-03-01' }], { subjectId });
        await enter(t, [{ dueDate: '2026-03-01' }]);
        const matched = async (plane: TestPlane['plane'], asked: string | null) => {
          const { runId } = await plane.queueReminders({ ...OVERDUE, subjectId: asked });
          return (await plane.getReminderRun({ runId, limit: 10 })).counts.queued;
        };
        const scoped = t.as({ subjectScope: [subjectId] });
        expect(await matched(t.plane, subjectId)).to.equal(1);
        expect(await matched(scoped, null)).to.equal(1);
        expect(await matched(t.plane, null)).to.equal(2);
        expect((await failureOf(scoped.queueReminders({ ...OVERDUE, subjectId: newId() })))?.code).to.equal(
          'NOT_FOUND',
        );
        const { runId } = await t.plane.queueReminders(OVERDUE);
        expect((await scoped.getReminderRun({ runId, limit: 10 })).counts.queued).to.equal(1);
      });

      it('go out in full digests, and one by one through channels without digests', async () => {
        const t = makePlane();
        await enter(t, lateLines(245));
        const { runId } = await t.plane.queueReminders({ ...OVERDUE, channel: SLACK });
        expect(await messages(t)).to.deep.equal([...Array.from({ length: 12 }, () => 20), 5]);
        const { counts, items } = await t.plane.getReminderRun({ runId, limit: 200 });
        expect([counts.queued, items.length, new Set(items.map(({ paymentId }) => paymentId)).size]).to.deep.equal([
          245, 200, 200,
        ]);
        const other = makePlane();
        await enter(other, lateLines(30));
        await other.plane.queueReminders(OVERDUE);
        expect(await messages(other)).to.deep.equal(Array.from({ length: 30 }, () => 1));
      });

      it('are sent again by a second request, as the list shows, but not by a repeated one', async () => {
        const t = makePlane();
        const { payments } = await enter(t, [{ dueDate: '2026-03-01' }]);
        const keyed = t.as({ idempotency: idempotency() });
        const first = await keyed.queueReminders(OVERDUE);
        expect(await keyed.queueReminders(OVERDUE)).to.deep.equal(first);
        expect(await messages(t)).to.deep.equal([1]);
        expect(await t.plane.queueReminders(OVERDUE)).not.to.deep.equal(first);
        const { items } = await t.plane.listDeliveries({ paymentId: payments[0]?.id ?? '' });
        expect(items.map(({ occurrence, runId }) => [occurrence, runId === first.runId])).to.deep.equal([
          [2, false],
          [1, true],
        ]);
        expect((await t.plane.listCollections({})).items[0]?.reminderLevel).to.equal('manual');
      });

      it('are queued once each when the same request arrives several times at the same moment', async () => {
        const t = makePlane();
        await enter(t, lateLines(45));
        const own = idempotency();
        const calls = await Promise.allSettled(
          Array.from({ length: 4 }, () => t.as({ idempotency: own }).queueReminders(OVERDUE)),
        );
        expect(calls.some(({ status }) => status === 'fulfilled')).to.equal(true);
        expect((await t.plane.listDeliveries({ pageSize: 200 })).total).to.equal(45);
        await Promise.all([t.plane.queueReminders(OVERDUE), t.plane.queueReminders({ ...OVERDUE, channel: SLACK })]);
        const { items } = await t.plane.listDeliveries({ pageSize: 200 });
        expect(numbers(items)).to.deep.equal(
          [1, 2, 3].flatMap((occurrence) => Array.from({ length: 45 }, () => occurrence)),
        );
      });

      if (name !== 'remote')
        it('that were interrupted go on under the same key, also on the next day, and the key ends after a day', async () => {
          const t = makePlane();
          const now = t.clock.now();
          await enter(t, lateLines(3));
          const own = idempotency();
          const run = () => t.as({ idempotency: own }).queueReminders(OVERDUE);
          const forget = () =>
            t.database.write(t.call, (tx) =>
              tx.run('DELETE FROM idempotency_records WHERE tenant_id = ?', [t.call.tenantId]),
            );
          try {
            const first = await run();
            await forget(); // as if the process had ended after the last page
            await enter(t, lateLines(2));
            t.clock.advance(23 * 3_600_000);
            expect(await run()).to.deep.equal(first);
            expect(await messages(t)).to.have.length(5);
            await forget();
            t.clock.advance(25 * 3_600_000);
            expect(await run()).not.to.deep.equal(first);
            expect(await messages(t)).to.have.length(10);
          } finally {
            t.clock.set(now); // shared by the suite
          }
        });
    });
  },
  { only: PLANES },
);

const lateLines = (count: number): Partial<PaymentLineInput>[] =>
  Array.from({ length: count }, (_, i) => ({ period: `${i}`, dueDate: addDays(TODAY, -1 - (i % 7)) }));
