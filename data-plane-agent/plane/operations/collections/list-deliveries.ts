import { fail, invalid } from '../../../base/failures.js';
import { ReminderDeliveryPage, ReminderDeliveryQuery } from '../../contract/records/collections.js';
import { pageOf } from '../../contract/records/common.js';
import { deliveryAnswer } from '../../domain/collections/answers.js';
import { operation } from '../../steps/operation-context.js';
import type { Store } from '../../store/store.js';

/** Reminders that were decided on, of lines in the caller's scope, the latest first. */
export const listDeliveries = operation({
  effect: 'read',
  input: ReminderDeliveryQuery,
  output: ReminderDeliveryPage,
  fails: [],
  async run({ store }, _call, { page, pageSize, ...filter }) {
    if (filter.from && filter.to && filter.to < filter.from)
      throw invalid({ path: 'to', problem: 'must not be before from' });
    if (filter.contractId && !(await isKept(store, filter.contractId))) throw fail('NOT_FOUND', {});
    if (filter.paymentId && !(await store.lines.isKept(filter.paymentId))) throw fail('NOT_FOUND', {});
    const asked = { page: page ?? 1, pageSize: pageSize ?? 20 };
    const { rows, total } = await store.reminders.page(filter, asked);
    return pageOf(rows.map(deliveryAnswer), { ...asked, total });
  },
});

/** The deliveries of a deleted contract stay readable. */
const isKept = async ({ contracts }: Store, id: string): Promise<boolean> =>
  ((await contracts.find(id)) ?? (await contracts.find(id, { deleted: true }))) !== undefined;
