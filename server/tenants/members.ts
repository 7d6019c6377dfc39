import type { Clock } from '../../data-plane-agent/base/clock.js';
import type { Database, Transaction } from '../../data-plane-agent/base/database/database.js';
import { fail, invalid } from '../../data-plane-agent/base/failures.js';
import { isId, newId } from '../../data-plane-agent/base/ids.js';
import type { Passwords } from '../auth/passwords.js';
import type { NameProfile } from '../auth/shapes.js';
import { AuditStore, type Actor } from '../store/audit.js';
import { MemberStore, type MemberRecord } from '../store/members.js';
import { RoleStore } from '../store/roles.js';
import { SessionStore } from '../store/sessions.js';
import { SubjectStore } from '../store/subjects.js';
import { TenantStore } from '../store/tenants.js';
import type { Changes } from './changes.js';
import { OWNER } from './roles.js';

interface MemberOf {
  readonly tenantId: string;
  readonly memberId: string;
}

/**
 * The members of tenants. Each change is audited in its own transaction and bites on the member's next request.
 * An unknown member is NOT_FOUND; an unknown role or subject REFERENCE_INVALID; the owner cannot be changed here (LAST_OWNER), nor anybody become one (OWNER_TRANSFER_REQUIRED).
 */
export interface Members {
  /** Without a password the member cannot sign in by one. Throws MEMBER_EXISTS, PASSWORD_TOO_WEAK. */
  add(member: NewMember, actor: Actor): Promise<MemberRecord>;
  setRole(change: MemberOf & { readonly roleCode: string }, actor: Actor): Promise<void>;
  /** `null` is all subject companies, an empty list none. */
  setScope(change: MemberOf & { readonly subjectScope: readonly string[] | null }, actor: Actor): Promise<void>;
  /** Disabling ends all sessions of the member. */
  setStatus(change: MemberOf & { readonly status: MemberRecord['status'] }, actor: Actor): Promise<void>;
}

export interface NewMember {
  readonly tenantId: string;
  readonly email: string;
  readonly name: string;
  readonly nameProfile?: NameProfile | null;
  readonly roleCode: string;
  readonly subjectScope?: readonly string[] | null;
  readonly password?: string;
}

export function createMembers({ database, clock, passwords, changes }: { database: Database; clock: Clock; passwords: Passwords; changes: Changes }): Members {
  /** Finds the member, lets `work` change it, audits what it answers, and tells it when it is committed. */
  const change = async (
    { tenantId, memberId }: MemberOf,
    { actor, action }: { actor: Actor; action: string },
    work: (tx: Transaction, member: MemberRecord, at: number) => Promise<Readonly<Record<string, unknown>>>,
  ): Promise<void> => {
    await database.write({ tenantId: null }, async (tx) => {
      const member = isId(tenantId) && isId(memberId) ? await new MemberStore(tx, tenantId).byId(memberId) : undefined;
      if (!member) throw fail('NOT_FOUND', {});
      const at = clock.now();
      const changed = await work(tx, member, at);
      await new TenantStore(tx).touchDirectory(tenantId);
      await new AuditStore(tx).append({ tenantId, at, actor, action, recordKind: 'member', recordId: memberId, changes: changed });
    });
    changes.tell({ kind: 'member', tenantId, memberId });
  };

  return {
    add: async (draft, actor) => {
      const { tenantId, name, roleCode, subjectScope = null } = draft;
      const email = draft.email.trim().toLowerCase();
      const passwordHash = draft.password === undefined ? null : await passwords.hash(draft.password);
      const member = await database.write({ tenantId: null }, async (tx) => {
        if (!isId(tenantId) || !(await new TenantStore(tx).byId(tenantId))) throw fail('NOT_FOUND', {});
        await refuseRole(tx, { tenantId, roleCode });
        await refuseScope(tx, { tenantId, subjectScope });
        const at = clock.now();
        const added: MemberRecord = {
          id: newId(), tenantId, email, name, nameProfile: draft.nameProfile ?? null, status: 'active', roleCode, subjectScope,
          preferences: {}, passwordHash, lastLoginAt: null, createdAt: at, updatedAt: at,
        };
        if (!(await new MemberStore(tx, tenantId).insert(added))) throw fail('MEMBER_EXISTS', { email });
        await new TenantStore(tx).touchDirectory(tenantId);
        await new AuditStore(tx).append({ tenantId, at, actor, action: 'member_added', recordKind: 'member', recordId: added.id, changes: { email, name, roleCode, subjectScope } });
        return added;
      });
      changes.tell({ kind: 'member', tenantId, memberId: member.id });
      return member;
    },

    setRole: ({ roleCode, ...who }, actor) =>
      change(who, { actor, action: 'member_role_changed' }, async (tx, member, at) => {
        refuseOwner(member);
        await refuseRole(tx, { tenantId: who.tenantId, roleCode });
        await new MemberStore(tx, who.tenantId).setRole({ id: member.id, roleCode, at });
        return { roleCode: { from: member.roleCode, to: roleCode } };
      }),

    setScope: ({ subjectScope, ...who }, actor) =>
      change(who, { actor, action: 'member_scope_changed' }, async (tx, member, at) => {
        await refuseScope(tx, { tenantId: who.tenantId, subjectScope });
        await new MemberStore(tx, who.tenantId).setScope({ id: member.id, subjectScope, at });
        return { subjectScope: { from: member.subjectScope, to: subjectScope } };
      }),

    setStatus: ({ status, ...who }, actor) =>
      change(who, { actor, action: status === 'disabled' ? 'member_disabled' : 'member_enabled' }, async (tx, member, at) => {
        refuseOwner(member);
        await new MemberStore(tx, who.tenantId).setStatus({ id: member.id, status, at });
        const sessionsRevoked = status === 'disabled' ? await new SessionStore(tx).revokeAllOf({ ...who, at }) : 0;
        return { status: { from: member.status, to: status }, sessionsRevoked };
      }),
  };
}

function refuseOwner(member: MemberRecord): void {
  if (member.roleCode === OWNER) throw fail('LAST_OWNER', {});
}

async function refuseRole(tx: Transaction, { tenantId, roleCode }: { tenantId: string; roleCode: string }): Promise<void> {
  if (roleCode === OWNER) throw fail('OWNER_TRANSFER_REQUIRED', {});
  if (!(await new RoleStore(tx, tenantId).exists(roleCode))) throw fail('REFERENCE_INVALID', { field: 'roleCode', value: roleCode });
}

/** The scope travels in every access token and in every call to the data plane. */
const MAX_SCOPE = 1_000;

async function refuseScope(tx: Transaction, { tenantId, subjectScope }: { tenantId: string; subjectScope: readonly string[] | null }): Promise<void> {
  if (subjectScope === null) return;
  if (subjectScope.length > MAX_SCOPE) throw invalid({ path: 'subjectScope', problem: `must have at most ${MAX_SCOPE} items` });
  const known = new Set((await new SubjectStore(tx, tenantId).all()).map(({ id }) => id));
  const stranger = subjectScope.findIndex((id) => !known.has(id));
  if (stranger >= 0) throw fail('REFERENCE_INVALID', { field: `subjectScope[${stranger}]`, value: subjectScope[stranger] ?? '' });
}
