import type { Clock } from '../../../data-plane-agent/base/clock.js';
import type { Database, Transaction } from '../../../data-plane-agent/base/database/database.js';
import { isFailure } from '../../../data-plane-agent/base/failures.js';
import { newId } from '../../../data-plane-agent/base/ids.js';
import type { Actor } from '../../access/actor.js';
import { AuditStore } from '../../store/audit.js';
import { DataMoveStore, NO_PROGRESS, type Archiving, type DataMoveRecord } from '../../store/data-moves.js';
import { createJournal, type Journal } from '../moving/journal.js';
import { MoveFault } from '../moving/move-fault.js';
import { ArchiveFault } from './archive-fault.js';

export type ArchiveAction =
  | 'tenant_data_export_started'
  | 'tenant_data_exported'
  | 'tenant_data_export_cancelled'
  | 'tenant_data_import_started'
  | 'tenant_data_imported'
  | 'tenant_data_import_cancelled';

export interface ArchivingParts {
  readonly database: Database;
  readonly clock: Clock;
}

interface Begun {
  readonly tenantId: string;
  readonly actor: Actor;
}

/** The record of an export or import, which a later process ends if this one is killed. */
export type ArchiveJournal = Journal<Archiving>;

/** Throws TENANT_DATA_BUSY while a move of the data, or an archiving of the other kind, is not complete. */
export async function openArchiving(
  parts: ArchivingParts,
  { tenantId, direction }: { readonly tenantId: string; readonly direction: Archiving },
): Promise<ArchiveJournal | undefined> {
  const open = await parts.database.read({ tenantId: null }, (tx) => new DataMoveStore(tx, tenantId).open());
  if (!open) return undefined;
  if (open.direction === direction) return createJournal<Archiving>(parts, { ...open, direction });
  throw new ArchiveFault(
    'TENANT_DATA_BUSY',
    open.direction === 'agent' || open.direction === 'embedded'
      ? `the data of this organisation is being moved: complete that with "tenants move-data --to ${open.direction}", or end it with "tenants move-data --cancel"`
      : `an ${open.direction} of all data of this organisation is not complete: end it with "tenants ${open.direction}-data --cancel"`,
  );
}

export async function beginArchiving(
  parts: ArchivingParts,
  { tenantId, actor, direction }: Begun & { readonly direction: Archiving },
): Promise<ArchiveJournal> {
  const at = parts.clock.now();
  const begun: DataMoveRecord<Archiving> = {
    id: newId(),
    tenantId,
    direction,
    phase: 'preparing',
    progress: NO_PROGRESS,
    startedAt: at,
    updatedAt: at,
    finishedAt: null,
    sourceDeletedAt: null,
  };
  await parts.database.write({ tenantId: null }, async (tx) => {
    await new DataMoveStore(tx, tenantId).insert(begun);
    await recordArchiving(tx, { tenantId, actor, at, id: begun.id, action: `tenant_data_${direction}_started` });
  });
  return createJournal(parts, begun);
}

/** Ends the record with an event of the audit. */
export async function endArchiving(
  journal: ArchiveJournal,
  {
    actor,
    action,
    changes = {},
  }: { readonly actor: Actor; readonly action: ArchiveAction; readonly changes?: Readonly<Record<string, unknown>> },
): Promise<void> {
  const { id, tenantId, updatedAt } = journal.move;
  const phase = action.endsWith('_cancelled') ? 'cancelled' : 'done';
  await journal.save({ phase, finishedAt: updatedAt }, (tx, at) =>
    recordArchiving(tx, { tenantId, actor, at, id, action, changes }),
  );
}

function recordArchiving(
  tx: Transaction,
  {
    tenantId,
    actor,
    at,
    id,
    action,
    changes = {},
  }: Begun & {
    readonly at: number;
    readonly id: string;
    readonly action: ArchiveAction;
    readonly changes?: Readonly<Record<string, unknown>>;
  },
): Promise<void> {
  return new AuditStore(tx).append({ tenantId, at, actor, action, recordKind: 'tenant_data', recordId: id, changes });
}

/** What the steps of a move throw, as the fault of an archive. */
export function archiveFaultOf(error: unknown): unknown {
  if (error instanceof MoveFault) return new ArchiveFault('TENANT_DATA_REFUSED', error.message, { cause: error });
  if (!isFailure(error, 'DATA_MOVE_REFUSED')) return error;
  const { reason, table } = error.details;
  if (reason === 'not_empty')
    return new ArchiveFault(
      'TENANT_DATA_NOT_EMPTY',
      `the organisation has contract data already (${table ?? ''}); nothing was changed`,
      { cause: error },
    );
  if (reason === 'other_move')
    return new ArchiveFault(
      'TENANT_DATA_REFUSED',
      'the contract data is being moved, or was moved to another data plane',
      {
        cause: error,
      },
    );
  return new ArchiveFault('TENANT_DATA_REFUSED', `the data plane refuses (${reason})`, { cause: error });
}
