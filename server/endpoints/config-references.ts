import { fail } from '../../data-plane-agent/base/failures.js';
import type { Effects } from '../../data-plane-agent/plane/contract/records/conditions.js';
import type { Principal } from '../access/principal.js';
import type { Services } from '../services/services.js';

/**
 * Roles, channels and members are stored in the control plane: references to them are checked before the data plane is
 * called.
 */
interface Caller {
  readonly principal: Principal;
  readonly services: Services;
  /** Loads the record named in the path, so that a missing record is reported before a bad reference. */
  readonly found?: () => Promise<unknown>;
}

/** Refuses role codes that the tenant does not have. `field` is the list in the request. */
export async function checkRoleCodes(
  field: string,
  codes: readonly string[] | null | undefined,
  { principal, services, found }: Caller,
): Promise<void> {
  const unknown = await unknownRoleIn(field, codes, { principal, services });
  if (!unknown) return;
  await found?.();
  throw fail('REFERENCE_INVALID', unknown);
}

/** Returns the first unknown code, or `undefined` if all are known. */
export async function unknownRoleIn(
  field: string,
  codes: readonly string[] | null | undefined,
  { principal, services }: Omit<Caller, 'found'>,
): Promise<{ readonly field: string; readonly value: string } | undefined> {
  if (!codes || codes.length === 0) return undefined;
  const known = new Set((await services.tenants.roles.list(principal.tenant.id)).map(({ code }) => code));
  const at = codes.findIndex((code) => !known.has(code));
  return at < 0 ? undefined : { field: `${field}[${at}]`, value: codes[at] ?? '' };
}

/**
 * Refuses effects that name a channel the tenant does not have, or assign a task to someone who is not an active
 * member.
 */
export async function checkEffects(
  effects: Effects | null | undefined,
  { principal, services, found }: Caller,
): Promise<void> {
  const { notifyChannelId, createTask } = effects ?? {};
  if (
    notifyChannelId &&
    !(await services.tenants.channels.list(principal.tenant.id)).some(({ id }) => id === notifyChannelId)
  ) {
    await found?.();
    throw fail('REFERENCE_INVALID', { field: 'effects.notifyChannelId', value: notifyChannelId });
  }
  const ownerId = createTask?.ownerId;
  if (ownerId && !(await services.directory.of(principal.tenant.id)).hasActiveMember(ownerId)) {
    await found?.();
    throw fail('REFERENCE_INVALID', { field: 'effects.createTask.ownerId', value: ownerId });
  }
}
