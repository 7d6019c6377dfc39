import { s } from '../../../base/schema.js';
import { PaymentStats } from '../../contract/records/lines.js';
import { paymentStats, statsCuts } from '../../domain/payments/figures.js';
import { operation } from '../../steps/operation-context.js';

/**
 * Counts and sums of the lines in scope. They are read from rollups, so that the cost grows with the number of due
 * dates.
 */
export const getPaymentStats = operation({
  effect: 'read',
  input: s.object({}),
  output: PaymentStats,
  fails: [],
  async run({ store }, call) {
    const segments = await store.figures.days({
      subjectId: null,
      cuts: statsCuts(call),
      counts: ['lines', 'to_invoice', 'paid', 'partial', 'reconcile'],
      sums: ['amount', 'received', 'outstanding', 'uninvoiced'],
    });
    return paymentStats(segments, call);
  },
});
