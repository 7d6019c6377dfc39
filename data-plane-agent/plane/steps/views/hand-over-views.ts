import { derivedId } from '../../../base/ids.js';
import { handedName, viewKey } from '../../domain/views/views.js';
import type { OperationContext } from '../operation-context.js';

interface ViewHandover {
  readonly memberId: string;
  /** As it is written into the names of what were their personal views. */
  readonly memberName: string;
  readonly successorId: string;
  /** The member goes on working and keeps their own personal views: the successor gets copies. */
  readonly memberStays: boolean;
}

/**
 * A member's personal views become the successor's, or are copied to them, under names that say whose they were; team
 * views get another who looks after them. The successor may come to more views than they may make themselves: nothing
 * is lost when somebody leaves. What has been copied is not copied again.
 */
export async function handOverViews(
  { store: { views }, clock }: Pick<OperationContext, 'store' | 'clock'>,
  { memberId, memberName, successorId, memberStays }: ViewHandover,
): Promise<{ personalViews: number; teamViews: number }> {
  const personal = await views.ofMember('personal', memberId, { held: true });
  const taken = new Set(
    (personal.length === 0 ? [] : await views.ofMember('personal', successorId)).map(({ nameKey }) => nameKey),
  );
  const now = clock.now();
  let handed = 0;
  for (const view of personal) {
    const copyId = derivedId(view.id, successorId);
    const copiedAt = await views.madeAt(copyId);
    // Of somebody who stayed at first and leaves now: what they have changed since goes along, and the rest is there
    // already.
    if (copiedAt !== undefined && (memberStays || view.updatedAt <= copiedAt)) continue;
    const name = handedName(view.name, memberName, taken);
    taken.add(viewKey(name));
    const theirs = { ...view, name, nameKey: viewKey(name), ownerId: successorId, updatedAt: now };
    if (memberStays) await views.insert({ ...theirs, id: copyId, createdAt: now });
    else await views.update(view, theirs);
    handed += 1;
  }
  const team = await views.ofMember('team', memberId);
  for (const view of team) await views.update(view, { ...view, ownerId: successorId, updatedAt: now });
  return { personalViews: handed, teamViews: team.length };
}
