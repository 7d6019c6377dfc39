import { s } from '../../../base/schema.js';
import { operation } from '../../steps/operation-context.js';

/** Live contracts of a subject company, also those that the caller may not see: it cannot go while there are any. */
export const countSubjectContracts = operation({
  effect: 'read',
  input: s.object({ subjectId: s.id() }),
  output: s.object({ count: s.integer() }),
  fails: [],
  run: async ({ store }, _call, { subjectId }) => ({ count: await store.ownership.ofSubject(subjectId) }),
});
