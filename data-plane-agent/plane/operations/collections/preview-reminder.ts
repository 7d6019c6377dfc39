import { daysBetween } from '../../../base/day.js';
import { fail } from '../../../base/failures.js';
import { isId } from '../../../base/ids.js';
import { s } from '../../../base/schema.js';
import { RemindableLine } from '../../contract/records/manual-reminders.js';
import { remindedLine } from '../../domain/collections/answers.js';
import { isActive } from '../../domain/collections/holds.js';
import { ladder } from '../../domain/collections/ladder.js';
import { operation } from '../../steps/operation-context.js';

/** What a reminder of a line would say now, also of one that is settled or on hold. */
export const previewReminder = operation({
  effect: 'read',
  input: s.object({ contractId: s.id(), paymentId: s.id() }),
  output: RemindableLine,
  fails: [],
  async run({ store }, call, { contractId, paymentId }) {
    const [row] = isId(paymentId) ? await store.paymentList.live([paymentId]) : [];
    if (!row || row.contractId !== contractId) throw fail('NOT_FOUND', {});
    const hold = await store.holds.ofLine(row.id);
    const { reminderLeadDays: leadDays, reminderEscalationDays: escalationDays, today } = call;
    const daysPast = daysBetween(row.dueDate, today);
    return {
      line: remindedLine(row, call),
      level: ladder({ leadDays, escalationDays }).findLast(({ after }) => after <= daysPast)?.step ?? null,
      hold: hold && isActive(hold, today) ? { kind: hold.kind, until: hold.until } : null,
    };
  },
});
