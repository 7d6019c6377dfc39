import { handedName, viewKey } from '../../domain/views/views.js';
import type { Tools } from '../operation-context.js';

interface ViewHandover {
  readonly memberId: string;
  /** As it is written into the names of what were his personal views. */
  readonly memberName: string;
  readonly successorId: string;
}

/**
 * A member's personal views become the successor's, under names that say whose they were; team views get another who looks after them.
 * The successor may come to more views than he may make himself: nothing is lost when somebody leaves.
 */
export async function handOverViews({ store: { views }, clock }: Pick<Tools, 'store' | 'clock'>, { memberId, memberName, successorId }: ViewHandover): Promise<{ personalViews: number; teamViews: number }> {
  const personal = await views.ofMember('personal', memberId);
  const taken = new Set((personal.length === 0 ? [] : await views.ofMember('personal', successorId)).map(({ nameKey }) => nameKey));
  const updatedAt = clock.now();
  for (const view of personal) {
    const name = handedName(view.name, memberName, taken);
    taken.add(viewKey(name));
    await views.update(view, { ...view, name, nameKey: viewKey(name), ownerId: successorId, updatedAt });
  }
  const team = await views.ofMember('team', memberId);
  for (const view of team) await views.update(view, { ...view, ownerId: successorId, updatedAt });
  return { personalViews: personal.length, teamViews: team.length };
}
