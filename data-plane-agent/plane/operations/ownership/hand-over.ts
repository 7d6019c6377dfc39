import { fail } from '../../../base/failures.js';
import { isId } from '../../../base/ids.js';
import { s } from '../../../base/schema.js';
import { HandoverTotals, NOTHING } from '../../contract/records/ownership.js';
import { handedOver, type Handover, type Responsible } from '../../domain/contracts/handover.js';
import type { HeldContract } from '../../store/ownership.js';
import type { PendingReminder } from '../../store/pending-reminders.js';
import { operation } from '../../steps/operation-context.js';
import { handOverViews } from '../../steps/views/hand-over-views.js';

/**
 * Transfers the responsibilities of one member to another: all or, if the successor's scope lacks a subject company,
 * none. Creators, editors and history are unchanged. A repeated call has no effect.
 */
export const handOver = operation({
  effect: 'write',
  input: s.object({
    memberId: s.id(),
    /** Used in the new names of their personal views. */
    memberName: s.text({ min: 0, max: 200 }),
    successorId: s.id(),
    /** Subject companies in the successor's scope; `null` means all. */
    successorScope: s.nullable(s.list(s.id(), 1_000)),
    successorSuperiorId: s.nullable(s.id()),
    transferContracts: s.flag(),
    transferContractSupervisors: s.flag(),
    transferTasks: s.flag(),
    transferReminders: s.flag(),
    transferSavedViews: s.flag(),
    memberStays: s.omittable(s.flag('The member keeps their personal views, and the successor gets copies.')),
  }),
  output: s.object({ transferred: HandoverTotals, superiorsReplaced: s.integer(), superiorsCleared: s.integer() }),
  fails: ['SUCCESSOR_SCOPE_INSUFFICIENT', 'REFERENCE_INVALID'],
  async run(
    { store, clock },
    call,
    {
      successorScope,
      memberName,
      memberStays = false,
      transferTasks,
      transferReminders,
      transferSavedViews,
      ...handover
    },
  ) {
    refuseForm(handover);
    const held = await store.ownership.held(handover.memberId);
    const moved = held
      .map((contract) => ({ contract, to: handedOver(contract, handover) }))
      .filter(({ contract, to }) => isMoved(contract, to));
    const tasks = transferTasks ? await store.tasks.heldBy(handover.memberId) : [];
    const pending = await store.pendingReminders.of(handover.memberId);
    const reminders = transferReminders ? pending : [];
    refuseScope([...moved.map(({ contract }) => contract), ...tasks, ...reminders], successorScope);
    const by = { now: clock.now(), actorId: call.actor.id };
    for (const group of grouped(moved)) await store.ownership.assign(group.contracts, group.to, by);
    await store.tasks.assign(tasks, {
      from: handover.memberId,
      to: handover.successorId,
      moved: new Set(moved.map(({ contract }) => contract.id)),
      ...by,
    });
    for (const [recipientId, some] of addressed(pending, { moved, transferReminders, ...handover }))
      await store.pendingReminders.address(some, { recipientId, now: by.now });
    const views = transferSavedViews
      ? await handOverViews({ store, clock }, { ...handover, memberName, memberStays })
      : {};
    const replaced = moved.filter(({ to }) => to.stoodIn);
    return {
      transferred: {
        ...NOTHING,
        ...counts(
          moved.map(({ contract }) => contract),
          handover,
        ),
        openTasks: tasks.length,
        reminders: reminders.length,
        ...views,
      },
      superiorsReplaced: replaced.filter(({ to }) => to.ownerSuperiorId !== null).length,
      superiorsCleared: replaced.filter(({ to }) => to.ownerSuperiorId === null).length,
    };
  },
});

/** Refuses malformed ids. The control plane has already checked that the members exist. */
function refuseForm({ successorId, successorSuperiorId }: Handover): void {
  for (const [field, value] of Object.entries({ successorId, successorSuperiorId }))
    if (value !== null && !isId(value)) throw fail('REFERENCE_INVALID', { field, value });
}

const isMoved = (from: Responsible, to: Responsible): boolean =>
  from.ownerId !== to.ownerId || from.ownerSuperiorId !== to.ownerSuperiorId;

function refuseScope(moved: readonly Pick<HeldContract, 'subjectId'>[], scope: readonly string[] | null): void {
  if (scope === null) return;
  const missing = new Set(moved.map(({ subjectId }) => subjectId).filter((id) => !scope.includes(id)));
  if (missing.size > 0) throw fail('SUCCESSOR_SCOPE_INSUFFICIENT', { subjectIds: [...missing].toSorted() });
}

interface Move {
  readonly contract: HeldContract;
  readonly to: Responsible;
}

/** Contracts that get the same owner and superior are written in one statement. */
function grouped(moves: readonly Move[]): { to: Responsible; contracts: HeldContract[] }[] {
  const groups = new Map<string, { to: Responsible; contracts: HeldContract[] }>();
  for (const {
    contract,
    to: { ownerId, ownerSuperiorId },
  } of moves) {
    const key = `${ownerId} ${ownerSuperiorId ?? ''}`;
    const group = groups.get(key) ?? { to: { ownerId, ownerSuperiorId }, contracts: [] };
    groups.set(key, group);
    group.contracts.push(contract);
  }
  return [...groups.values()];
}

/**
 * Who receives the leaving member's queued reminders: the successor, or still the member. Where that is the owner of the
 * contract, the reminder follows the contract (`null`).
 */
function addressed(
  pending: readonly PendingReminder[],
  {
    moved,
    memberId,
    successorId,
    transferReminders,
  }: Pick<Handover, 'memberId' | 'successorId'> & {
    readonly moved: readonly Move[];
    readonly transferReminders: boolean;
  },
): Map<string | null, PendingReminder[]> {
  const left = new Set(
    moved
      .filter(({ contract, to }) => contract.ownerId === memberId && to.ownerId !== memberId)
      .map(({ contract }) => contract.id),
  );
  return Map.groupBy(pending, ({ contractId, recipientId }) => {
    if (transferReminders) return left.has(contractId) ? null : successorId;
    return left.has(contractId) ? memberId : recipientId;
  });
}

const counts = (
  moved: readonly HeldContract[],
  { memberId, transferContracts, transferContractSupervisors }: Handover,
) => ({
  contracts: moved.filter(({ ownerId }) => transferContracts && ownerId === memberId).length,
  contractsAsSupervisor: moved.filter(
    ({ ownerSuperiorId }) => transferContractSupervisors && ownerSuperiorId === memberId,
  ).length,
});
