import type { Clock } from '../../../data-plane-agent/base/clock.js';
import type { Database, Transaction } from '../../../data-plane-agent/base/database/database.js';
import {
  DataMoveStore,
  type Archiving,
  type DataMoveRecord,
  type Direction,
  type MoveProgress,
} from '../../store/data-moves.js';
import { MoveFault } from './move-fault.js';

/** The record of a move, which each step updates, so that another process continues where this one ended. */
export interface Journal<D extends Direction | Archiving = Direction> {
  readonly move: DataMoveRecord<D>;
  /** Throws DATA_MOVE_RUNNING if another process has continued the move. */
  save(changes: Partial<DataMoveRecord<D>>, also?: (tx: Transaction, at: number) => Promise<void>): Promise<void>;
  progress(changes: Partial<MoveProgress>): Promise<void>;
  /** Of what costs nothing to repeat: it is written with what is saved next. */
  note(changes: Partial<MoveProgress>): void;
}

export function createJournal<D extends Direction | Archiving>(
  { database, clock }: { readonly database: Database; readonly clock: Clock },
  begun: DataMoveRecord<D>,
): Journal<D> {
  let move = begun;
  const journal: Journal<D> = {
    get move() {
      return move;
    },
    async save(changes, also) {
      const before = move;
      // Also within one millisecond each state has a time of its own, by which a concurrent change is noticed.
      const after = { ...before, ...changes, updatedAt: Math.max(clock.now(), before.updatedAt + 1) };
      await database.write({ tenantId: null }, async (tx) => {
        if (!(await new DataMoveStore(tx, before.tenantId).update(before, after)))
          throw new MoveFault('DATA_MOVE_RUNNING', 'another process has continued the move');
        await also?.(tx, after.updatedAt);
      });
      move = after;
    },
    note: (changes) => {
      move = { ...move, progress: { ...move.progress, ...changes } };
    },
    progress: (changes) => journal.save({ progress: { ...move.progress, ...changes } }),
  };
  return journal;
}
