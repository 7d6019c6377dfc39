import { s, type Static } from '../../../base/schema.js';

export const Member = s.object({
  id: s.id(),
  name: s.text({ max: 200 }),
  email: s.text({ max: 320 }),
  active: s.flag(),
});
export type Member = Static<typeof Member>;
const SubjectCompany = s.object({ id: s.id(), name: s.text() });

/**
 * Members and subject companies are stored in the control plane, which passes them to operations that resolve names
 * (import, export, custom fields of members). `subjects` are those within the caller's scope.
 */
export const People = s.object({ members: s.list(Member, 20_000), subjects: s.list(SubjectCompany, 1_000) });
export type People = Static<typeof People>;
