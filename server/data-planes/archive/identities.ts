import type { Value } from '../../../data-plane-agent/base/database/database.js';
import { newId } from '../../../data-plane-agent/base/ids.js';
import type { PlatformRecord } from './platform-records.js';

/** The ids of an export that are others where it is imported. */
export type Identities = ReadonlyMap<string, string>;

/**
 * A member whose address a member of the organisation has already is that member. All others keep their ids, unless a
 * member with another address has the id.
 */
export function identitiesOf({
  tenantId,
  exportedTenantId,
  members,
  present,
}: {
  readonly tenantId: string;
  readonly exportedTenantId: string;
  readonly members: readonly PlatformRecord<'members'>[];
  readonly present: readonly { readonly id: string; readonly email: string }[];
}): Identities {
  const byEmail = new Map(present.map(({ id, email }) => [email, id]));
  const taken = new Set(present.map(({ id }) => id));
  const changed = new Map<string, string>();
  if (tenantId !== exportedTenantId) changed.set(exportedTenantId, tenantId);
  for (const { id, email } of members) {
    const now = byEmail.get(email) ?? (taken.has(id) ? newId() : id);
    if (now !== id) changed.set(id, now);
  }
  return changed;
}

const ID = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g;

/** Ids are random: wherever one occurs, in lists and texts as well, it is the member. */
export const withIdentities = (identities: Identities, values: readonly Value[]): Value[] =>
  identities.size === 0
    ? [...values]
    : values.map((value) => (typeof value === 'string' ? value.replace(ID, (id) => identities.get(id) ?? id) : value));
