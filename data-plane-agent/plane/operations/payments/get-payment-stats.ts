import { s } from '../../../base/schema.js';
import { PaymentStats } from '../../contract/records/lines.js';
import { paymentStats } from '../../domain/payment-figures.js';
import { operation } from '../tools.js';

export const getPaymentStats = operation({
  effect: 'read',
  input: s.object({}),
  output: PaymentStats,
  fails: [],
  async run({ store }, call) {
    return paymentStats(await store.paymentStats.byCurrency(), call);
  },
});
