import { invalid } from '../../../base/failures.js';
import type { Call } from '../../contract/call.js';
import type { RegisterFilter } from '../../contract/records/invoice-register.js';
import { requireSubjectInScope } from '../subject-in-scope.js';

/** Refuses a subject company outside the caller's scope, and a period that ends before it begins. */
export function checkRegisterFilter({ subjectId, from, to }: RegisterFilter, call: Pick<Call, 'subjectScope'>): void {
  if (from && to && to < from) throw invalid({ path: 'to', problem: 'must not be before from' });
  requireSubjectInScope(call, subjectId ?? null);
}
