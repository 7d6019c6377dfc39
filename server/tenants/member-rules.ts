import type { Transaction } from '../../data-plane-agent/base/database/database.js';
import { fail, invalid } from '../../data-plane-agent/base/failures.js';
import { edit, meets } from '../access/permissions.js';
import type { Actor } from '../access/actor.js';
import { MemberStore, type ListedMember, type MemberRecord } from '../store/members.js';
import { RoleStore } from '../store/roles.js';
import { SubjectStore } from '../store/subjects.js';
import { ADMIN_LOST_MS } from './admin-rights.js';
import { OWNER } from './roles.js';

interface MemberChange {
  readonly member: ListedMember;
  /** The names of the changed fields. */
  readonly changed: ReadonlySet<string>;
  readonly patch: Partial<Pick<MemberRecord, 'roleCode' | 'subjectScope'>>;
  readonly actor: Actor;
  readonly at: number;
}

/**
 * Refuses changes that are not allowed to anyone, whatever their permissions, and unknown roles and subject companies.
 */
export async function checkMemberChange(
  tx: Transaction,
  { member, changed, patch, actor, at }: MemberChange,
): Promise<void> {
  const { tenantId } = member;
  const self = isSelf(member.id, actor);
  if (member.roleCode === OWNER) {
    // Changing the owner's email would allow resetting the owner's password, which amounts to a transfer of ownership.
    const fields = ['roleCode', 'subjectScope', 'status', ...(self ? [] : ['email'])];
    if (fields.some((field) => changed.has(field))) throw fail('LAST_OWNER', {});
  }
  if (self && ['roleCode', 'subjectScope', 'status'].some((field) => changed.has(field)))
    throw fail('SELF_CHANGE_FORBIDDEN', {});
  // The same applies to administrators, including a member whom this request makes an administrator.
  const isAdministrator = async () =>
    (await administers(tx, member)) ||
    (await administers(tx, { tenantId, roleCode: patch.roleCode ?? member.roleCode }));
  if (
    !self &&
    changed.has('email') &&
    ((await isAdministrator()) || (hasLostAdmin(member, at) && !(await isOwner(tx, { tenantId, actor }))))
  )
    throw fail('EMAIL_CHANGE_FORBIDDEN', {});
  if (patch.roleCode !== undefined && changed.has('roleCode'))
    await checkRole(tx, { tenantId, roleCode: patch.roleCode });
  if (patch.subjectScope !== undefined && changed.has('subjectScope'))
    await checkScope(tx, { tenantId, subjectScope: patch.subjectScope });
}

/** Recently: otherwise one request could demote the member and the next one change the address. */
const hasLostAdmin = ({ adminLostAt }: ListedMember, at: number): boolean =>
  adminLostAt !== null && at - adminLostAt < ADMIN_LOST_MS;

const isOwner = async (tx: Transaction, { tenantId, actor }: { tenantId: string; actor: Actor }): Promise<boolean> =>
  actor.kind === 'user' &&
  actor.id !== null &&
  (await new MemberStore(tx, tenantId).byId(actor.id))?.roleCode === OWNER;

/** Whether the member is the caller. */
export const isSelf = (memberId: string, actor: Actor): boolean => actor.kind === 'user' && actor.id === memberId;

/** Throws OWNER_TRANSFER_REQUIRED for the owner's role, REFERENCE_INVALID for an unknown role. */
export async function checkRole(
  tx: Transaction,
  { tenantId, roleCode }: { tenantId: string; roleCode: string },
): Promise<void> {
  if (roleCode === OWNER) throw fail('OWNER_TRANSFER_REQUIRED', {});
  const roles = new RoleStore(tx, tenantId);
  if (!(await roles.exists(roleCode)))
    throw fail('REFERENCE_INVALID', {
      field: 'roleCode',
      value: roleCode,
      // The owner's role is handed over, and cannot be assigned.
      allowed: (await roles.all()).map(({ code }) => code).filter((code) => code !== OWNER),
    });
}

/** Whether the role has admin (edit). */
export async function administers(
  tx: Transaction,
  { tenantId, roleCode }: { tenantId: string; roleCode: string },
): Promise<boolean> {
  const role = await new RoleStore(tx, tenantId).byCode(roleCode);
  return role !== undefined && meets(role.permissions, edit('admin'));
}

/**
 * Whether the inviter may still invite to the role, checked when the invitation is accepted. Administrators may invite
 * to every role but the owner's, so the present permissions of both roles are used.
 */
export async function mayInvite(
  tx: Transaction,
  { tenantId, inviterId, roleCode }: { tenantId: string; inviterId: string; roleCode: string },
): Promise<boolean> {
  const inviter = await new MemberStore(tx, tenantId).byId(inviterId);
  if (inviter?.status !== 'active' || roleCode === OWNER || !(await new RoleStore(tx, tenantId).exists(roleCode)))
    return false;
  return administers(tx, { tenantId, roleCode: inviter.roleCode });
}

/** Limited because the scope is part of every access token and every call to the data plane. */
const MAX_SCOPE = 1_000;

/** Throws REFERENCE_INVALID, which names the element, for an unknown subject company. */
export async function checkScope(
  tx: Transaction,
  { tenantId, subjectScope }: { tenantId: string; subjectScope: readonly string[] | null },
): Promise<void> {
  if (subjectScope === null) return;
  if (subjectScope.length > MAX_SCOPE)
    throw invalid({ path: 'subjectScope', problem: `must have at most ${MAX_SCOPE} items` });
  const known = new Set((await new SubjectStore(tx, tenantId).all()).map(({ id }) => id));
  const unknown = subjectScope.findIndex((id) => !known.has(id));
  if (unknown >= 0)
    throw fail('REFERENCE_INVALID', { field: `subjectScope[${unknown}]`, value: subjectScope[unknown] ?? '' });
}
