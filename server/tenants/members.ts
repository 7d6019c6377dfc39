import { addressToKeep } from '../../data-plane-agent/base/addresses.js';
import type { Database, Transaction } from '../../data-plane-agent/base/database/database.js';
import { fail } from '../../data-plane-agent/base/failures.js';
import { isId, newId } from '../../data-plane-agent/base/ids.js';
import type { Passwords } from '../credentials/passwords.js';
import type { NameProfile } from '../access/person.schemas.js';
import { holdEmailCode, type SignInMethods } from '../credentials/sign-in-methods.js';
import type { MailOutbox } from '../notifications/mail.js';
import type { Actor } from '../access/actor.js';
import { MemberStore, type ListedMember, type MemberRecord } from '../store/members.js';
import { SessionStore } from '../store/sessions.js';
import { notifyOfAdminChange } from './admin-rights.js';
import { endCalendar } from './calendar-end.js';
import { differences, type ChangeTenant } from './change.js';
import { administers, checkMemberChange, checkRole, checkScope, isSelf } from './member-rules.js';
import { OWNER } from './roles.js';

export type { ListedMember };

interface MemberOf {
  readonly tenantId: string;
  readonly memberId: string;
}

/**
 * The members of tenants. Each change is audited in the same transaction and applies from the member's next request. An
 * unknown member is NOT_FOUND, an unknown role or subject company REFERENCE_INVALID. Others cannot change the owner
 * (LAST_OWNER), nobody can be made owner (OWNER_TRANSFER_REQUIRED), and members cannot change their own permissions
 * (SELF_CHANGE_FORBIDDEN). If new permissions require a second factor that is missing, sessions are restricted to
 * `/auth`.
 */
export interface Members {
  /** Includes disabled members, in the order in which they joined. */
  list(tenantId: string): Promise<ListedMember[]>;
  /** Finds the member with a normalised email address, including disabled members. */
  byEmail(of: { readonly tenantId: string; readonly email: string }): Promise<MemberRecord | undefined>;
  /** Without a password the member cannot sign in by password. Throws MEMBER_EXISTS, PASSWORD_TOO_WEAK. */
  add(member: NewMember, actor: Actor): Promise<MemberRecord>;
  /**
   * Updates the given fields. Throws MEMBER_EXISTS for an email of another member. Changing the address, granting a
   * role with admin (edit) and enabling a member with admin (edit) require a recent sign-in (RECENT_LOGIN_REQUIRED).
   * The address of a member with admin (edit) can be changed only by that member, that of a member who lost it within
   * seven days only by the owner (EMAIL_CHANGE_FORBIDDEN). After a change of address the previous address is notified,
   * and the member's sessions end, except the one in which they made the change themselves. Members who gain or lose
   * admin (edit) are notified.
   */
  update(change: MemberOf & MemberPatch, actor: Actor): Promise<ListedMember>;
  setRole(change: MemberOf & { readonly roleCode: string }, actor: Actor): Promise<void>;
  /** `null` means all subject companies, an empty list none. */
  setScope(change: MemberOf & { readonly subjectScope: readonly string[] | null }, actor: Actor): Promise<void>;
  /** Disabling ends all sessions of the member. */
  setStatus(change: MemberOf & { readonly status: MemberRecord['status'] }, actor: Actor): Promise<void>;
  /** Ends all sessions of the member, who can sign in again. Only the owner can end the owner's (LAST_OWNER). */
  endSessions(member: MemberOf, actor: Actor): Promise<void>;
}

export type MemberPatch = Partial<Pick<MemberRecord, 'name' | 'email' | 'roleCode' | 'subjectScope' | 'status'>>;

export interface NewMember {
  readonly tenantId: string;
  readonly email: string;
  readonly name: string;
  readonly nameProfile?: NameProfile | null;
  readonly roleCode: string;
  readonly subjectScope?: readonly string[] | null;
  readonly password?: string;
}

