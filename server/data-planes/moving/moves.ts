import { newId } from '../../../data-plane-agent/base/ids.js';
import type { Actor } from '../../access/actor.js';
import { AuditStore } from '../../store/audit.js';
import { DataMoveStore, DIRECTIONS, NO_PROGRESS, type DataMoveRecord, type Direction } from '../../store/data-moves.js';
import type { TenantRecord } from '../../store/tenants.js';
import { systemCall } from '../system-call.js';
import { createAlone, type AloneOptions } from './alone.js';
import type { OnProgress } from './copy-rows.js';
import { createJournal, type Journal } from './journal.js';
import { MoveFault } from './move-fault.js';
import { sidesOf, type Planes } from './sides.js';
import { carryOut, removeSource, undo } from './steps.js';

/** The record of a move. */
export type MoveRecord = DataMoveRecord;

export interface DataMovesOptions extends AloneOptions {
  /** The data plane of the installation, and that of the organisation's agent. */
  readonly planes: (tenantId: string) => Planes;
}

export interface MoveRequest {
  readonly tenant: Pick<TenantRecord, 'id' | 'settings'>;
  readonly actor: Actor;
  readonly onProgress?: OnProgress;
}

/** Moves of contract data between the data plane of the installation and agents. */
export interface DataMoves {
  /** The last move of an organisation. */
  latest(tenantId: string): Promise<DataMoveRecord | undefined>;
  /**
   * Moves the data, or continues the move that was begun. A move that is complete is returned as it is. Throws MoveFault,
   * and the failures of the data planes.
   */
  move(request: MoveRequest & { readonly direction: Direction }): Promise<DataMoveRecord>;
  /** Ends a move that is not complete, and removes what has arrived. */
  cancel(request: MoveRequest): Promise<DataMoveRecord>;
  /** Deletes the data where it came from, after a complete move. */
  deleteSource(request: MoveRequest): Promise<DataMoveRecord>;
}

export function createDataMoves(options: DataMovesOptions): DataMoves {
  const { database, clock, planes } = options;

  const latest = (tenantId: string): Promise<DataMoveRecord | undefined> =>
    database.read({ tenantId: null }, (tx) => new DataMoveStore(tx, tenantId).latest(DIRECTIONS));

  const alone = createAlone(
    options,
    () => new MoveFault('DATA_MOVE_RUNNING', 'another process is moving the data of this organisation'),
  );

  const begin = async ({ tenant, actor }: MoveRequest, direction: Direction): Promise<DataMoveRecord> => {
    const at = clock.now();
    const move: DataMoveRecord = {
      id: newId(),
      tenantId: tenant.id,
      direction,
      phase: 'preparing',
      progress: NO_PROGRESS,
      startedAt: at,
      updatedAt: at,
      finishedAt: null,
      sourceDeletedAt: null,
    };
    await database.write({ tenantId: null }, async (tx) => {
      const moves = new DataMoveStore(tx, tenant.id);
      const open = await moves.open();
      if (open)
        throw new MoveFault(
          'DATA_MOVE_OPEN',
          `an ${open.direction} of all data of this organisation is not complete: end it with "tenants ${open.direction}-data --cancel"`,
        );
      await moves.insert(move);
      await audit({ tx, at, move, actor }, 'data_move_started');
    });
    return move;
  };

  const working = (request: MoveRequest, move: DataMoveRecord) => {
    const call = systemCall({
      tenantId: request.tenant.id,
      settings: request.tenant.settings,
      actor: request.actor,
      at: clock.now(),
    });
    const journal = createJournal(options, move);
    return {
      sides: sidesOf(planes(request.tenant.id), move.direction, call),
      journal,
      onProgress: request.onProgress ?? (() => undefined),
      audited: auditing(journal, request.actor),
    };
  };

  return {
    latest,

    move: (request) =>
      alone(request, async () => {
        const { tenant, direction } = request;
        const last = await latest(tenant.id);
        if (last && last.finishedAt === null && last.direction !== direction)
          throw new MoveFault(
            'DATA_MOVE_OPEN',
            `a move to ${last.direction} is not complete: continue it with --to ${last.direction}, or end it with --cancel`,
          );
        if (last?.phase === 'cancelling')
          throw new MoveFault('DATA_MOVE_OPEN', 'the last move is being cancelled: complete that with --cancel');
        if (last?.phase === 'moved' && last.direction === direction) return last;
        if (last?.phase === 'moved' && last.sourceDeletedAt === null)
          throw new MoveFault(
            'DATA_MOVE_NOT_EMPTY',
            'the data that was moved is still there: delete it with --delete-source before moving back',
          );
        const isOpen = last?.finishedAt === null;
        const work = working(request, isOpen ? last : await begin(request, direction));
        await carryOut(work);
        return work.journal.move;
      }),

    cancel: (request) =>
      alone(request, async () => {
        const last = await latest(request.tenant.id);
        if (!last || last.finishedAt !== null) throw new MoveFault('DATA_MOVE_NONE', 'there is no move to cancel');
        if (last.phase === 'switching')
          throw new MoveFault(
            'DATA_MOVE_SWITCHED',
            `the data has arrived and is being switched: continue with --to ${last.direction}`,
          );
        const work = working(request, last);
        await undo(work);
        return work.journal.move;
      }),

    deleteSource: (request) =>
      alone(request, async () => {
        const last = await latest(request.tenant.id);
        if (last?.phase !== 'moved')
          throw new MoveFault('DATA_MOVE_NONE', 'there is no complete move whose source could be deleted');
        if (last.sourceDeletedAt !== null) return last;
        const work = working(request, last);
        await removeSource(work);
        return work.journal.move;
      }),
  };
}

export type Action = 'data_move_started' | 'data_move_finished' | 'data_move_cancelled' | 'data_move_source_deleted';

/** Saves a state of the move together with an event of the audit. */
export type Audited = (action: Action, changes: Partial<DataMoveRecord>) => Promise<void>;

const auditing =
  (journal: Journal, actor: Actor): Audited =>
  (action, changes) =>
    journal.save(changes, (tx, at) => audit({ tx, at, move: { ...journal.move, ...changes }, actor }, action));

function audit(
  {
    tx,
    at,
    move,
    actor,
  }: { tx: ConstructorParameters<typeof AuditStore>[0]; at: number; move: DataMoveRecord; actor: Actor },
  action: Action,
): Promise<void> {
  const { tables, files } = move.progress;
  return new AuditStore(tx).append({
    tenantId: move.tenantId,
    at,
    actor,
    action,
    recordKind: 'data_move',
    recordId: move.id,
    changes: {
      to: move.direction,
      ...(action === 'data_move_finished'
        ? {
            rows: Object.values(tables).reduce((sum, { rows }) => sum + rows, 0),
            files: files.files,
            bytes: files.bytes,
            missing: files.missing,
          }
        : {}),
    },
  });
}
