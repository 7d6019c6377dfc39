import type { Clock } from '../../data-plane-agent/base/clock.js';
import type { Database } from '../../data-plane-agent/base/database/database.js';
import type { DeliveryLabels, QueueReading } from '../../data-plane-agent/base/http/metrics.js';
import type { HostedPlane } from '../../data-plane-agent/host/open-plane.js';
import { MailStore } from '../store/mail.js';
import type { SettledAttempt } from './engine.js';

/** How an attempt is counted. Queues of organisations share one label. */
export const deliveryLabels = ({ queue, outcome, settled }: SettledAttempt): DeliveryLabels => {
  const isMail = queue.tenantId === null;
  const { kind = isMail ? 'mail' : 'none' } = outcome;
  return {
    queue: isMail ? 'mail' : 'outbox',
    kind,
    result: settled !== 'delivered' ? settled : kind === 'none' ? 'skipped' : 'sent',
  };
};

/** The maximum number that is counted, so that a scrape stays cheap. */
const MOST_COUNTED = 1_000;

/**
 * The age of both queues, by indexes that have only what waits. A database that does not answer has no reading: its
 * failure is reported by the probes, and the other metrics must remain readable.
 */
export const queueReadings =
  ({
    platform,
    hosted,
    clock,
  }: {
    readonly platform: Database;
    readonly hosted: Pick<HostedPlane, 'dueMessages'> | undefined;
    readonly clock: Clock;
  }) =>
  async (): Promise<Record<string, QueueReading>> => {
    const now = clock.now();
    const limit = MOST_COUNTED;
    const [mail, outbox] = await Promise.allSettled([
      platform.read({ tenantId: null }, (tx) => new MailStore(tx).dueSince({ at: now, limit })),
      hosted?.dueMessages(limit),
    ]);
    const reading = ({ count, since }: Due): QueueReading => ({
      waiting: count,
      oldestSeconds: since === null ? 0 : Math.max(0, now - since) / 1_000,
    });
    return {
      ...(mail.status === 'fulfilled' ? { mail: reading(mail.value) } : {}),
      ...(outbox.status === 'fulfilled' && outbox.value ? { outbox: reading(outbox.value) } : {}),
    };
  };

interface Due {
  readonly count: number;
  readonly since: number | null;
}
