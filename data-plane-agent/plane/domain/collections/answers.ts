import { addDays, daysBetween, instantOf, todayIn } from '../../../base/day.js';
import { iso, isoOrNull } from '../../../base/instants.js';
import type { Call } from '../../contract/call.js';
import type { AgingBucket } from '../../contract/records/analytics.js';
import type { CollectionPage, ReminderDelivery } from '../../contract/records/collections.js';
import type { RemindedLine } from '../../contract/records/reminder-messages.js';
import { AGES, agingCuts } from '../analytics/analytics.js';
import { paymentRow } from '../contracts/presenter.js';
import type { HoldRow } from '../../tables/holds.js';
import type { PaymentRow } from '../../tables/payment-lines.js';
import type { ReminderRow } from '../../tables/reminders.js';
import { nextRung, type Decided } from './decide.js';
import { holdAnswer, isActive } from './holds.js';
import { ladder } from './ladder.js';

/** What is known of a line's reminders; `reminders` are those of its present due date, oldest first. */
interface Collected {
  readonly reminders: readonly ReminderRow[];
  readonly hold: HoldRow | undefined;
  readonly now: number;
}

export function collectionRow(
  row: PaymentRow,
  { reminders, hold, now }: Collected,
  call: Call,
): CollectionPage['items'][number] {
  const sent = reminders.filter(({ status }) => status === 'sent');
  const last = reminders.findLast(({ status }) => status === 'sent' || status === 'queued');
  const line = paymentRow(row, call);
  return {
    ...line,
    bucket: bucketOf(row, call),
    reminderLevel: last?.step ?? null,
    reminderCount: sent.length,
    lastRemindedAt: isoOrNull(sent.reduce<number | null>((at, { sentAt }) => latest(at, sentAt), null)),
    lastChannelId: sent.at(-1)?.channelId ?? null,
    nextReminderAt: isoOrNull(nextReminderAt(row, { reminders, hold, now }, call)),
    hold: hold === undefined ? null : holdAnswer(hold, call),
  };
}

export const deliveryAnswer = (row: ReminderRow): ReminderDelivery => ({
  id: row.id,
  paymentId: row.paymentId,
  contractId: row.contractId,
  step: row.step,
  occurrence: row.occurrence,
  dueDate: row.dueDate,
  channelId: row.channelId,
  kind: row.channelKind,
  recipients: row.recipients ?? [],
  recipientId: row.recipientId,
  status: row.status,
  reason: row.reason,
  attempts: row.attempts,
  lastError: row.lastError,
  nextAttemptAt: isoOrNull(row.nextAttemptAt),
  subject: row.subject,
  runId: row.runId,
  createdAt: iso(row.createdAt),
  sentAt: isoOrNull(row.sentAt),
});

export function remindedLine(row: PaymentRow, call: Call): RemindedLine {
  const { contractNo, projectName, partyA, partyB, subjectId, ownerId, ownerSuperiorId, contractId, id } = row;
  const { period, dueDate, amount, receivedAmount, outstandingAmount, currencyCode } = paymentRow(row, call);
  return {
    contractId,
    contractNo,
    projectName,
    partyA,
    partyB,
    subjectId,
    ownerId,
    ownerSuperiorId,
    paymentId: id,
    period,
    dueDate,
    amount,
    receivedAmount,
    outstandingAmount,
    currencyCode,
    daysOverdue: daysBetween(dueDate, call.today),
  };
}

function bucketOf({ dueDate }: PaymentRow, call: Call): AgingBucket {
  const at = agingCuts(call).findIndex((cut) => dueDate < cut);
  return AGES[at === -1 ? AGES.length - 1 : at] ?? 'not_due';
}

/**
 * The instant from which the next sweep may send: the reminder hour of the day of the next step, of today if that day is
 * over, or of the day after a hold. `null` when nothing more is sent automatically, or while a hold has no end.
 */
function nextReminderAt({ dueDate }: PaymentRow, { reminders, hold, now }: Collected, call: Call): number | null {
  const { timeZone, reminderHour, reminderLeadDays: leadDays, reminderEscalationDays: escalationDays, today } = call;
  const stopped = hold !== undefined && isActive(hold, today) ? hold : undefined;
  if (stopped?.until === null) return null;
  const next = nextRung(ladder({ leadDays, escalationDays }), {
    daysPast: daysBetween(dueDate, today),
    decided: reminders.filter(isAutomatic),
  });
  if (!next) return null;
  const days = [addDays(dueDate, next.after), today, ...(stopped?.until ? [addDays(stopped.until, 1)] : [])];
  const day = days.reduce((a, b) => (a > b ? a : b));
  const at = instantOf(day, reminderHour, timeZone);
  return day === todayIn(timeZone, now) ? Math.max(at, now) : at;
}

export const isAutomatic = (row: ReminderRow): row is ReminderRow & Decided => row.step !== 'manual';

const latest = (a: number | null, b: number | null): number | null => (a === null || (b !== null && b > a) ? b : a);
