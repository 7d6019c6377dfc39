import { iso } from '../../../data-plane-agent/base/instants.js';
import type { DataPlane } from '../../../data-plane-agent/plane/contract/data-plane.js';
import type { Operations } from '../../../data-plane-agent/plane/operations/index.js';
import { tablesHash } from '../../../data-plane-agent/plane/steps/moving/the-move.js';
import { NOT_EXPORTED } from '../../../data-plane-agent/plane/tables/exported.js';
import type { Actor } from '../../access/actor.js';
import type { TenantRecord } from '../../store/tenants.js';
import { createAlone, type AloneOptions } from '../moving/alone.js';
import type { OnProgress } from '../moving/copy-rows.js';
import { asSource, preflight } from '../moving/preflight.js';
import { sourceOf, type Source } from '../moving/sides.js';
import { freeze, unlessOther } from '../moving/steps.js';
import { systemCall } from '../system-call.js';
import { ArchiveFault } from './archive-fault.js';
import { archiveFaultOf, beginArchiving, endArchiving, openArchiving, type ArchiveJournal } from './archiving.js';
import { FORMAT, FORMAT_VERSION, PLATFORM_KINDS, type KindSummary, type Manifest } from './format.js';
import { readPlatform, type PlatformRecords } from './platform-records.js';
import { readSource } from './read-source.js';
import { writeFolder, type FolderWriter } from './write-folder.js';

export interface ArchivesOptions extends AloneOptions {
  /** The data plane that has the contract data of the organisation. */
  readonly plane: (tenantId: string) => DataPlane<Operations>;
  readonly product: Manifest['product'];
}

export interface ArchiveRequest {
  readonly tenant: TenantRecord;
  readonly actor: Actor;
  readonly onProgress?: OnProgress | undefined;
}

/** Exports all data of an organisation into a folder. */
export interface TenantExports {
  /**
   * Writes one state: changes of contract data are refused meanwhile. Nothing is left in the folder if it fails. Throws
   * ArchiveFault, and the failures of the data plane.
   */
  export(request: ArchiveRequest & { readonly folder: string; readonly signal: AbortSignal }): Promise<Manifest>;
  /** Ends an export whose process was killed, so that contract data can be changed again. */
  cancel(request: ArchiveRequest): Promise<void>;
}

/** What of an organisation an export does not have. */
const LEFT_OUT: Manifest['leftOut'] = [
  { what: 'passwords, authenticators, passkeys, identities of single sign-on', why: 'secrets: members set new ones' },
  { what: 'URLs and secrets of channels that are not email', why: 'secrets; leftOut of each channel names them' },
  {
    what: 'sessions, open invitations, calendar grants, connections of agents',
    why: 'valid in this installation only',
  },
  { what: 'audit events of sign-ins and administration', why: 'duebook audit export --source platform writes them' },
  { what: 'uploads that are not confirmed, search index, idempotency records', why: 'temporary, or built again' },
  ...Object.entries(NOT_EXPORTED).map(([what, why]) => ({ what, why })),
];

export function createTenantExports(options: ArchivesOptions): TenantExports {
  const { clock, database, plane, product } = options;
  const alone = createAlone(
    options,
    () => new ArchiveFault('TENANT_DATA_BUSY', 'another process is moving the data of this organisation'),
  );
  const source = ({ tenant, actor }: ArchiveRequest): Source =>
    sourceOf(plane(tenant.id), systemCall({ tenantId: tenant.id, settings: tenant.settings, actor, at: clock.now() }));

  /** Contract data can be changed again. */
  const end = async (request: ArchiveRequest, journal: ArchiveJournal): Promise<void> => {
    await unlessOther(source(request).cancelMove({ moveId: journal.move.id }));
    await endArchiving(journal, { actor: request.actor, action: 'tenant_data_export_cancelled' });
  };

  const write = async (
    request: ArchiveRequest & { readonly signal: AbortSignal },
    journal: ArchiveJournal,
    folder: FolderWriter,
  ): Promise<Manifest> => {
    const { tenant, signal, onProgress = () => undefined } = request;
    const moveId = journal.move.id;
    const from = source(request);
    await preflight(asSource(from).filter(([name]) => name !== 'finishMovingOut'));
    await freeze({ source: from, moveId, onProgress });
    // Within one transaction. Subject companies and channels that contract data names cannot be removed now.
    const platform = await database.read({ tenantId: null }, (tx) => readPlatform(tx, tenant.id));
    const ofPlatform = await writePlatform(folder, platform);
    const { records, files } = await readSource({ source: from, moveId, folder, signal, onProgress });
    const [organisation] = platform.organisation;
    const manifest: Manifest = {
      format: FORMAT,
      formatVersion: FORMAT_VERSION,
      exportId: moveId,
      product,
      schema: tablesHash(),
      createdAt: iso(clock.now()),
      organisation: { id: tenant.id, slug: tenant.slug, name: organisation?.name ?? tenant.name },
      records: [...ofPlatform, ...records],
      files,
      leftOut: LEFT_OUT,
    };
    await from.cancelMove({ moveId });
    await folder.finish(manifest);
    await endArchiving(journal, {
      actor: request.actor,
      action: 'tenant_data_exported',
      changes: {
        records: manifest.records.reduce((sum, { count }) => sum + count, 0),
        files: files.count,
        bytes: files.bytes,
      },
    });
    return manifest;
  };

  return {
    export: (request) =>
      alone(request, async () => {
        const { tenant, actor } = request;
        const killed = await openArchiving(options, { tenantId: tenant.id, direction: 'export' });
        if (killed) await end(request, killed);
        const folder = await writeFolder(request.folder);
        try {
          const journal = await beginArchiving(options, { tenantId: tenant.id, actor, direction: 'export' });
          try {
            return await write(request, journal, folder);
          } catch (error) {
            await ended(() => end(request, journal), error);
            throw archiveFaultOf(error);
          }
        } catch (error) {
          await folder.remove();
          throw error;
        }
      }),

    cancel: async (request) => {
      await alone(request, async () => {
        const killed = await openArchiving(options, { tenantId: request.tenant.id, direction: 'export' });
        if (!killed) throw new ArchiveFault('TENANT_DATA_NONE', 'there is no export to end');
        await end(request, killed);
        return {};
      });
    },
  };
}

/** Throws a fault that says what to do if the data stays frozen. */
async function ended(end: () => Promise<void>, cause: unknown): Promise<void> {
  try {
    await end();
  } catch (error) {
    const [why, also] = [cause, error].map((one) => (one instanceof Error ? one.message : String(one)));
    throw new ArchiveFault(
      'TENANT_DATA_LOST',
      `${why}; and the data plane could not be told (${also}): until "tenants export-data --cancel" changes of the contract data are refused`,
      { cause },
    );
  }
}

async function writePlatform(folder: FolderWriter, platform: PlatformRecords): Promise<KindSummary[]> {
  const written: KindSummary[] = [];
  for (const kind of PLATFORM_KINDS) {
    const lines = await folder.lines(kind);
    for (const record of platform[kind]) await lines.write(record);
    written.push(await lines.close());
  }
  return written;
}
