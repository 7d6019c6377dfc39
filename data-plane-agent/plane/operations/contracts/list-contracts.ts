import { addDays } from '../../../base/day.js';
import { fail } from '../../../base/failures.js';
import { isId } from '../../../base/ids.js';
import type { Call } from '../../contract/call.js';
import { pageOf } from '../../contract/records/common.js';
import { ContractPage, ContractQuery } from '../../contract/records/contracts.js';
import { contractSummary } from '../../domain/contracts/answers.js';
import type { ContractFilter } from '../../store/contract-list.js';
import type { ContractOrder } from '../../store/contract-order.js';
import { operation } from '../../steps/operation-context.js';

/** One page of the contracts in scope, with an exact total. */
export const listContracts = operation({
  effect: 'read',
  input: ContractQuery,
  output: ContractPage,
  fails: [],
  async run({ store }, call, query) {
    const page = query.page ?? 1;
    const pageSize = query.pageSize ?? 20;
    const offset = (page - 1) * pageSize;
    const selection = await store.contractList.select(filterOf(query, call));
    const rows = offset < selection.total ? await store.contractList.page(selection, orderOf(query), { offset, limit: pageSize }) : [];
    const due = await store.contractList.dueLines(rows, addDays(call.today, call.reminderLeadDays));
    const shown = await store.fields.shown(rows);
    return pageOf(shown.map((row) => contractSummary(row, due.get(row.id) ?? [], call)), { page, pageSize, total: selection.total });
  },
});

/** Newest first when nothing is said; a sort that is named begins with the least. */
export const orderOf = ({ sort, order }: Pick<ContractQuery, 'sort' | 'order'>): ContractOrder => ({ sort: sort ?? 'createdAt', order: order ?? (sort ? 'asc' : 'desc') });

/** `false` asks for nothing. An id that cannot be a record's is answered like a record that is not there. */
export function filterOf({ overdue, dueSoon, ...query }: Omit<ContractQuery, 'page' | 'pageSize'>, call: Call): ContractFilter {
  const { subjectId, ownerId } = query;
  const isOutside = subjectId && !(isId(subjectId) && (call.subjectScope?.includes(subjectId) ?? true));
  if (isOutside || (ownerId && !isId(ownerId))) throw fail('NOT_FOUND', {});
  return {
    ...query,
    ...(overdue ? { dueBefore: call.today } : {}),
    ...(dueSoon ? { dueWithin: [call.today, addDays(call.today, call.reminderLeadDays)] } : {}),
  };
}
