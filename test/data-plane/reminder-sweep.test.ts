import { expect } from 'chai';
import { addDays, type Day } from '../../data-plane-agent/base/day.js';
import { newId } from '../../data-plane-agent/base/ids.js';
import type {
  ReminderDelivery,
  ReminderSweepInput,
} from '../../data-plane-agent/plane/contract/records/collections.js';
import type { ContractDetail, ContractInput } from '../../data-plane-agent/plane/contract/records/contracts.js';
import type { PaymentLineInput } from '../../data-plane-agent/plane/contract/records/lines.js';
import { EVERY_CONTROL } from '../support/contract-walk.js';
import { forEachPlane, type TestPlane } from '../support/plane.js';
import { aContract, aLine } from '../support/samples.js';

const CHANNEL = { id: newId(), kind: 'email', enabled: true, digest: 1 };

/** One whole sweep on a day, in pages; the present day of the plane's caller if none is given. */
async function sweep(
  { as, call }: TestPlane,
  {
    today = call.today,
    limit = 500,
    channel = CHANNEL,
    ...caller
  }: { today?: Day; limit?: number; channel?: ReminderSweepInput['channel'] } & Parameters<TestPlane['as']>[0] = {},
): Promise<ReminderDelivery[]> {
  const plane = as({ ...caller, today });
  const decided: ReminderDelivery[] = [];
  const runId = newId();
  let after: ReminderSweepInput['after'] = null;
  do {
    const result = await plane.decideReminders({ runId, channel, after, limit });
    decided.push(...result.decided);
    after = result.next;
  } while (after !== null);
  return decided;
}

const shown = ({ step, occurrence, status, reason }: ReminderDelivery): string =>
  `${step}${occurrence > 1 ? ` ${occurrence}` : ''} ${status}${reason === null ? '' : ` ${reason}`}`;

const enter = (
  { plane }: TestPlane,
  lines: readonly Partial<PaymentLineInput>[],
  changes: Partial<ContractInput> = {},
): Promise<ContractDetail> =>
  plane.createContract(aContract({ payments: lines.map((line) => aLine(line)), ...changes }));

/** The reminders in the messages of the outbox, message by message. */
const queued = async ({ database, call }: TestPlane): Promise<string[][]> => {
  const rows = await database.read(call, (tx) =>
    tx.all(
      "SELECT outbox.id AS message, reminders.id AS reminder FROM outbox LEFT JOIN reminders ON reminders.tenant_id = outbox.tenant_id AND reminders.message_id = outbox.id WHERE outbox.tenant_id = ? AND topic = 'reminder' ORDER BY outbox.id, reminders.id",
      [call.tenantId],
    ),
  );
  const byMessage = Map.groupBy(rows, ({ message }) => message);
  return [...byMessage.values()].map((found) => found.map(({ reminder }) => String(reminder)));
};

