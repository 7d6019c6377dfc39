import { fail } from '../../../base/failures.js';
import { sha256Hex } from '../../../base/secrets.js';
import type { MoveState } from '../../store/data-moves.js';
import type { Store } from '../../store/store.js';
import { MOVED } from '../../tables/moved.js';

/** Refuses a step of another move, or one that does not fit the state of this one. */
export async function inMove(
  { dataMoves }: Pick<Store, 'dataMoves'>,
  moveId: string,
  ...states: readonly MoveState[]
): Promise<MoveState> {
  const move = await dataMoves.find();
  if (move?.moveId !== moveId) throw fail('DATA_MOVE_REFUSED', { reason: 'other_move' });
  if (!states.includes(move.state)) throw fail('DATA_MOVE_REFUSED', { reason: 'state' });
  return move.state;
}

/** Refuses a data plane whose tables differ: rows are moved as they are. */
export function sameTables(tables: string): void {
  if (tables !== tablesHash()) throw fail('DATA_MOVE_REFUSED', { reason: 'other_version' });
}

let known: string | undefined;

/** Equal in two programs whose tables have the same columns. */
export const tablesHash = (): string =>
  (known ??= sha256Hex(JSON.stringify(MOVED.map(({ name, key, columns }) => ({ name, key, columns })))));
