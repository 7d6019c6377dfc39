import { derivedId } from '../../../base/ids.js';
import { handedName, viewKey } from '../../domain/views/views.js';
import type { OperationContext } from '../operation-context.js';

interface ViewHandover {
  readonly memberId: string;
  /** Used in the new names of their personal views. */
  readonly memberName: string;
  readonly successorId: string;
  /** The member stays and keeps their personal views; the successor gets copies. */
  readonly memberStays: boolean;
}

/**
 * Transfers a member's personal views to the successor, or copies them, under names that contain the member's name;
 * team views get the successor as owner. The limit on views does not apply, so that none is lost. Views copied earlier
 * are not copied again.
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
  let transferred = 0;
  for (const view of personal) {
    const copyId = derivedId(view.id, successorId);
    const copiedAt = await views.madeAt(copyId);
    // The member stayed at first and leaves now: only views changed since the copy are transferred.
    if (copiedAt !== undefined && (memberStays || view.updatedAt <= copiedAt)) continue;
    const name = handedName(view.name, memberName, taken);
    taken.add(viewKey(name));
    const successorView = { ...view, name, nameKey: viewKey(name), ownerId: successorId, updatedAt: now };
    if (memberStays) await views.insert({ ...successorView, id: copyId, createdAt: now });
    else await views.update(view, successorView);
    transferred += 1;
  }
  const team = await views.ofMember('team', memberId);
  for (const view of team) await views.update(view, { ...view, ownerId: successorId, updatedAt: now });
  return { personalViews: transferred, teamViews: team.length };
}
