import { tablesHash } from '../../../data-plane-agent/plane/steps/moving/the-move.js';
import type { Transaction } from '../../../data-plane-agent/base/database/database.js';
import { MemberStore } from '../../store/members.js';
import { createAlone } from '../moving/alone.js';
import { asTarget, preflight } from '../moving/preflight.js';
import { targetOf, type Target } from '../moving/sides.js';
import { removeAll, unlessOther } from '../moving/steps.js';
import { systemCall } from '../system-call.js';
import { ArchiveFault } from './archive-fault.js';
import { archiveFaultOf, beginArchiving, endArchiving, openArchiving, type ArchiveJournal } from './archiving.js';
import type { ArchiveRequest, ArchivesOptions } from './export.js';
import type { PlatformRecords } from './platform-records.js';
import { presentIdentities, refuseUnlessNew, writePlatform } from './write-platform.js';
import { writeTarget, type Written } from './write-target.js';
import { verifyFolder, type VerifiedFolder } from './verify.js';

export interface ImportRequest extends ArchiveRequest {
  readonly folder: string;
  /** Checks everything, and writes nothing. */
  readonly isDryRun: boolean;
  readonly signal: AbortSignal;
}

export interface Imported extends Written {
  readonly exportId: string;
  /** Exported members whose address a member of the organisation had already, and the others. */
  readonly members: { readonly matched: number; readonly added: number };
}

/** Imports all data of an organisation from a folder that an export has written. */
export interface TenantImports {
  /**
   * Into a new organisation, which is used once all of it is there; requests for its contract data are refused
   * meanwhile. Nothing is left if it fails. Removes first what a killed import has left, unless that only has to be
   * completed. Throws ArchiveFault, and the failures of the data plane.
   */
  import(request: ImportRequest): Promise<Imported>;
  /** Removes what a killed import has left. */
  cancel(request: ArchiveRequest): Promise<void>;
}

export function createTenantImports(options: ArchivesOptions): TenantImports {
  const { clock, database, plane } = options;
  const alone = createAlone(
    options,
    () => new ArchiveFault('TENANT_DATA_BUSY', 'another process is moving the data of this organisation'),
  );
  const targetFor = ({ tenant, actor }: ArchiveRequest): Target =>
    targetOf(plane(tenant.id), systemCall({ tenantId: tenant.id, settings: tenant.settings, actor, at: clock.now() }));

  const undo = async (request: ArchiveRequest, journal: ArchiveJournal): Promise<void> => {
    const moveId = journal.move.id;
    const target = targetFor(request);
    await unlessOther(removeAll(() => target.removeMovedData({ moveId })));
    await unlessOther(target.cancelMove({ moveId }));
    await endArchiving(journal, { actor: request.actor, action: 'tenant_data_import_cancelled' });
  };

  const open = (request: ArchiveRequest): Promise<ArchiveJournal | undefined> =>
    openArchiving(options, { tenantId: request.tenant.id, direction: 'import' });

  /** Everything is written: the data is used from now on. */
  const complete = async (request: ArchiveRequest, journal: ArchiveJournal): Promise<void> => {
    await targetFor(request).finishReceiving({ moveId: journal.move.id });
    const { files, bytes } = journal.move.progress.files;
    await endArchiving(journal, { actor: request.actor, action: 'tenant_data_imported', changes: { files, bytes } });
  };

  /** Until the platform part is written with the phase, a failure leaves nothing. */
  const write = async (
    request: ImportRequest,
    journal: ArchiveJournal,
    { folder, manifest, platform }: VerifiedFolder,
  ): Promise<Imported> => {
    const { tenant, signal, isDryRun, onProgress = () => undefined } = request;
    const tenantId = tenant.id;
    const moveId = journal.move.id;
    const target = targetFor(request);
    await preflight(asTarget(target));
    await target.beginReceiving({ moveId, tables: tablesHash() });
    const identities = await database.read({ tenantId: null }, (tx) => presentIdentities(tx, { tenantId, platform }));
    const emails = await database.read({ tenantId: null }, (tx) => presentEmails(tx, tenantId));
    const matched = platform.members.filter(({ email }) => emails.has(email)).length;
    const members = { matched, added: platform.members.length - matched };
    if (isDryRun) {
      await undo(request, journal);
      const rows = manifest.records.reduce((sum, { count }) => sum + count, 0);
      return { exportId: manifest.exportId, rows, files: manifest.files.count, bytes: manifest.files.bytes, members };
    }
    await journal.save({ phase: 'copying_rows' });
    const written = await writeTarget({ target, moveId, tenantId, folder, identities, signal, onProgress });
    const { files } = journal.move.progress;
    await journal.save(
      {
        phase: 'switching',
        progress: { ...journal.move.progress, files: { ...files, files: written.files, bytes: written.bytes } },
      },
      (tx, at) => writePlatform(tx, { tenantId, platform, identities, at }),
    );
    return { exportId: manifest.exportId, ...written, rows: written.rows + platformRows(platform), members };
  };

  return {
    import: (request) =>
      alone(request, async () => {
        const verified = await verifyFolder(request.folder, request.onProgress);
        const killed = await open(request);
        if (killed?.move.phase === 'switching') {
          await complete(request, killed);
          throw new ArchiveFault(
            'TENANT_DATA_NOT_EMPTY',
            'an import that was interrupted before its last step is complete now: the organisation has its data',
          );
        }
        if (killed) await undo(request, killed);
        const { tenant, actor } = request;
        await database.read({ tenantId: null }, (tx) => refuseUnlessNew(tx, tenant.id));
        const journal = await beginArchiving(options, { tenantId: tenant.id, actor, direction: 'import' });
        let imported: Imported;
        try {
          imported = await write(request, journal, verified);
        } catch (error) {
          await undone(() => undo(request, journal), error);
          throw archiveFaultOf(error);
        }
        if (!request.isDryRun) await complete(request, journal);
        return imported;
      }),

    cancel: async (request) => {
      await alone(request, async () => {
        const killed = await open(request);
        if (!killed) throw new ArchiveFault('TENANT_DATA_NONE', 'there is no import to end');
        if (killed.move.phase === 'switching') await complete(request, killed);
        else await undo(request, killed);
        return {};
      });
    },
  };
}

const platformRows = (platform: PlatformRecords): number =>
  Object.values(platform).reduce((sum, records) => sum + records.length, 0);

const presentEmails = async (tx: Transaction, tenantId: string): Promise<ReadonlySet<string>> =>
  new Set((await new MemberStore(tx, tenantId).names()).map(({ email }) => email));

/** Throws a fault that says what to do if something is left. */
async function undone(undo: () => Promise<void>, cause: unknown): Promise<void> {
  try {
    await undo();
  } catch (error) {
    const [why, also] = [cause, error].map((one) => (one instanceof Error ? one.message : String(one)));
    throw new ArchiveFault(
      'TENANT_DATA_LOST',
      `${why}; and what was written could not be removed (${also}): remove it with "tenants import-data --cancel"`,
      { cause },
    );
  }
}
