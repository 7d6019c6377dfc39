import { open, type FileHandle } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { Clock } from '../../base/clock.js';
import type { ManagedDatabase } from '../../base/database/managed.js';
import { sqlitePath } from '../../base/database/open.js';
import { newId } from '../../base/ids.js';
import { iso } from '../../base/instants.js';
import { isKey, pathOf } from '../../plane/files/objects/file-system-paths.js';
import type { ObjectStoreAddress } from '../../plane/files/objects/object-store-address.js';
import type { ObjectStore } from '../../plane/files/objects/object-store.js';
import { codeOf, createArchive, notWritten, type ArchiveWriter } from './archive-writer.js';
import {
  FORMAT,
  MEMBERS,
  SECRETS_CONTEXT,
  type Header,
  type Manifest,
  type SavedDatabase,
  type Secrets,
} from './format.js';
import { newDerivation, passkeyOf } from './passphrase.js';
import { piecesOf } from './pieces.js';
import { snapshotOfPostgres } from './postgres.js';
import type { ToolSettings } from './postgres-tools.js';
import type { DatabaseSnapshot } from './snapshot.js';
import { snapshotOfSqlite } from './sqlite.js';

export interface BackupDatabase extends Pick<ManagedDatabase, 'name' | 'url'> {
  /** The URL of a role that reads all rows, for pg_dump; the same database. */
  readonly readUrl: string;
  /** The setting to name when that role cannot read them. */
  readonly readSetting: string;
}

/** What a backup contains. */
export interface BackupSource {
  readonly product: Header['product'];
  readonly version: string;
  /**
   * Their states are fixed in this order: the tenant database first. What contract data has caused in the platform
   * database, such as a mail, is then in the copy of the latter, and is not caused again after a restore.
   */
  readonly databases: readonly BackupDatabase[];
  readonly store: { readonly address: ObjectStoreAddress; readonly objects: ObjectStore };
  readonly secrets: Secrets;
  readonly keyIds: readonly string[];
  /** The log of operations of an agent, by the names of its files, in the order in which they are copied. */
  readonly operations?: readonly { readonly name: string; readonly path: string }[];
  /** The policy of an agent. */
  readonly policy?: string | undefined;
}

export interface BackupOptions {
  readonly passphrase: string;
  readonly clock: Clock;
  readonly tools: ToolSettings;
  readonly signal: AbortSignal;
  readonly onProgress: (text: string) => void;
}

export interface MadeBackup {
  readonly manifest: Manifest;
  /** The size of the file. */
  readonly bytes: number;
  /** The keys of files that contract data refers to and the store does not have, at most 20; and how many there are. */
  readonly missing: { readonly count: number; readonly keys: readonly string[] };
}

const MOST_NAMED = 20;

/**
 * Writes a backup to a new file, while programs use the databases. On any failure, and when `signal` is aborted,
 * nothing is left. Throws CommandError with what to do.
 */
export async function createBackup(path: string, source: BackupSource, options: BackupOptions): Promise<MadeBackup> {
  const { clock, passphrase, tools } = options;
  const startedAt = clock.now();
  const archive = await createArchive(path, { at: startedAt });
  const snapshots: { readonly database: BackupDatabase; readonly state: DatabaseSnapshot; readonly at: number }[] = [];
  try {
    for (const database of source.databases) {
      const file = sqlitePath(database.url);
      const state =
        file === undefined
          ? await snapshotOfPostgres(database.readUrl, { tools, setting: database.readSetting })
          : snapshotOfSqlite(file);
      snapshots.push({ database, state, at: clock.now() });
    }
    const derivation = newDerivation();
    const passkey = await passkeyOf(passphrase, derivation);
    const { product, version, keyIds } = source;
    const about = { format: FORMAT, product, version, backupId: newId(), startedAt: iso(startedAt) };
    const header: Header = { ...about, derivation, proof: passkey.proof };
    await archive.addText(MEMBERS.header, jsonOf(header));
    const databases: SavedDatabase[] = [];
    for (const { database, state, at } of snapshots)
      databases.push(await addDatabase(archive, { path, name: database.name, state, at }, options));
    const referred = await addObjects(archive, { path, snapshots: snapshots.map(({ state }) => state), source });
    for (const { state } of snapshots) await state.close();
    snapshots.length = 0;
    // After the databases, so that each file that they refer to is in the backup unless it was deleted meanwhile.
    const files = await addFiles(archive, source.store, options);
    await addAgentFiles(archive, source);
    await archive.addText(
      MEMBERS.secrets,
      passkey.seal(Buffer.from(JSON.stringify(source.secrets), 'utf8'), SECRETS_CONTEXT),
    );
    const { members, bytes } = archive.written;
    const manifest: Manifest = {
      ...about,
      completedAt: iso(clock.now()),
      databases,
      files,
      objects: referred.count,
      keyIds: [...keyIds],
      members,
      bytes,
      indexSha256: await archive.addIndex(),
    };
    const text = jsonOf(manifest);
    await archive.addText(MEMBERS.manifest, text);
    await archive.addText(MEMBERS.mac, `${passkey.mac(Buffer.from(text, 'utf8'))}\n`);
    options.signal.throwIfAborted();
    const finished = await archive.finish();
    return { manifest, bytes: finished.bytes, missing: referred.missing };
  } catch (error) {
    for (const { state } of snapshots) await state.close();
    await archive.abandon();
    throw isOfDisk(error) ? notWritten(path, error) : error;
  }
}

