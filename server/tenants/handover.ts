import { fail } from '../../data-plane-agent/base/failures.js';
import { isId, newId } from '../../data-plane-agent/base/ids.js';
import type { HandoverExtent, HandoverTotals } from '../../data-plane-agent/plane/contract/records/ownership.js';
import type { Actor } from '../access/actor.js';
import type { Plane } from '../data-planes/plane.js';
import type { KeyedDatabase } from '../store/keyed-database.js';
import { MemberStore, type ListedMember, type MemberRecord } from '../store/members.js';
import { SessionStore } from '../store/sessions.js';
import { endCalendar } from './calendar-end.js';
import type { ChangeTenant } from './change.js';
import { OWNER } from './roles.js';

type OfMember = { readonly tenantId: string; readonly memberId: string };

/**
 * Offboarding of members: their records are transferred to a successor on the data plane, then the member is disabled.
 * An unknown member is NOT_FOUND.
 */
export interface Handover {
  /** Returns what would be transferred, what prevents it, and possible successors. */
  preview(member: OfMember, plane: Pick<Plane, 'getHandoverExtent'>, actor: Actor): Promise<HandoverPreview>;
  /**
   * Transfers the records, disables the member, ends their sessions and audits it. Can be repeated: transferred records
   * are not transferred again. Throws LAST_OWNER, SELF_CHANGE_FORBIDDEN, REFERENCE_INVALID, SUCCESSOR_INVALID and
   * SUCCESSOR_SCOPE_INSUFFICIENT.
   */
  offboard(leaving: Leaving, plane: Pick<Plane, 'listSuperiors' | 'handOver'>, actor: Actor): Promise<Offboarded>;
}

export interface HandoverPreview extends Pick<HandoverExtent, 'totals' | 'samples'> {
  readonly member: ListedMember;
  readonly blockers: readonly { readonly code: string; readonly message: string }[];
  readonly suggestedSuccessors: readonly ListedMember[];
}

export interface Leaving extends OfMember {
  readonly successorUserId: string;
  readonly transferContracts: boolean;
  readonly transferContractSupervisors: boolean;
  readonly transferTasks: boolean;
  readonly transferReminders: boolean;
  readonly transferSavedViews: boolean;
  readonly disable: boolean;
}

export interface Offboarded {
  readonly transferred: HandoverTotals;
  readonly disabled: boolean;
  readonly auditId: string;
  /**
   * Contracts on which the successor would have become their own superior: another superior is set instead, or none.
   */
  readonly superiorsReplaced: number;
  readonly superiorsCleared: number;
}

const SUGGESTED = 20;

