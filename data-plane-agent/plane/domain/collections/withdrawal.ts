import type { Day } from '../../../base/day.js';
import type { SkipReason } from '../../contract/vocabulary.js';
import type { HoldRow } from '../../tables/holds.js';
import type { PaymentRow } from '../../tables/payment-lines.js';
import type { ReminderRow } from '../../tables/reminders.js';
import { isActive } from './holds.js';

/**
 * Why a reminder that was queued is not sent any more, or `null` if it is. Much may have happened since the decision: it
 * is looked at immediately before each attempt.
 */
export function withdrawalReason(
  { step, dueDate }: Pick<ReminderRow, 'step' | 'dueDate'>,
  {
    line,
    hold,
    today,
  }: { readonly line: PaymentRow | undefined; readonly hold: HoldRow | undefined; readonly today: Day },
): Extract<SkipReason, 'DELETED' | 'SETTLED' | 'RESCHEDULED' | 'HELD'> | null {
  if (!line) return 'DELETED';
  if (line.outstandingMinor <= 0) return 'SETTLED';
  if (step !== 'manual' && line.dueDate !== dueDate) return 'RESCHEDULED';
  return hold !== undefined && isActive(hold, today) ? 'HELD' : null;
}