describe('a sweep for reminders', () => {
  forEachPlane((_name, makePlane) => {
    const TODAY = '2026-03-15';

    it('decides on each line the step that fits its age, and nothing when it is repeated', async () => {
      const t = makePlane();
      await enter(t, [
        { period: 'later', dueDate: '2026-03-23' },
        { period: 'soon', dueDate: '2026-03-22' },
        { period: 'today', dueDate: '2026-03-15' },
        { period: 'yesterday', dueDate: '2026-03-14' },
        { period: 'a month', dueDate: '2026-02-15' },
        { period: 'a year', dueDate: '2025-03-15' },
        { period: 'settled', dueDate: '2026-02-01', receivedAmount: 1_000 },
      ]);
      expect((await sweep(t)).map(shown)).to.deep.equal([
        'final queued',
        'escalated 4 queued',
        'overdue_1 queued',
        'due_day queued',
        'pre_due queued',
      ]);
      expect(await sweep(t)).to.deep.equal([]);
      expect(await queued(t)).to.have.length(5);
    });

    it('follows a line day by day, and after days without a sweep continues with the latest step', async () => {
      const t = makePlane();
      const now = t.clock.now();
      t.clock.set('2026-03-01T04:00:00.000Z');
      await enter(t, [{ dueDate: '2026-03-10' }]);
      t.clock.set(now); // shared by the suite
      const days: Record<Day, string[]> = {};
      for (let i = 0; i <= 120; i++) {
        const today = addDays('2026-03-01', i);
        if (today > '2026-03-24' && today < '2026-04-10') continue; // the server was down
        const decided = await sweep(t, { today });
        if (decided.length > 0) days[today] = decided.map(shown);
      }
      expect(days).to.deep.equal({
        '2026-03-03': ['pre_due queued'],
        '2026-03-10': ['due_day queued'],
        '2026-03-11': ['overdue_1 queued'],
        '2026-03-17': ['escalated queued'],
        '2026-03-24': ['escalated 2 queued'],
        '2026-04-10': ['escalated 3 superseded SUPERSEDED', 'escalated 4 queued'],
        '2026-04-14': ['escalated 5 queued'],
        '2026-04-21': ['escalated 6 queued'],
        '2026-04-28': ['escalated 7 queued'],
        '2026-05-05': ['escalated 8 queued'],
        '2026-05-12': ['escalated 9 skipped LIMIT_REACHED'],
        '2026-05-19': ['escalated 10 skipped LIMIT_REACHED'],
        '2026-05-26': ['escalated 11 skipped LIMIT_REACHED'],
        '2026-06-02': ['escalated 12 skipped LIMIT_REACHED'],
        '2026-06-08': ['final queued'],
      });
    });

    it('makes each decision once when several sweeps run at the same time', async () => {
      const t = makePlane();
      const lines = Array.from({ length: 30 }, (_, i) => ({ period: `${i}`, dueDate: addDays(TODAY, -i) }));
      await enter(t, lines);
      const decided = (await Promise.all(Array.from({ length: 4 }, (_, i) => sweep(t, { limit: 3 + i * 5 })))).flat();
      expect(new Set(decided.map(({ paymentId }) => paymentId)).size).to.equal(30);
      expect(decided).to.have.length(30);
      expect((await queued(t)).flat().toSorted()).to.deep.equal(decided.map(({ id }) => id).toSorted());
      expect((await t.plane.listDeliveries({ pageSize: 200 })).items).to.have.length(30);
    });

    it('collects the lines of a digest into one message', async () => {
      const t = makePlane();
      await enter(
        t,
        Array.from({ length: 45 }, (_, i) => ({ period: `${i}`, dueDate: '2026-03-14' })),
      );
      await sweep(t, { channel: { ...CHANNEL, kind: 'slack', digest: 20 } });
      expect((await queued(t)).map((ids) => ids.length)).to.deep.equal([20, 20, 5]);
    });

    it('skips a line on hold, and takes the step up when the hold is over', async () => {
      const t = makePlane();
      const { payments } = await enter(t, [{ dueDate: '2026-03-14' }]);
      const paymentId = payments[0]?.id ?? '';
      await t.plane.setPaymentHold({ paymentId, kind: 'promise', until: '2026-03-17' });
      const [skipped] = await sweep(t);
      expect(skipped && shown(skipped)).to.equal('overdue_1 skipped HELD');
      expect(await sweep(t, { today: '2026-03-17' })).to.deep.equal([]);
      const [again] = await sweep(t, { today: '2026-03-18' });
      expect(again).to.deep.include({ id: skipped?.id, status: 'queued', reason: null, channelId: CHANNEL.id });
      expect(await queued(t)).to.deep.equal([[skipped?.id]]);
      const { items } = await t.plane.listDeliveries({ paymentId });
      expect(items.map(shown)).to.deep.equal(['overdue_1 queued']);
    });

    it('skips without a channel and with a disabled one, and takes the step up with a channel', async () => {
      const t = makePlane();
      await enter(t, [{ dueDate: TODAY }]);
      expect((await sweep(t, { channel: null })).map(shown)).to.deep.equal(['due_day skipped NO_CHANNEL']);
      expect(await sweep(t, { channel: { ...CHANNEL, enabled: false } })).to.deep.equal([]);
      expect((await sweep(t)).map(shown)).to.deep.equal(['due_day queued']);

      const other = makePlane();
      await enter(other, [{ dueDate: TODAY }]);
      expect((await sweep(other, { channel: { ...CHANNEL, enabled: false } })).map(shown)).to.deep.equal([
        'due_day skipped CHANNEL_DISABLED',
      ]);
    });

    it('does not remind before the stage that the type of the contract names', async () => {
      const t = makePlane({ controls: EVERY_CONTROL });
      const { types } = await t.plane.getContractCatalog({});
      const sale = types.find(({ code }) => code === 'sale');
      await t.plane.updateContractType({
        typeId: sale?.id ?? '',
        changes: { defaultRules: { remindFromStage: 'signed' } },
      });
      await enter(t, [{ period: 'draft', dueDate: TODAY }], { typeCode: 'sale', lifecycleStageCode: 'draft' });
      await enter(t, [{ period: 'signed', dueDate: TODAY }], { typeCode: 'sale', lifecycleStageCode: 'signed' });
      await enter(t, [{ period: 'lease', dueDate: TODAY }], { typeCode: 'lease', lifecycleStageCode: 'draft' });
      expect((await sweep(t)).map(shown).toSorted()).to.deep.equal([
        'due_day queued',
        'due_day queued',
        'due_day skipped BEFORE_STAGE',
      ]);
    });

    it('begins anew with a new due date, but not after a part payment', async () => {
      const t = makePlane();
      const { payments } = await enter(t, [{ dueDate: '2026-03-14' }]);
      const paymentId = payments[0]?.id ?? '';
      expect((await sweep(t)).map(shown)).to.deep.equal(['overdue_1 queued']);
      await t.plane.recordReceipt({ paymentId, receivedAmount: 400 });
      expect(await sweep(t)).to.deep.equal([]);
      await t.plane.updatePaymentLine({ paymentId, dueDate: '2026-03-20' });
      expect((await sweep(t)).map(shown)).to.deep.equal(['pre_due queued']);
      await t.plane.updatePaymentLine({ paymentId, dueDate: '2026-03-14' });
      expect(await sweep(t)).to.deep.equal([]);
    });

    it('covers the contracts in the scope of a member, and no deleted ones', async () => {
      const t = makePlane();
      const subjectId = newId();
      const { payments } = await enter(t, [{ dueDate: TODAY }], { subjectId });
      await enter(t, [{ dueDate: TODAY }]);
      const deleted = await enter(t, [{ dueDate: TODAY }]);
      await t.plane.deleteContract({ contractId: deleted.id });
      const mine = await sweep(t, { subjectScope: [subjectId] });
      expect(mine.map(({ paymentId }) => paymentId)).to.deep.equal([payments[0]?.id]);
      expect(await sweep(t)).to.have.length(1);
    });

    it('leaves other organisations alone, and shows decisions in the history of the contract', async () => {
      const t = makePlane();
      const other = makePlane();
      const { id } = await enter(t, [{ dueDate: TODAY }]);
      expect(await sweep(other)).to.deep.equal([]);
      await sweep(t);
      const { items } = await t.plane.listHistory({ contractId: id });
      expect(items[0]?.action).to.equal('decideReminders');
      expect(
        items[0]?.changes.map(({ record, recordName, field, after }) => [record, recordName, field, after]),
      ).to.deep.include(['reminder', 'due_day', 'status', 'queued']);
    });
  });
});
