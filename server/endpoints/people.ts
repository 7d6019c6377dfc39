import type { People } from '../../data-plane-agent/plane/contract/records/people.js';
import type { Principal } from '../auth/principal.js';
import type { Services } from '../services.js';

/** Who there is in the caller's tenant, and which subject companies he may see, for operations that know people by name. */
export async function peopleOf({ tenant, user }: Principal, { directory }: Pick<Services, 'directory'>): Promise<People> {
  const known = await directory.of(tenant.id);
  return {
    members: known.members().map(({ id, name, email, active }) => ({ id, name, email, active })),
    subjects: known.subjects().filter(({ id }) => user.subjectScope?.includes(id) ?? true).map(({ id, name }) => ({ id, name })),
  };
}
