import { fail } from '../../../base/failures.js';
import type { OperationContext } from '../operation-context.js';

/** Refuses a subject company that is being deleted. The check also blocks its deletion until the transaction ends. */
export async function checkSubjectOpen({ store }: Pick<OperationContext, 'store'>, subjectId: string): Promise<void> {
  if (!(await store.closings.isOpen(subjectId))) throw closedSubject(subjectId);
}

/** The refusal of a subject company that is being deleted. */
export const closedSubject = (subjectId: string) => fail('REFERENCE_INVALID', { field: 'subjectId', value: subjectId });
