import { setTimeout as sleep } from 'node:timers/promises';
import { isFailure } from '../../../data-plane-agent/base/failures.js';
import { tablesHash } from '../../../data-plane-agent/plane/steps/moving/the-move.js';
import type { DataMoveRecord } from '../../store/data-moves.js';
import { copyFiles } from './copy-files.js';
import { copyRows, type Copying, type OnProgress } from './copy-rows.js';
import { MoveFault } from './move-fault.js';
import { asSource, asTarget, preflight } from './preflight.js';
import type { Source } from './sides.js';
import { verify } from './verify.js';

export interface Moving extends Copying {
  /** Saves a state of the move together with an event of the audit. */
  readonly audited: (
    action: 'data_move_finished' | 'data_move_cancelled' | 'data_move_source_deleted',
    changes: Partial<DataMoveRecord>,
  ) => Promise<void>;
}

/** How long deliveries that have begun are waited for. */
const DRAIN_MS = 5 * 60_000;
const DRAIN_PAUSE_MS = 250;

/** Carries a move out from the phase that it has reached. Each phase can be repeated. */
export async function carryOut(moving: Moving): Promise<void> {
  const { sides, journal, audited } = moving;
  const moveId = journal.move.id;
  const isIn = (phase: DataMoveRecord['phase']): boolean => journal.move.phase === phase;

  if (isIn('preparing')) {
    await begun(moving);
    await journal.save({ phase: 'freezing' });
  }
  if (isIn('freezing')) {
    await freeze({ source: sides.source, moveId, onProgress: moving.onProgress });
    await journal.save({ phase: 'copying_rows' });
  }
  if (isIn('copying_rows')) {
    await copyRows(moving);
    await journal.save({ phase: 'copying_files' });
  }
  if (isIn('copying_files')) {
    await copyFiles(moving);
    await journal.save({ phase: 'verifying' });
  }
  if (isIn('verifying')) {
    await verify(moving);
    await journal.save({ phase: 'switching' });
  }
  // First where the data goes to, so that it is always complete somewhere; where it comes from, it stays frozen.
  await sides.target.finishReceiving({ moveId });
  await sides.source.finishMovingOut({ moveId });
  const { progress, updatedAt } = journal.move;
  // The ids of the files that were last copied and compared are of no use any more.
  const files = { ...progress.files, after: null, verifiedAfter: null };
  await audited('data_move_finished', { phase: 'moved', finishedAt: updatedAt, progress: { ...progress, files } });
}

/** Nothing has changed if the agent refuses, or the data plane has other data of the organisation. */
async function begun(moving: Moving): Promise<void> {
  const { sides, journal, audited } = moving;
  const { id: moveId, direction } = journal.move;
  try {
    await preflight(direction === 'agent' ? asTarget(sides.target) : asSource(sides.source));
    await sides.target.beginReceiving({ moveId, tables: tablesHash() });
  } catch (error) {
    const isRefused =
      error instanceof MoveFault ||
      isFailure(error, 'DATA_MOVE_REFUSED') ||
      isFailure(error, 'DATA_PLANE_NOT_CONNECTED');
    if (isRefused) await audited('data_move_cancelled', { phase: 'cancelled', finishedAt: journal.move.updatedAt });
    throw isFailure(error, 'DATA_MOVE_REFUSED') ? refusedBy(error.details) : error;
  }
}

function refusedBy({ reason, table }: { readonly reason: string; readonly table?: string | undefined }): MoveFault {
  if (reason === 'not_empty')
    return new MoveFault(
      'DATA_MOVE_NOT_EMPTY',
      `where the data is to go, there is data of this organisation already (${table ?? ''}); nothing was changed`,
    );
  if (reason === 'other_version')
    return new MoveFault(
      'DATA_MOVE_UNSUPPORTED',
      'the service and the agent are of different versions, with different tables: upgrade the older one',
    );
  return new MoveFault('DATA_MOVE_REFUSED', `the data plane refuses the move (${reason}); nothing was changed`);
}

export interface Freezing {
  readonly source: Pick<Source, 'beginMovingOut' | 'chainAudit'>;
  readonly moveId: string;
  readonly onProgress: OnProgress;
}

/** Waits until nothing changes the data any more. */
export async function freeze({ source, moveId, onProgress }: Freezing): Promise<void> {
  for (const giveUpAt = performance.now() + DRAIN_MS; ; await sleep(DRAIN_PAUSE_MS)) {
    const {
      ready,
      leasedMessages,
      unchained,
      runningImports = 0,
    } = await source.beginMovingOut({
      moveId,
      tables: tablesHash(),
    });
    if (ready) return;
    if (unchained > 0) while ((await source.chainAudit({})).more);
    onProgress(
      `waiting for work in progress (${leasedMessages} messages are being delivered, ${runningImports} imports are running)`,
    );
    if (performance.now() > giveUpAt)
      throw new MoveFault(
        'DATA_MOVE_BUSY',
        'work that had begun before the move does not end. Changes are refused meanwhile: run the command again to continue, or with --cancel to end the move',
      );
  }
}

/** Ends a move that is not complete. First where the data comes from, since it is used there. */
export async function undo(moving: Moving): Promise<void> {
  const { sides, journal, onProgress, audited } = moving;
  const moveId = journal.move.id;
  await journal.save({ phase: 'cancelling' });
  await unlessOther(sides.source.cancelMove({ moveId }));
  onProgress('removing what has arrived');
  await unlessOther(removeAll(() => sides.target.removeMovedData({ moveId })));
  await unlessOther(sides.target.cancelMove({ moveId }));
  await audited('data_move_cancelled', { phase: 'cancelled', finishedAt: journal.move.updatedAt });
}

/** Deletes the data where it came from. */
export async function removeSource({ sides, journal, onProgress, audited }: Moving): Promise<void> {
  let files = 0;
  let rows = 0;
  await removeAll(async () => {
    const removed = await sides.source.removeMovedData({ moveId: journal.move.id });
    onProgress(`deleted ${(files += removed.files)} files and ${(rows += removed.rows)} rows`);
    return removed;
  });
  await audited('data_move_source_deleted', { sourceDeletedAt: journal.move.updatedAt });
}

export async function removeAll(batch: () => Promise<{ readonly more: boolean }>): Promise<void> {
  while ((await batch()).more);
}

/** A data plane that takes no part in the move has nothing to undo. */
export async function unlessOther(step: Promise<unknown>): Promise<void> {
  try {
    await step;
  } catch (error) {
    if (!isFailure(error, 'DATA_MOVE_REFUSED') || error.details.reason !== 'other_move') throw error;
  }
}
