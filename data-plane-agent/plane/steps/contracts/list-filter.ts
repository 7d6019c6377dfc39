import { addDays } from '../../../base/day.js';
import { fail } from '../../../base/failures.js';
import { isId } from '../../../base/ids.js';
import type { Call } from '../../contract/call.js';
import type { ContractQuery } from '../../contract/records/contracts.js';
import type { ContractFilter } from '../../store/contract-list.js';
import type { ContractOrder } from '../../store/contract-order.js';

/** Newest first when nothing is said; a sort that is named begins with the least. */
export const orderOf = ({ sort, order }: Pick<ContractQuery, 'sort' | 'order'>): ContractOrder => ({
  sort: sort ?? 'createdAt',
  order: order ?? (sort ? 'asc' : 'desc'),
});

/** `false` asks for nothing. An id that cannot be a record's is answered like a record that is not there. */
export function filterOf(
  { overdue, dueSoon, ...query }: Omit<ContractQuery, 'page' | 'pageSize'>,
  call: Call,
): ContractFilter {
  const { subjectId, ownerId } = query;
  const isOutside = subjectId && !(isId(subjectId) && (call.subjectScope?.includes(subjectId) ?? true));
  if (isOutside || (ownerId && !isId(ownerId))) throw fail('NOT_FOUND', {});
  return {
    ...query,
    ...(overdue ? { dueBefore: call.today } : {}),
    ...(dueSoon ? { dueWithin: [call.today, addDays(call.today, call.reminderLeadDays)] } : {}),
  };
}
