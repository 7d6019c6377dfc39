import { expect } from 'chai';
import type { Static } from '../../../data-plane-agent/base/schema.js';
import { daysBetween, todayIn } from '../../../data-plane-agent/base/day.js';
import type { CollectionPage, ReminderDelivery } from '../../../data-plane-agent/plane/contract/records/collections.js';
import type { ReminderRun } from '../../../server/collections/collections.schemas.js';
import { NO_MAIL_SERVER } from '../../../server/notifications/send.js';
import type { Channel as ChannelRecord } from '../../../server/tenants/tenants.schemas.js';
import type { Client } from '../http.js';
import { all, type DemoData, got, has } from './ask.js';

type Channel = Static<typeof ChannelRecord>;

const channels = async (who: Client) => {
  const items = await got<readonly Channel[]>(who, '/tenant-admin/notification-channels');
  return {
    byDefault: items.filter(({ isDefault }) => isDefault),
    broken: items.filter(({ lastError }) => lastError !== null && lastError !== NO_MAIL_SERVER),
  };
};
const deliveries = (who: Client) => all<ReminderDelivery>(who, '/collections/deliveries');
const dayOf = (instant: string | null) => todayIn('Asia/Shanghai', Date.parse(instant ?? ''));

export const COLLECTION_FEATURES: Readonly<Record<string, (demo: DemoData) => Promise<void> | void>> = {
  '5 reminders of each step, on each of the seven days before the demo was made': async ({ owner, contracts }) => {
    const sent = (await deliveries(owner)).filter(({ status }) => status === 'sent');
    has(sent, ({ step }) => step, ['pre_due', 'due_day', 'overdue_1', 'escalated', 'final', 'manual']);
    const days = [...new Set(sent.map(({ sentAt }) => dayOf(sentAt)))].toSorted();
    const made = dayOf(contracts[0]?.createdAt ?? null);
    expect(days.map((day) => daysBetween(day, made))).to.deep.equal([7, 6, 5, 4, 3, 2, 1]);
    // The owner, with the superior in an escalation.
    has(
      sent.filter(({ kind }) => kind === 'email'),
      ({ recipients }) => recipients.length,
      [1, 2],
    );
    expect(sent.every(({ subject, recipients }) => subject && recipients.length > 0)).to.equal(true);
  },
  '5 a delivery that failed, and lines that were left out because they are held': async ({ owner }) => {
    const items = await deliveries(owner);
    expect(items.filter(({ status }) => status === 'failed')).to.have.nested.property(
      '[0].lastError',
      'the receiver no longer exists (410)',
    );
    expect(items.filter(({ reason }) => reason === 'HELD')).to.have.length(2);
  },
  '5 overdue lines say how often they were reminded of; one that is not held was not reminded of today': async ({
    owner,
    contracts,
  }) => {
    const lines = await all<CollectionPage['items'][number]>(owner, '/collections');
    const reminded = lines.filter(({ reminderCount }) => reminderCount > 0);
    has(reminded, ({ reminderCount }) => reminderCount, [1, 2]);
    has(reminded, ({ reminderLevel }) => reminderLevel, ['overdue_1', 'escalated', 'final']);
    const made = dayOf(contracts[0]?.createdAt ?? null);
    expect(
      reminded.filter(({ hold, lastRemindedAt }) => hold === null && dayOf(lastRemindedAt) < made).length,
    ).to.be.above(10);
  },
  '5 a channel that worked and then failed, beside the default': async ({ owner }) => {
    const { byDefault, broken } = await channels(owner);
    expect(broken).to.have.length(1);
    const [one] = broken;
    expect(one).to.deep.include({
      isDefault: false,
      enabled: false,
      disabledReason: 'gone',
    } satisfies Partial<Channel>);
    expect(String(one?.lastErrorAt) > String(one?.lastDeliveredAt)).to.equal(true);
    expect(byDefault).to.have.nested.property('[0].lastDeliveredAt').that.is.a('string');
  },
  '5 a run now sends nothing without a mail server, and the deliveries and the channel say why': async ({ owner }) => {
    const before = (await deliveries(owner)).filter(({ status }) => status === 'sent').length;
    const { status, body } = await owner.post<ReminderRun>('/collections/run-due-reminders');
    expect([status, body.sent]).to.deep.equal([200, 0]);
    const items = await deliveries(owner);
    expect(items.filter((one) => one.status === 'sent')).to.have.length(before);
    const tried = items.filter((one) => one.status === 'queued' && one.attempts > 0);
    has(tried, ({ lastError }) => lastError, [NO_MAIL_SERVER]);
    expect((await channels(owner)).byDefault).to.have.nested.property('[0].lastError', NO_MAIL_SERVER);
  },
};
