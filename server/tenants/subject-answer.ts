import { shown } from '../../data-plane-agent/plane/domain/sensitive.js';
import { meets, view, type Permissions } from '../access/permissions.js';
import type { SubjectRecord } from '../store/subjects.js';
import { iso } from '../../data-plane-agent/base/instants.js';

/** A subject company in answers: the account number is masked unless the role may see account numbers. */
export const subjectAnswer = (
  { createdAt, updatedAt, defaultPayeeAccount, ...subject }: SubjectRecord,
  permissions: Permissions,
) => ({
  ...subject,
  defaultPayeeAccount: shown(defaultPayeeAccount, { sensitive: meets(permissions, view('sensitive_data')) }),
  createdAt: iso(createdAt),
  updatedAt: iso(updatedAt),
});
