import { fail } from '../../base/failures.js';
import { isId } from '../../base/ids.js';
import type { Call } from '../contract/call.js';

/** Refuses subject companies that the caller may not see. Only the control plane knows which companies exist. */
export function requireSubjectInScope({ subjectScope }: Pick<Call, 'subjectScope'>, subjectId: string | null): void {
  if (subjectId !== null && (!isId(subjectId) || !(subjectScope?.includes(subjectId) ?? true)))
    throw fail('NOT_FOUND', {});
}
