import { fail } from '../../../base/failures.js';
import type { People } from '../../contract/records/people.js';
import type { ContractRow } from '../../tables/contracts.js';

/** The fields that refer to a member or a subject company. */
export const NAMING = ['subjectId', 'ownerId', 'ownerSuperiorId'] as const;

/**
 * Refuses references to inactive or unknown members, and to subject companies outside the caller's scope, unless the
 * contract already has them. `path` maps a field to its path in the request.
 */
export function checkPeople(
  changes: Readonly<Record<string, unknown>>,
  people: People,
  {
    present,
    path = (field) => field,
  }: {
    readonly present?: Pick<ContractRow, (typeof NAMING)[number]> | undefined;
    readonly path?: (field: string) => string;
  } = {},
): void {
  for (const field of NAMING) {
    const id = changes[field];
    if (typeof id !== 'string' || id === present?.[field]) continue;
    const isThere =
      field === 'subjectId'
        ? people.subjects.some((subject) => subject.id === id)
        : people.members.some((member) => member.id === id && member.active);
    if (!isThere) throw fail('REFERENCE_INVALID', { field: path(field), value: id });
  }
}
