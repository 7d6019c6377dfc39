import { s } from '../../../base/schema.js';
import { ReminderMessage } from '../../contract/records/reminder-messages.js';
import { remindedLine } from '../../domain/collections/answers.js';
import { withdrawalReason } from '../../domain/collections/withdrawal.js';
import { operation } from '../../steps/operation-context.js';

/** The queued reminders of a message of the outbox, to be rendered now. */
export const getReminderMessage = operation({
  effect: 'read',
  input: s.object({ messageId: s.id() }),
  output: ReminderMessage,
  fails: [],
  async run({ store }, call, { messageId }) {
    const rows = await store.reminders.ofMessage(messageId);
    const ids = rows.map(({ paymentId }) => paymentId);
    const lines = new Map((await store.paymentList.live(ids)).map((line) => [line.id, line]));
    const holds = new Map((await store.holds.ofLines(ids)).map((hold) => [hold.id, hold]));
    const answer: ReminderMessage = { reminders: [], withdrawn: [] };
    for (const row of rows) {
      const { id, step, recipientId, paymentId } = row;
      const line = lines.get(paymentId);
      const reason = withdrawalReason(row, { line, hold: holds.get(paymentId), today: call.today });
      if (reason !== null) answer.withdrawn.push({ reminderId: id, reason });
      else if (line) answer.reminders.push({ id, step, recipientId, line: remindedLine(line, call) });
    }
    return answer;
  },
});
