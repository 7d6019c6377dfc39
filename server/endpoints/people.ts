import type { Member, People } from '../../data-plane-agent/plane/contract/records/people.js';
import type { Principal } from '../access/principal.js';
import type { Services } from '../services/services.js';

/**
 * Who there is in the caller's tenant, and which subject companies he may see, for operations that know people by name.
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
 * Of the tenant's members, those whose ids stand in the custom values of a request. Nobody is looked up for a request
 * without.
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
