import { pageOf } from '../../contract/records/common.js';
import { CollectionPage, CollectionQuery } from '../../contract/records/collections.js';
import { collectionRow } from '../../domain/collections/answers.js';
import { COLLECTED } from '../../domain/collections/tabs.js';
import { requireSubjectInScope } from '../../domain/subject-in-scope.js';
import { operation } from '../../steps/operation-context.js';

/** Open payment lines that are overdue or due soon, with their reminders and holds. */
export const listCollections = operation({
  effect: 'read',
  input: CollectionQuery,
  output: CollectionPage,
  fails: [],
  async run({ store, clock }, call, { tab, page, pageSize, subjectId }) {
    requireSubjectInScope(call, subjectId ?? null);
    const asked = { page: page ?? 1, pageSize: pageSize ?? 20 };
    const filter = {
      tab: COLLECTED[tab ?? 'overdue'],
      contractId: null,
      subjectId: subjectId ?? null,
      includeDeleted: false,
    };
    const { rows, total } = await store.paymentList.page(filter, asked);
    const ids = rows.map(({ id }) => id);
    const holds = new Map((await store.holds.ofLines(ids)).map((hold) => [hold.id, hold]));
    const reminders = Map.groupBy(await store.reminders.ofLines(ids), ({ paymentId }) => paymentId);
    const now = clock.now();
    return pageOf(
      rows.map((row) => {
        const present = (reminders.get(row.id) ?? []).filter(({ dueDate }) => dueDate === row.dueDate);
        return collectionRow(row, { reminders: present, hold: holds.get(row.id), now }, call);
      }),
      { ...asked, total },
    );
  },
});
