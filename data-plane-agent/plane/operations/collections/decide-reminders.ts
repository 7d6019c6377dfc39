import { daysBetween, todayIn } from '../../../base/day.js';
import type { Call } from '../../contract/call.js';
import { ReminderSweepInput, ReminderSweepResult } from '../../contract/records/collections.js';
import { deliveryAnswer, isAutomatic } from '../../domain/collections/answers.js';
import { decide, type Decision, type Obstacle } from '../../domain/collections/decide.js';
import { isActive } from '../../domain/collections/holds.js';
import { isSameStep, ladder } from '../../domain/collections/ladder.js';
import { beforeReminders } from '../../domain/collections/reminder-stage.js';
import { operation, type OperationContext } from '../../steps/operation-context.js';
import { ReminderMessages } from '../../steps/collections/reminder-messages.js';
import type { SweptRow } from '../../store/reminder-sweep.js';
import type { ReminderRow } from '../../tables/reminders.js';

/**
 * Decides for a number of open lines which automatic reminder is due, if any, and queues the messages in the same
 * transaction. Concurrent and repeated calls make each decision once. The automatic run covers all contracts; a member
 * who starts it, the contracts in their scope.
 */
export const decideReminders = operation({
  effect: 'write',
  input: ReminderSweepInput,
  output: ReminderSweepResult,
  fails: [],
  async run(context, call, { after, limit, ...run }) {
    const { store, recorder } = context;
    const found = await store.reminderSweep.lines({ after, limit: limit + 1 });
    const lines = found.slice(0, limit);
    const judge = await lineDecisions(context, call, { lines, channel: run.channel });
    const messages = run.channel === null ? null : new ReminderMessages(recorder, run.channel);
    const drafts = lines.flatMap((line) => drafted(context, call, { line, ...judge(line), ...run, messages }));
    const decided = await written(context, drafts);
    messages?.keep(new Set(decided.map(({ messageId }) => messageId)));
    const last = lines.at(-1);
    return {
      evaluated: lines.length,
      decided: decided.map(deliveryAnswer),
      next: found.length > limit && last ? { dueDate: last.dueDate, id: last.id } : null,
    };
  },
});

interface Judged {
  readonly decisions: readonly Decision[];
  readonly known: readonly ReminderRow[];
}

/** Reads what the decisions on these lines depend on, with one query for each kind of record. */
async function lineDecisions(
  { store }: OperationContext,
  { today, timeZone, reminderLeadDays, reminderEscalationDays }: Call,
  { lines, channel }: { readonly lines: readonly SweptRow[]; readonly channel: ReminderSweepInput['channel'] },
): Promise<(line: SweptRow) => Judged> {
  const ids = lines.map(({ id }) => id);
  const reminders = Map.groupBy(await store.reminders.ofLines(ids), ({ paymentId }) => paymentId);
  const held = new Set((await store.holds.ofLines(ids)).filter((hold) => isActive(hold, today)).map(({ id }) => id));
  const isBeforeStage = beforeReminders(await store.lifecycle.all());
  const rungs = ladder({ leadDays: reminderLeadDays, escalationDays: reminderEscalationDays });

  const obstacleOf = (line: SweptRow): Obstacle | null => {
    if (held.has(line.id)) return 'HELD';
    if (isBeforeStage(line)) return 'BEFORE_STAGE';
    if (channel === null) return 'NO_CHANNEL';
    return channel.enabled ? null : 'CHANNEL_DISABLED';
  };
  return (line) => {
    const all = reminders.get(line.id) ?? [];
    const known = all.filter((row) => row.dueDate === line.dueDate);
    const decisions = decide(rungs, {
      daysPast: daysBetween(line.dueDate, today),
      createdAfter: daysBetween(line.dueDate, todayIn(timeZone, line.createdAt)),
      decided: known.filter(isAutomatic),
      isRemindedToday: all.some(
        ({ step, status, localDate }) => step === 'manual' && localDate === today && status !== 'skipped',
      ),
      obstacle: obstacleOf(line),
    });
    return { decisions, known };
  };
}

/** The decisions on a line as rows. */
function drafted(
  { clock, newId }: OperationContext,
  call: Call,
  {
    line,
    decisions,
    known,
    channel,
    runId,
    messages,
  }: Judged & { readonly line: SweptRow; readonly messages: ReminderMessages | null } & Pick<
      ReminderSweepInput,
      'channel' | 'runId'
    >,
): Draft[] {
  const now = clock.now();
  return decisions.map(({ step, occurrence, status, reason, isNew }) => {
    const before = isNew ? undefined : known.find((row) => isAutomatic(row) && isSameStep(row, { step, occurrence }));
    const row: ReminderRow = {
      id: newId(),
      createdAt: now,
      ...before,
      paymentId: line.id,
      contractId: line.contractId,
      dueDate: line.dueDate,
      step,
      occurrence,
      status,
      reason,
      localDate: call.today,
      runId,
      channelId: status === 'queued' ? (channel?.id ?? null) : null,
      channelKind: status === 'queued' ? (channel?.kind ?? null) : null,
      messageId: status === 'queued' ? (messages?.id() ?? null) : null,
      recipientId: null,
      recipients: null,
      subject: null,
      attempts: 0,
      lastError: null,
      nextAttemptAt: status === 'queued' ? now : null,
      createdBy: call.actor.id,
      updatedAt: now,
      sentAt: null,
    };
    if (row.messageId !== null) messages?.added();
    return { before, row };
  });
}

interface Draft {
  /** The skipped decision that is taken up again. */
  readonly before: ReminderRow | undefined;
  readonly row: ReminderRow;
}

/** Writes decisions; those that were made concurrently are left out. */
async function written({ store }: OperationContext, drafts: readonly Draft[]): Promise<ReminderRow[]> {
  const added = await store.reminders.decideAll(drafts.filter(({ before }) => !before).map(({ row }) => row));
  const rows: ReminderRow[] = [];
  for (const { before, row } of drafts)
    if (before ? await store.reminders.decideAgain(before, row) : added.has(row.id)) rows.push(row);
  return rows;
}
