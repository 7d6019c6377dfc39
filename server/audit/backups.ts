import type { Database } from '../../data-plane-agent/base/database/database.js';
import type { Actor } from '../access/actor.js';
import { AuditStore } from '../store/audit.js';

/** The events of backups in the platform's audit. */
export interface BackupRecord {
  /** Records that a backup was completed. `bytes` is the size of its file. */
  made(backup: { readonly backupId: string; readonly bytes: number; readonly at: number }, actor: Actor): Promise<void>;
  /** Records that this installation was restored from the backup that was begun at `startedAt` (ISO 8601). */
  restored(
    backup: { readonly backupId: string; readonly startedAt: string; readonly at: number },
    actor: Actor,
  ): Promise<void>;
  /** When the newest recorded backup was completed, epoch milliseconds. */
  lastMadeAt(): Promise<number | undefined>;
}

export function createBackupRecord({ database }: { readonly database: Database }): BackupRecord {
  const scope = { tenantId: null };
  return {
    made: ({ backupId, bytes, at }, actor) =>
      database.write(scope, (tx) =>
        new AuditStore(tx).append({
          tenantId: null,
          at,
          actor,
          action: 'backup_made',
          recordKind: 'backup',
          recordId: backupId,
          changes: { bytes },
        }),
      ),
    restored: ({ backupId, startedAt, at }, actor) =>
      database.write(scope, (tx) =>
        new AuditStore(tx).append({
          tenantId: null,
          at,
          actor,
          action: 'backup_restored',
          recordKind: 'backup',
          recordId: backupId,
          changes: { startedAt },
        }),
      ),
    lastMadeAt: () => database.read(scope, (tx) => new AuditStore(tx).lastAt('backup_made')),
  };
}
