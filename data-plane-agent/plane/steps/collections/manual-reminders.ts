import type { Call } from '../../contract/call.js';
import type { ManualChannel } from '../../contract/records/manual-reminders.js';
import { isActive } from '../../domain/collections/holds.js';
import type { ReminderRow } from '../../tables/reminders.js';
import type { OperationContext } from '../operation-context.js';
import { ReminderMessages } from './reminder-messages.js';

type Line = Pick<ReminderRow, 'contractId' | 'dueDate'> & { readonly id: string };

/**
 * Queues a reminder by hand of each of the lines; one that is on hold is written as skipped. They are numbered by line
 * and due date, so a number that was taken concurrently is followed by the next. Lines that the run has already reminded
 * of are left out.
 */
export async function addManualReminders(
  context: OperationContext,
  call: Call,
  {
    lines,
    channel,
    runId,
  }: { readonly lines: readonly Line[]; readonly channel: ManualChannel; readonly runId: string | null },
): Promise<ReminderRow[]> {
  const { store, recorder, newId, clock } = context;
  const ids = lines.map(({ id }) => id);
  const held = new Set(
    (await store.holds.ofLines(ids)).filter((hold) => isActive(hold, call.today)).map(({ id }) => id),
  );
  const messages = new ReminderMessages(recorder, channel);
  const added: ReminderRow[] = [];
  for (let open = lines, rounds = 0; open.length > 0; rounds++) {
    if (rounds === MOST_ROUNDS) throw new Error('other reminders of the same lines were written all the time');
    const known = Map.groupBy(await store.reminders.ofLines(open.map(({ id }) => id)), ({ paymentId }) => paymentId);
    const taken: Line[] = [];
    for (const line of open) {
      const manual = (known.get(line.id) ?? []).filter(({ step }) => step === 'manual');
      if (runId !== null && manual.some((row) => row.runId === runId)) continue;
      const row: ReminderRow = {
        ...rowOf(line, { call, channel, now: clock.now() }),
        id: newId(),
        runId,
        occurrence: 1 + Math.max(0, ...manual.filter(isFor(line)).map(({ occurrence }) => occurrence)),
        ...(held.has(line.id)
          ? { status: 'skipped', reason: 'HELD', messageId: null, nextAttemptAt: null }
          : { status: 'queued', reason: null, messageId: messages.id(), nextAttemptAt: clock.now() }),
      };
      if (!(await store.reminders.decide(row))) taken.push(line);
      else {
        added.push(row);
        if (row.messageId !== null) messages.added();
      }
    }
    open = taken;
  }
  return added;
}

/** After each round another transaction has been committed, so there are few. */
const MOST_ROUNDS = 20;

const isFor =
  ({ dueDate }: Line) =>
  (row: ReminderRow): boolean =>
    row.dueDate === dueDate;

const rowOf = (
  { id: paymentId, contractId, dueDate }: Line,
  { call, channel, now }: { readonly call: Call; readonly channel: ManualChannel; readonly now: number },
) => ({
  paymentId,
  contractId,
  dueDate,
  step: 'manual' as const,
  localDate: call.today,
  channelId: channel.id,
  channelKind: channel.kind,
  recipientId: null,
  recipients: null,
  subject: null,
  attempts: 0,
  lastError: null,
  createdBy: call.actor.id,
  createdAt: now,
  updatedAt: now,
  sentAt: null,
});
