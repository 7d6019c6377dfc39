import { addressToKeep } from '../../data-plane-agent/base/addresses.js';
import type { Database, Transaction } from '../../data-plane-agent/base/database/database.js';
import { fail } from '../../data-plane-agent/base/failures.js';
import { isId, newId } from '../../data-plane-agent/base/ids.js';
import type { Passwords } from '../credentials/passwords.js';
import type { NameProfile } from '../access/person.schemas.js';
import { holdEmailCode, type WaysIn } from '../credentials/ways-in.js';
import type { MailOutbox } from '../notifications/mail.js';
import type { Actor } from '../access/actor.js';
import { MemberStore, type ListedMember, type MemberRecord } from '../store/members.js';
import { SessionStore } from '../store/sessions.js';
import { tellOfAdmin } from './admin-rights.js';
import { differences, type ChangeTenant } from './change.js';
import { administers, checkMemberChange, checkRole, checkScope, isSelf } from './member-rules.js';
import { OWNER } from './roles.js';

export type { ListedMember };

interface MemberOf {
  readonly tenantId: string;
  readonly memberId: string;
}

/**
 * The members of tenants. Each change is audited in its own transaction and bites on the member's next request.
 * An unknown member is NOT_FOUND; an unknown role or subject REFERENCE_INVALID; the owner cannot be changed by others
 * (LAST_OWNER), nor anybody become one (OWNER_TRANSFER_REQUIRED), nor one's own rights be changed by oneself
 * (SELF_CHANGE_FORBIDDEN). Rights that ask for a second factor which is not there leave sessions to `/auth` alone, as
 * each request finds.
 */
export interface Members {
  /** In the order in which they came, disabled ones too. */
  list(tenantId: string): Promise<ListedMember[]>;
  /** The member whose address it is, in the form in which addresses are kept; disabled ones too. */
  byEmail(of: { readonly tenantId: string; readonly email: string }): Promise<MemberRecord | undefined>;
  /** Without a password the member cannot sign in by one. Throws MEMBER_EXISTS, PASSWORD_TOO_WEAK. */
  add(member: NewMember, actor: Actor): Promise<MemberRecord>;
  /**
   * Changes what is given. Throws MEMBER_EXISTS for an email that another member has. Another address, and a role with
   * admin (edit), is set soon after a sign-in only, and a disabled member with admin (edit) let in again
   * (RECENT_LOGIN_REQUIRED); the address of who has admin (edit) by nobody else, and of who lost it within seven days
   * by the owner alone (EMAIL_CHANGE_FORBIDDEN). The address of before is told, and the member's sessions end but the
   * one in which they did it themselves. Who gains or loses admin (edit) is told.
   */
  update(change: MemberOf & MemberPatch, actor: Actor): Promise<ListedMember>;
  setRole(change: MemberOf & { readonly roleCode: string }, actor: Actor): Promise<void>;
  /** `null` is all subject companies, an empty list none. */
  setScope(change: MemberOf & { readonly subjectScope: readonly string[] | null }, actor: Actor): Promise<void>;
  /** Disabling ends all sessions of the member. */
  setStatus(change: MemberOf & { readonly status: MemberRecord['status'] }, actor: Actor): Promise<void>;
  /** Ends all sessions of the member, who may sign in again. The owner's are for the owner (LAST_OWNER). */
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
  waysIn,
}: {
  database: Database;
  passwords: Passwords;
  change: ChangeTenant;
  mail: MailOutbox;
  waysIn: WaysIn;
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
        const administered = await administers(tx, member);
        const administrates =
          changed['roleCode'] === undefined
            ? administered
            : await administers(tx, { tenantId, roleCode: patch.roleCode ?? member.roleCode });
        // To let a disabled administrator in again gives as much as the role does.
        const givesAdmin =
          administrates &&
          (changed['roleCode'] !== undefined || (changed['status'] !== undefined && patch.status === 'active'));
        if ((newEmail || givesAdmin) && actor.kind === 'user')
          await waysIn.requireRecentLogin(tx, { sessionId: actor.sessionId });
        await checkMemberChange(tx, { member, changed: new Set(Object.keys(changed)), patch, actor, at });
        if (!(await members.update({ id: memberId, fields: patch, at })))
          throw fail('MEMBER_EXISTS', { email: patch.email ?? '' });
        if (administered && !administrates) await members.loseAdmin({ id: memberId, at });
        if (administered !== administrates)
          await tellOfAdmin(tx, mail, { tenant, members: [member], change: administrates ? 'gained' : 'lost' });
        const disabled = changed['status'] !== undefined && patch.status === 'disabled';
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

  /** The address has changed: what came to either mailbox is no second factor for now, and the old one is told. */
  const moved = async (
    tx: Transaction,
    { member: { tenantId, id: memberId, email }, actor, at }: { member: MemberRecord; actor: Actor; at: number },
  ) => {
    await holdEmailCode(tx, { tenantId, memberId, at });
    return waysIn.changed(tx, {
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
        // Held: whoever signs in at this moment comes wholly before or after.
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

/** A change of one thing is named by it. */
function actionOf(patch: MemberPatch): string {
  const [field, ...more] = Object.keys(patch);
  if (more.length > 0) return 'member_changed';
  if (field === 'roleCode') return 'member_role_changed';
  if (field === 'subjectScope') return 'member_scope_changed';
  if (field === 'status') return patch.status === 'disabled' ? 'member_disabled' : 'member_enabled';
  return 'member_changed';
}