export function createHandover({ database, change }: { database: KeyedDatabase; change: ChangeTenant }): Handover {
  /** The member and the successor, who must be another active member of the organisation. */
  const parties = ({ tenantId, memberId, successorUserId, disable }: Leaving, actor: Actor): Promise<Parties> =>
    database.read({ tenantId: null }, async (tx) => {
      const members = new MemberStore(tx, tenantId);
      const member = await found(members, memberId);
      refuse({ member, actor, disable });
      const successor = isId(successorUserId) ? await members.byId(successorUserId) : undefined;
      if (!successor) throw fail('REFERENCE_INVALID', { field: 'successorUserId', value: successorUserId });
      if (successor.id === member.id)
        throw fail('SUCCESSOR_INVALID', { field: 'successorUserId', reason: 'the same person' });
      if (successor.status !== 'active')
        throw fail('SUCCESSOR_INVALID', { field: 'successorUserId', reason: 'disabled' });
      const others = new Set(
        (await members.names()).filter(({ id, active }) => active && id !== memberId).map(({ id }) => id),
      );
      return { member, successor, others };
    });

  const moveAll = async (
    {
      transferContracts,
      transferContractSupervisors,
      transferTasks,
      transferReminders,
      transferSavedViews,
      disable,
    }: Leaving,
    { member, successor, others }: Parties,
    plane: Pick<Plane, 'listSuperiors' | 'handOver'>,
  ) => {
    const { superiorIds } = await plane.listSuperiors({ memberId: successor.id });
    return plane.handOver({
      memberId: member.id,
      memberName: member.name,
      memberStays: !disable && member.status === 'active',
      successorId: successor.id,
      successorScope: successor.subjectScope && [...successor.subjectScope],
      successorSuperiorId: superiorIds.find((id) => others.has(id)) ?? null,
      transferContracts,
      transferContractSupervisors,
      transferTasks,
      transferReminders,
      transferSavedViews,
    });
  };

  /** Checks again whether it is allowed, because the call to the data plane takes time. */
  const disableMember = (
    { tenantId, memberId, successorUserId, disable }: Leaving,
    moved: Moved,
    actor: Actor,
  ): Promise<Offboarded> => {
    const auditId = newId();
    return change(
      { tenantId, actor, action: 'member_offboarded', recordKind: 'member', inDirectory: true, auditId },
      async (tx, _tenant, at) => {
        const member = await found(new MemberStore(tx, tenantId), memberId);
        refuse({ member, actor, disable });
        if (disable) await new MemberStore(tx, tenantId).setStatus({ id: memberId, status: 'disabled', at });
        const sessionsRevoked = disable ? await new SessionStore(tx).revokeAllOf({ tenantId, memberId, at }) : 0;
        if (disable) await endCalendar(tx, { tenantId, memberId, at, actor, reason: 'member_disabled' });
        const changed = {
          successorId: successorUserId,
          transferred: moved.transferred,
          sessionsRevoked,
          ...(disable && member.status === 'active' ? { status: { from: 'active', to: 'disabled' } } : {}),
        };
        return {
          answer: { ...moved, disabled: disable || member.status === 'disabled', auditId },
          changed,
          recordId: memberId,
        };
      },
    );
  };

  return {
    preview: async ({ tenantId, memberId }, plane, actor) => {
      const { totals, samples, subjectIds } = await plane.getHandoverExtent({ memberId });
      return database.read({ tenantId: null }, async (tx) => {
        const members = await new MemberStore(tx, tenantId).list();
        const member = members.find(({ id }) => id === memberId);
        if (!member) throw fail('NOT_FOUND', {});
        const fit = members.filter(
          ({ id, status, subjectScope }) =>
            id !== memberId &&
            status === 'active' &&
            subjectIds.every((subject) => subjectScope?.includes(subject) ?? true),
        );
        // Members with the same role first.
        const suggestedSuccessors = fit
          .toSorted((a, b) => Number(b.roleCode === member.roleCode) - Number(a.roleCode === member.roleCode))
          .slice(0, SUGGESTED);
        return { member, totals, samples, blockers: blockersOf({ member, actor, fit }), suggestedSuccessors };
      });
    },

    offboard: async (leaving, plane, actor) => {
      // A repeated request returns the stored answer, even if the successor has changed since.
      const before = await database.answered<Offboarded>(actor.keyed);
      if (before) return before.answer;
      const moved = await moveAll(leaving, await parties(leaving, actor), plane);
      return disableMember(leaving, moved, actor);
    },
  };
}

interface Parties {
  readonly member: ListedMember;
  readonly successor: MemberRecord;
  /** The other active members, one of whom may be set as the successor's superior. */
  readonly others: ReadonlySet<string>;
}

type Moved = Pick<Offboarded, 'transferred' | 'superiorsReplaced' | 'superiorsCleared'>;

async function found(members: MemberStore, id: string): Promise<ListedMember> {
  const member = isId(id) ? await members.listed(id) : undefined;
  if (!member) throw fail('NOT_FOUND', {});
  return member;
}

const isSelf = (member: { readonly id: string }, actor: Actor): boolean =>
  actor.kind === 'user' && actor.id === member.id;

function refuse({ member, actor, disable }: { member: ListedMember; actor: Actor; disable: boolean }): void {
  if (member.roleCode === OWNER) throw fail('LAST_OWNER', {});
  if (disable && isSelf(member, actor)) throw fail('SELF_CHANGE_FORBIDDEN', {});
}

function blockersOf({ member, actor, fit }: { member: ListedMember; actor: Actor; fit: readonly unknown[] }) {
  return [
    ...(member.roleCode === OWNER ? [{ code: 'LAST_OWNER', message: 'The owner must transfer ownership first.' }] : []),
    ...(isSelf(member, actor) && member.roleCode !== OWNER
      ? [{ code: 'SELF_CHANGE_FORBIDDEN', message: 'Members cannot disable themselves.' }]
      : []),
    ...(fit.length === 0
      ? [
          {
            code: 'NO_SUCCESSOR',
            message: 'No active member can see all subject companies of the records to transfer.',
          },
        ]
      : []),
  ];
}
