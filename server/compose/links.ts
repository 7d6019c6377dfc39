import type { Log } from '../../data-plane-agent/base/log.js';
import type { ReminderSweeps } from '../collections/sweeps.js';
import { isAway } from '../data-planes/away.js';
import type { LinkEvents } from '../data-planes/link/links.js';
import type { Deliveries } from '../deliveries/deliveries.js';

/** What the service does when agents say that messages are due, or are connected again. */
export function composeLinkEvents({
  log,
  deliveries,
  reminderSweeps,
}: {
  readonly log: Log;
  readonly deliveries: Pick<Deliveries, 'start'>;
  readonly reminderSweeps: Pick<ReminderSweeps, 'resume'>;
}): LinkEvents {
  /** One at a time for each tenant: an agent repeats itself until the messages have been taken. */
  const delivering = new Set<string>();
  const background = (tenantId: string, work: Promise<void>): Promise<void> =>
    work.catch((error: unknown) => {
      if (!isAway(error)) log.error({ err: error, tenantId }, 'scheduled work failed for an organisation');
    });
  const deliver = (tenantId: string): void => {
    if (delivering.has(tenantId)) return;
    delivering.add(tenantId);
    void background(tenantId, deliveries.start(tenantId)).finally(() => delivering.delete(tenantId));
  };
  return {
    onOutbox: deliver,
    onReturn: (tenantId) => {
      deliver(tenantId);
      void background(tenantId, reminderSweeps.resume(tenantId));
    },
  };
}
