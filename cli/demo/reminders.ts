import { addDays, instantOf, type Day } from '../../data-plane-agent/base/day.js';
import { newId } from '../../data-plane-agent/base/ids.js';
import { MOST_SWEPT, type ReminderSweepInput } from '../../data-plane-agent/plane/contract/records/collections.js';
import { MOST_MESSAGES } from '../../data-plane-agent/plane/contract/records/outbox.js';
import type { Composed } from '../../server/compose.js';
import { reminderTopic } from '../../server/deliveries/topics/reminder.js';
import { byStatus } from '../../server/notifications/channels/answers.js';
import type { NoticeSender } from '../../server/notifications/send.js';
import type { DatedClock } from './dated-clock.js';
import { planeOf, planeOfJobs, type Desk } from './desk.js';
import { holdLines } from './holds.js';

const REMINDER_HOUR = 9;
const MINUTE_MS = 60_000;
/** All lines of the book in one page: the audit has one row for each contract and page. */
const PAGE = MOST_SWEPT;
const LEASE_MS = 1_000;

/** How many days before the demo's day a bookkeeper reminded by hand, and whether the receiver accepted it. */
const BY_HAND = [
  { daysAgo: 6, accepted: true },
  { daysAgo: 2, accepted: false },
] as const;

interface Office {
  readonly desk: Desk;
  readonly composed: Pick<Composed, 'services' | 'foundation'>;
  readonly clock: DatedClock;
}

/**
 * A week of reminders, up to yesterday: two lines are held, the others get the step of their age, each at the hour and
 * with the recipients and subject of a real delivery. Nothing is sent. An interrupted run is continued: what was decided
 * on is not decided again.
 */
export async function enterReminders(office: Office): Promise<void> {
  const { desk, clock } = office;
  const { day: today } = desk.tenant;
  await clock.during(hourOf(addDays(today, -8), desk), () => holdLines(desk));
  for (let daysAgo = 7; daysAgo >= 1; daysAgo--) {
    const day = addDays(today, -daysAgo);
    const hour = hourOf(day, desk);
    await clock.during(hour, () => decideAll(day, desk));
    await clock.during(hour + MINUTE_MS, () => deliver(day, { ...office, accepted: true }));
    // What an interrupted run had leased.
    await clock.during(hour + 5 * MINUTE_MS, () => deliver(day, { ...office, accepted: true }));
    for (const [index, byHand] of BY_HAND.entries())
      if (byHand.daysAgo === daysAgo) {
        await clock.during(hour + 90 * MINUTE_MS, () => remindByHand(index, { day, desk }));
        for (const minutes of [91, 95])
          await clock.during(hour + minutes * MINUTE_MS, () => deliver(day, { ...office, accepted: byHand.accepted }));
      }
  }
}

const hourOf = (day: Day, { tenant }: Desk): number => instantOf(day, REMINDER_HOUR, tenant.timeZone);

/** As the scheduled sweep. */
async function decideAll(on: Day, desk: Desk): Promise<void> {
  const plane = planeOfJobs(desk, { on });
  const channel = { id: desk.ids.channels.reminders, kind: 'email', enabled: true, digest: 1 } as const;
  const runId = newId();
  let after: ReminderSweepInput['after'] = null;
  do after = (await plane.decideReminders({ runId, channel, after, limit: PAGE })).next;
  while (after !== null);
}

/** Each is for another of the overdue lines that are not held. */
async function remindByHand(index: number, { day, desk }: { readonly day: Day; readonly desk: Desk }): Promise<void> {
  const plane = planeOf(desk, 'liu', { on: day });
  const { items } = await plane.listCollections({ tab: 'overdue', pageSize: 10 });
  const line = items.filter(({ hold }) => hold === null)[index + 1];
  if (!line) return;
  const before = await plane.listDeliveries({ paymentId: line.id, pageSize: 200 });
  if (before.items.some(({ step }) => step === 'manual')) return;
  const channel = { id: desk.ids.channels.ledger, kind: 'webhook', digest: 1 } as const;
  await plane.queueReminder({ contractId: line.contractId, paymentId: line.id, channel });
}

/** Settles the messages that are due, as the server does after an attempt, but no attempt is made. */
async function deliver(
  on: Day,
  { desk, composed, clock, accepted }: Office & { readonly accepted: boolean },
): Promise<void> {
  const { foundation, services } = composed;
  const plane = planeOfJobs(desk, { on });
  const topic = reminderTopic({
    database: foundation.platform,
    clock,
    directory: services.directory,
    sender: recordingSender(services.sender, { accepted, now: clock.now() }),
    mail: services.mail,
    contractLink: undefined,
  });
  const at = { tenantId: desk.tenant.id, plane };
  for (const lane of [desk.ids.channels.reminders, desk.ids.channels.ledger])
    for (;;) {
      const { messages } = await plane.leaseMessages({ lane, limit: MOST_MESSAGES, leaseMs: LEASE_MS });
      if (messages.length === 0) break;
      for (const message of messages) await topic.settle?.(message, await topic.attempt(message, at), at);
    }
}

/** Answers like a receiver, without a request. */
const recordingSender = (
  { render }: NoticeSender,
  { accepted, now }: { readonly accepted: boolean; readonly now: number },
): NoticeSender => ({
  render,
  send: ({ channel, notice, language }) =>
    Promise.resolve({
      ...byStatus({ status: accepted ? 200 : 410, headers: new Headers(), body: Buffer.alloc(0) }, now),
      subject: render(notice, { kind: channel.kind, language }).subject,
    }),
});
