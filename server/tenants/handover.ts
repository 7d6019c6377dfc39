import type { Transaction } from '../../data-plane-agent/base/database/database.js';
import { fail } from '../../data-plane-agent/base/failures.js';
import { isId } from '../../data-plane-agent/base/ids.js';
import type { HandoverTotals } from '../../data-plane-agent/plane/contract/records/ownership.js';
import type { Actor } from '../access/actor.js';
import type { KeyedDatabase } from '../store/keyed-database.js';
import { MemberStore, type ListedMember } from '../store/members.js';
import { SessionStore } from '../store/sessions.js';
import type { ChangeTenant } from './change.js';
import { OWNER } from './roles.js';

type OfMember = { readonly tenantId: string; readonly memberId: string };

/** How a person leaves: what he holds goes to a successor on the data plane first, and then his way in is closed. An unknown member is NOT_FOUND. */
export interface Handover {
  /** The member, and who might succeed him in contracts of these subject companies. */
  preview(member: OfMember & { readonly subjectIds: readonly string[] }, actor: Actor): Promise<HandoverPreview>;
  /**
   * Whether it may be done, and with whom. `superiorIds` are candidates for the successor's superior, the best first. Throws LAST_OWNER,
   * SELF_CHANGE_FORBIDDEN, REFERENCE_INVALID and SUCCESSOR_INVALID.
   */
  plan(handover: OfMember & { readonly successorUserId: string; readonly disable: boolean; readonly superiorIds: readonly string[] }, actor: Actor): Promise<HandoverPlan>;
  /** After the data plane has moved everything: disables the member, ends his sessions, and tells the audit. */
  finish(handover: OfMember & { readonly successorUserId: string; readonly disable: boolean; readonly transferred: HandoverTotals }, actor: Actor): Promise<{ readonly disabled: boolean; readonly auditId: string }>;
}

export interface HandoverPreview {
  readonly member: ListedMember;
  readonly blockers: readonly { readonly code: string; readonly message: string }[];
  readonly suggestedSuccessors: readonly ListedMember[];
}

export interface HandoverPlan {
  /** Whose personal views they were is said in their names. */
  readonly memberName: string;
  readonly successorId: string;
  readonly successorScope: string[] | null;
  readonly successorSuperiorId: string | null;
}

const SUGGESTED = 20;

export function createHandover({ database, change }: { database: KeyedDatabase; change: ChangeTenant }): Handover {
  return {
    preview: ({ tenantId, memberId, subjectIds }, actor) =>
      database.read({ tenantId: null }, async (tx) => {
        const members = await new MemberStore(tx, tenantId).list();
        const member = members.find(({ id }) => id === memberId);
        if (!member) throw fail('NOT_FOUND', {});
        const fit = members.filter(({ id, status, subjectScope }) => id !== memberId && status === 'active' && subjectIds.every((subject) => subjectScope?.includes(subject) ?? true));
        // Colleagues in the same role first.
        const suggestedSuccessors = fit.toSorted((a, b) => Number(b.roleCode === member.roleCode) - Number(a.roleCode === member.roleCode)).slice(0, SUGGESTED);
        return { member, blockers: blockersOf({ member, actor, fit }), suggestedSuccessors };
      }),

    plan: async ({ tenantId, memberId, successorUserId, disable, superiorIds }, actor) => {
      // Both planes have their answers: nobody looks at the plan.
      if (await database.hasAnswered(actor.keyed)) return { memberName: '', successorId: successorUserId, successorScope: null, successorSuperiorId: null };
      return database.read({ tenantId: null }, async (tx) => {
        const members = new MemberStore(tx, tenantId);
        const member = await found(members, memberId);
        refuse({ member, actor, disable });
        const successor = isId(successorUserId) ? await members.byId(successorUserId) : undefined;
        if (!successor) throw fail('REFERENCE_INVALID', { field: 'successorUserId', value: successorUserId });
        if (successor.id === member.id) throw fail('SUCCESSOR_INVALID', { field: 'successorUserId', reason: 'the same person' });
        if (successor.status !== 'active') throw fail('SUCCESSOR_INVALID', { field: 'successorUserId', reason: 'disabled' });
        const active = new Set((await members.names()).filter((one) => one.active && one.id !== memberId).map(({ id }) => id));
        return { memberName: member.name, successorId: successor.id, successorScope: successor.subjectScope && [...successor.subjectScope], successorSuperiorId: superiorIds.find((id) => active.has(id)) ?? null };
      });
    },

    finish: ({ tenantId, memberId, successorUserId, disable, transferred }, actor) =>
      change({ tenantId, actor, action: 'member_offboarded', recordKind: 'member', inDirectory: true }, async (tx, _tenant, at, auditId) => {
        const member = await found(new MemberStore(tx, tenantId), memberId);
        refuse({ member, actor, disable });
        const sessionsRevoked = disable ? await closeTheWayIn(tx, { tenantId, memberId, at }) : 0;
        const changed = { successorId: successorUserId, transferred, sessionsRevoked, ...(disable && member.status === 'active' ? { status: { from: 'active', to: 'disabled' } } : {}) };
        return { answer: { disabled: disable || member.status === 'disabled', auditId }, changed, recordId: memberId };
      }),
  };
}

async function found(members: MemberStore, id: string): Promise<ListedMember> {
  const member = isId(id) ? await members.listed(id) : undefined;
  if (!member) throw fail('NOT_FOUND', {});
  return member;
}

const isSelf = (member: { readonly id: string }, actor: Actor): boolean => actor.kind === 'user' && actor.id === member.id;

function refuse({ member, actor, disable }: { member: ListedMember; actor: Actor; disable: boolean }): void {
  if (member.roleCode === OWNER) throw fail('LAST_OWNER', {});
  if (disable && isSelf(member, actor)) throw fail('SELF_CHANGE_FORBIDDEN', {});
}

function blockersOf({ member, actor, fit }: { member: ListedMember; actor: Actor; fit: readonly unknown[] }) {
  return [
    ...(member.roleCode === OWNER ? [{ code: 'LAST_OWNER', message: 'The owner transfers ownership first.' }] : []),
    ...(isSelf(member, actor) && member.roleCode !== OWNER ? [{ code: 'SELF_CHANGE_FORBIDDEN', message: 'Nobody disables himself.' }] : []),
    ...(fit.length === 0 ? [{ code: 'NO_SUCCESSOR', message: 'No active member may see all subject companies of what would move.' }] : []),
  ];
}

async function closeTheWayIn(tx: Transaction, { tenantId, memberId, at }: OfMember & { at: number }): Promise<number> {
  await new MemberStore(tx, tenantId).setStatus({ id: memberId, status: 'disabled', at });
  return new SessionStore(tx).revokeAllOf({ tenantId, memberId, at });
}
