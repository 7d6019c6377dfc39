import { tablesHash } from '../../../data-plane-agent/plane/steps/moving/the-move.js';
import { EXPORTED } from '../../../data-plane-agent/plane/tables/exported.js';
import type { OnProgress } from '../moving/copy-rows.js';
import { ArchiveFault } from './archive-fault.js';
import { PLATFORM_KINDS, type Manifest, type PlatformKind } from './format.js';
import { platformRecordOf, type PlatformRecord, type PlatformRecords } from './platform-records.js';
import { readFolder, type FolderReader } from './read-folder.js';
import { FieldFault, rowOf } from './records.js';
import { isId } from '../../../data-plane-agent/base/ids.js';

export interface VerifiedFolder {
  readonly folder: FolderReader;
  readonly manifest: Manifest;
  readonly platform: PlatformRecords;
}

/**
 * Reads all of an export and checks every hash, every line and every field. Throws TENANT_DATA_INVALID,
 * TENANT_DATA_DAMAGED, and TENANT_DATA_VERSION for an export of a version with other tables.
 */
export async function verifyFolder(path: string, onProgress: OnProgress = () => undefined): Promise<VerifiedFolder> {
  const folder = await readFolder(path);
  const { manifest } = folder;
  if (manifest.schema !== tablesHash())
    throw new ArchiveFault(
      'TENANT_DATA_VERSION',
      `the export is of ${manifest.product.name} ${manifest.product.version}, whose records have other fields: read it with that version, and upgrade afterwards`,
    );
  const platform = await platformOf(folder);
  for (const kind of EXPORTED) {
    onProgress(`checking ${kind.kind}`);
    await folder.each(kind.kind, (record) => {
      rowOf(kind, record);
      if (kind.kind === 'files' && !isId(String(record['id']))) throw new FieldFault('id is not an id');
    });
  }
  await folder.checkFiles(onProgress);
  return { folder, manifest, platform };
}

async function platformOf(folder: FolderReader): Promise<PlatformRecords> {
  const read = async <K extends PlatformKind>(kind: K): Promise<readonly PlatformRecord<K>[]> => {
    const records: PlatformRecord<K>[] = [];
    await folder.each(kind, (record) => void records.push(platformRecordOf(kind, record)));
    return records;
  };
  const [organisation, roles, members, subjectCompanies, channels] = [
    await read(PLATFORM_KINDS[0]),
    await read(PLATFORM_KINDS[1]),
    await read(PLATFORM_KINDS[2]),
    await read(PLATFORM_KINDS[3]),
    await read(PLATFORM_KINDS[4]),
  ];
  if (organisation.length !== 1)
    throw new ArchiveFault('TENANT_DATA_INVALID', 'records/organisation.jsonl does not have one line');
  return { organisation, roles, members, subjectCompanies, channels };
}