export function createMembers({
  database,
  passwords,
  change,
  mail,
  signInMethods,
}: {
  database: Database;
  passwords: Passwords;
  change: ChangeTenant;
  mail: MailOutbox;
  signInMethods: SignInMethods;
}): Members {
  const update = ({ tenantId, memberId, ...given }: MemberOf & MemberPatch, actor: Actor): Promise<ListedMember> =>
    change(
      { tenantId, actor, action: actionOf(given), recordKind: 'member', inDirectory: true },
      async (tx, tenant, at) => {
        const members = new MemberStore(tx, tenantId);
        const member = isId(memberId) ? await members.listed(memberId) : undefined;
        if (!member) throw fail('NOT_FOUND', {});
        const patch = inNormalForm(given);
        const changed = differences<MemberRecord>(member, patch);
        if (!changed) return { answer: member, changed };
        const newEmail = changed['email'] !== undefined;
        const wasAdmin = await administers(tx, member);
        const isAdmin =
          changed['roleCode'] === undefined
            ? wasAdmin
            : await administers(tx, { tenantId, roleCode: patch.roleCode ?? member.roleCode });
        // Enabling a disabled administrator grants as much as assigning the role.
        const givesAdmin =
          isAdmin &&
          (changed['roleCode'] !== undefined || (changed['status'] !== undefined && patch.status === 'active'));
        if ((newEmail || givesAdmin) && actor.kind === 'user')
          await signInMethods.requireRecentLogin(tx, { sessionId: actor.sessionId });
        await checkMemberChange(tx, { member, changed: new Set(Object.keys(changed)), patch, actor, at });
        if (!(await members.update({ id: memberId, fields: patch, at })))
          throw fail('MEMBER_EXISTS', { email: patch.email ?? '' });
        if (wasAdmin && !isAdmin) await members.loseAdmin({ id: memberId, at });
        if (wasAdmin !== isAdmin)
          await notifyOfAdminChange(tx, mail, { tenant, members: [member], change: isAdmin ? 'gained' : 'lost' });
        const disabled = changed['status'] !== undefined && patch.status === 'disabled';
        if (disabled) await endCalendar(tx, { tenantId, memberId, at, actor, reason: 'member_disabled' });
        const ended = newEmail
          ? await moved(tx, { member, actor, at })
          : disabled
            ? { sessionsRevoked: await new SessionStore(tx).revokeAllOf({ tenantId, memberId, at }) }
            : {};
        return {
          answer: { ...member, ...patch, updatedAt: at },
          changed: { ...changed, ...ended },
          recordId: memberId,
        };
      },
    );

  /** After a change of address, codes sent by mail are disabled for a while, and the previous address is notified. */
  const moved = async (
    tx: Transaction,
    { member: { tenantId, id: memberId, email }, actor, at }: { member: MemberRecord; actor: Actor; at: number },
  ) => {
    await holdEmailCode(tx, { tenantId, memberId, at });
    return signInMethods.changed(tx, {
      tenantId,
      memberId,
      change: 'email_changed',
      to: email,
      sessionId: isSelf(memberId, actor) ? (actor.sessionId ?? null) : null,
    });
  };

  return {
    list: (tenantId) => database.read({ tenantId: null }, (tx) => new MemberStore(tx, tenantId).list()),

    byEmail: ({ tenantId, email }) =>
      database.read({ tenantId: null }, (tx) => new MemberStore(tx, tenantId).byEmail(email)),

    add: async (draft, actor) => {
      const { tenantId, name, roleCode, subjectScope = null } = draft;
      const email = addressToKeep(draft.email);
      const passwordHash = draft.password === undefined ? null : await passwords.hash(draft.password);
      return change(
        { tenantId, actor, action: 'member_added', recordKind: 'member', inDirectory: true },
        async (tx, _tenant, at) => {
          await checkRole(tx, { tenantId, roleCode });
          await checkScope(tx, { tenantId, subjectScope });
          const added: MemberRecord = {
            id: newId(),
            tenantId,
            email,
            name,
            nameProfile: draft.nameProfile ?? null,
            status: 'active',
            roleCode,
            subjectScope,
            preferences: {},
            passwordHash,
            lastLoginAt: null,
            createdAt: at,
            updatedAt: at,
          };
          if (!(await new MemberStore(tx, tenantId).insert(added))) throw fail('MEMBER_EXISTS', { email });
          return { answer: added, changed: { email, name, roleCode, subjectScope }, recordId: added.id };
        },
      );
    },

    update,
    setRole: async (asked, actor) => void (await update(asked, actor)),
    setScope: async (asked, actor) => void (await update(asked, actor)),
    setStatus: async (asked, actor) => void (await update(asked, actor)),

    endSessions: ({ tenantId, memberId }, actor) =>
      change({ tenantId, actor, action: 'member_sessions_ended', recordKind: 'member' }, async (tx, _tenant, at) => {
        // Locked, to serialise with a concurrent sign-in.
        const member = isId(memberId) ? await new MemberStore(tx, tenantId).lock(memberId) : undefined;
        if (!member) throw fail('NOT_FOUND', {});
        if (member.roleCode === OWNER && !isSelf(memberId, actor)) throw fail('LAST_OWNER', {});
        return {
          answer: undefined,
          changed: { sessionsRevoked: await new SessionStore(tx).revokeAllOf({ tenantId, memberId, at }) },
          recordId: memberId,
        };
      }),
  };
}

const inNormalForm = ({ email, subjectScope, ...rest }: MemberPatch): MemberPatch => ({
  ...rest,
  ...(email === undefined ? {} : { email: addressToKeep(email) }),
  ...(subjectScope === undefined ? {} : { subjectScope: subjectScope && [...new Set(subjectScope)] }),
});

/** A change of a single field has its own action name. */
function actionOf(patch: MemberPatch): string {
  const [field, ...more] = Object.keys(patch);
  if (more.length > 0) return 'member_changed';
  if (field === 'roleCode') return 'member_role_changed';
  if (field === 'subjectScope') return 'member_scope_changed';
  if (field === 'status') return patch.status === 'disabled' ? 'member_disabled' : 'member_enabled';
  return 'member_changed';
}
