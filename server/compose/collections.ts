import type { Clock } from '../../data-plane-agent/base/clock.js';
import type { Log } from '../../data-plane-agent/base/log.js';
import type { Metrics } from '../../data-plane-agent/base/http/metrics.js';
import { reminderMetrics } from '../collections/metrics.js';
import { createRunReminders, type RunReminders } from '../collections/run-now.js';
import { createSweep } from '../collections/sweep.js';
import { createReminderSweeps, type ReminderSweeps } from '../collections/sweeps.js';
import type { DataPlanes } from '../data-planes/for-tenant.js';
import type { Deliveries } from '../deliveries/deliveries.js';
import type { KeyedDatabase } from '../store/keyed-database.js';

export function composeCollections(parts: {
  readonly database: KeyedDatabase;
  readonly clock: Clock;
  readonly log: Log;
  readonly dataPlanes: DataPlanes;
  readonly deliveries: Deliveries;
  readonly metrics: Pick<Metrics, 'counter'>;
}): { readonly runReminders: RunReminders; readonly reminderSweeps: ReminderSweeps } {
  const { onDecided, onSwept } = reminderMetrics(parts.metrics);
  const sweep = createSweep({ ...parts, onDecided });
  return {
    runReminders: createRunReminders({ ...parts, sweep }),
    reminderSweeps: createReminderSweeps({ ...parts, sweep, onSwept }),
  };
}
