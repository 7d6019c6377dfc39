import { fail } from '../../base/failures.js';
import { isId } from '../../base/ids.js';
import type { Call } from '../contract/call.js';

/**
 * Which subject companies there are is known to the control plane; here only those that the caller may not see are
 * refused.
 */
export function seeSubject({ subjectScope }: Pick<Call, 'subjectScope'>, subjectId: string | null): void {
  if (subjectId !== null && (!isId(subjectId) || !(subjectScope?.includes(subjectId) ?? true)))
    throw fail('NOT_FOUND', {});
}