const jsonOf = (value: unknown): string => `${JSON.stringify(value, null, 2)}\n`;

/** Also SQLite writes to the folder of the backup. */
const isOfDisk = (error: unknown): boolean =>
  /^(ENOSPC|EDQUOT|EFBIG|SQLITE_FULL|SQLITE_IOERR_WRITE)$/.test(String(codeOf(error)));

async function addDatabase(
  archive: ArchiveWriter,
  {
    path,
    name,
    state,
    at,
  }: {
    readonly path: string;
    readonly name: SavedDatabase['name'];
    readonly state: DatabaseSnapshot;
    readonly at: number;
  },
  { signal, onProgress }: BackupOptions,
): Promise<SavedDatabase> {
  const { dialect, extension, migrations, serverVersion } = state;
  const copy = join(archive.spool, `${name}.${extension}`);
  onProgress(`${name} database`);
  try {
    await state.copyTo(copy, (done, total) => {
      signal.throwIfAborted();
      onProgress(`${name} database: ${Math.floor((100 * done) / Math.max(total, 1))} %`);
    });
  } catch (error) {
    throw isOfDisk(error) ? notWritten(path, error) : error;
  }
  signal.throwIfAborted();
  const member = `${MEMBERS.databases}${name}.${extension}`;
  await archive.addFile(member, copy);
  return { name, dialect, member, stateAt: iso(at), migrations: [...migrations], serverVersion };
}

/** Lists the files that the contract data refers to, with their hashes. */
async function addObjects(
  archive: ArchiveWriter,
  {
    path,
    snapshots,
    source,
  }: { readonly path: string; readonly snapshots: readonly DatabaseSnapshot[]; readonly source: BackupSource },
): Promise<{ readonly count: number; readonly missing: MadeBackup['missing'] }> {
  const { address } = source.store;
  const list = join(archive.spool, 'objects');
  let count = 0;
  let missing = 0;
  const keys: string[] = [];
  const file = await open(list, 'wx', 0o600);
  try {
    for (const state of snapshots)
      for await (const object of state.objects()) {
        count += 1;
        await file.writeFile(`${JSON.stringify(object)}\n`);
        if (address.provider === 's3' || (await isThere(pathOf(resolve(address.directory), object.key)))) continue;
        missing += 1;
        if (keys.length < MOST_NAMED) keys.push(object.key);
      }
  } catch (error) {
    throw isOfDisk(error) ? notWritten(path, error) : error;
  } finally {
    await file.close();
  }
  await archive.addFile(MEMBERS.objects, list);
  return { count, missing: { count: missing, keys } };
}

/** Files on an S3 server are not copied: its own backup or versioning keeps them. */
async function addFiles(
  archive: ArchiveWriter,
  { address, objects }: BackupSource['store'],
  { signal, onProgress }: BackupOptions,
): Promise<Manifest['files']> {
  if (address.provider === 's3') return { store: 's3', copied: false, count: 0, bytes: 0 };
  let count = 0;
  let bytes = 0;
  for await (const { key } of objects.list('')) {
    signal.throwIfAborted();
    if (!isKey(key)) continue; // not a file of the store
    const file = await openIfThere(pathOf(resolve(address.directory), key));
    if (!file) continue; // deleted since it was listed
    try {
      // Files are replaced and never written to, so that an open one has one content.
      const { size } = await file.stat();
      await archive.add(`${MEMBERS.files}${key}`, size, piecesOf(file));
      count += 1;
      bytes += size;
    } finally {
      await file.close();
    }
    onProgress(`${count} files`);
  }
  return { store: 'filesystem', copied: true, count, bytes };
}

async function addAgentFiles(archive: ArchiveWriter, { operations = [], policy }: BackupSource): Promise<void> {
  for (const { name, path } of operations) {
    const file = await openIfThere(path);
    if (!file) continue; // its retention ended
    try {
      const { size } = await file.stat();
      // The running agent appends to the newest one: what was there is copied.
      await archive.add(`${MEMBERS.operations}${name}`, size, piecesOf(file, size));
    } finally {
      await file.close();
    }
  }
  if (policy !== undefined) await archive.addText(MEMBERS.policy, policy);
}

async function openIfThere(path: string): Promise<FileHandle | undefined> {
  try {
    return await open(path, 'r');
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined;
    throw error;
  }
}

async function isThere(path: string): Promise<boolean> {
  const file = await openIfThere(path);
  await file?.close();
  return file !== undefined;
}
