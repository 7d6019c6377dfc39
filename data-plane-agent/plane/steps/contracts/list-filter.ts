import { addDays } from '../../../base/day.js';
import { fail } from '../../../base/failures.js';
import { isId } from '../../../base/ids.js';
import type { Call } from '../../contract/call.js';
import type { ContractQuery } from '../../contract/records/contracts.js';
import type { ContractFilter } from '../../store/contract-list.js';
import type { ContractOrder } from '../../store/contract-order.js';

/** Newest first by default; a named sort is ascending by default. */
export const orderOf = ({ sort, order }: Pick<ContractQuery, 'sort' | 'order'>): ContractOrder => ({
  sort: sort ?? 'createdAt',
  order: order ?? (sort ? 'asc' : 'desc'),
});

/** `overdue` and `dueSoon` filter only when true. A malformed id is answered like the id of a missing record. */
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
