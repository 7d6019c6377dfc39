import type { Member, People } from '../../data-plane-agent/plane/contract/records/people.js';
import type { Principal } from '../access/principal.js';
import type { Services } from '../services/services.js';

/**
 * Returns all members of the caller's tenant and the subject companies visible to the caller, for operations that
 * accept names instead of ids.
 */
export async function peopleOf(
  { tenant, user }: Principal,
  { directory }: Pick<Services, 'directory'>,
): Promise<People> {
  const known = await directory.of(tenant.id);
  return {
    members: known.members().map(({ id, name, email, active }) => ({ id, name, email, active })),
    subjects: known
      .subjects()
      .filter(({ id }) => user.subjectScope?.includes(id) ?? true)
      .map(({ id, name }) => ({ id, name })),
  };
}

/**
 * Returns the members whose ids occur in the custom values of a request. The directory is not read for a request
 * without custom values.
 */
export async function membersNamed(
  { dynamicFields }: { readonly dynamicFields?: Readonly<Record<string, unknown>> | null },
  { principal, services }: { readonly principal: Principal; readonly services: Services },
): Promise<{ members?: Member[] }> {
  const texts = new Set(
    Object.values(dynamicFields ?? {})
      .filter((value) => typeof value === 'string')
      .map((text) => text.trim()),
  );
  if (texts.size === 0) return {};
  const known = await services.directory.of(principal.tenant.id);
  return {
    members: known
      .members()
      .filter(({ id }) => texts.has(id))
      .map(({ id, name, email, active }) => ({ id, name, email, active })),
  };
}
