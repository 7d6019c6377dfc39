import type { Metrics } from '../../data-plane-agent/base/http/metrics.js';
import { DECIDED_STATUSES, type OnDecided } from './sweep.js';
import { SWEEP_RESULTS, type SweepResult } from './sweeps.js';

/** Counts what sweeps decide, and how scheduled ones end. */
export const reminderMetrics = ({
  counter,
}: Pick<Metrics, 'counter'>): {
  readonly onDecided: OnDecided;
  readonly onSwept: (result: SweepResult) => void;
} => ({
  onDecided: counter({
    name: 'duebook_reminder_decisions_total',
    help: 'Decisions about automatic reminders, by the sweeps and by hand.',
    label: 'status',
    values: DECIDED_STATUSES,
  }),
  onSwept: counter({
    name: 'duebook_reminder_sweeps_total',
    help: 'Scheduled sweeps for the reminders of an organisation by result.',
    label: 'result',
    values: SWEEP_RESULTS,
  }),
});
