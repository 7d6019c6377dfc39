import { fail } from '../../../base/failures.js';
import type { OperationContext } from '../operation-context.js';

/** Refuses a subject company that is being removed; another is not removed before this is entered. */
export async function checkSubjectOpen({ store }: Pick<OperationContext, 'store'>, subjectId: string): Promise<void> {
  if (!(await store.closings.isOpen(subjectId)))
    throw fail('REFERENCE_INVALID', { field: 'subjectId', value: subjectId });
}
