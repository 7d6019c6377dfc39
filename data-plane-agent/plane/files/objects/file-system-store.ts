import { createHash, randomUUID } from 'node:crypto';
import { mkdir, open, opendir, readdir, rename, rm, stat, type FileHandle } from 'node:fs/promises';
import { dirname, join, relative, resolve, sep } from 'node:path';
import { addAbortSignal, type Readable } from 'node:stream';
import type { Clock } from '../../../base/clock.js';
import { noteStreamed } from '../../../base/collect-garbage.js';
import { TIMEOUT_MS, timeoutFor, within } from './deadline.js';
import { createDigests } from './file-system-digests.js';
import type { FileLinks } from './file-system-links.js';
import { folderOf, incomingOf, pathOf } from './file-system-paths.js';
import {
  ObjectStoreError,
  WrongLengthError,
  type ListedObject,
  type ObjectStore,
  type StoredObject,
} from './object-store.js';
import { probeFileSystem } from './store-probe.js';

export interface FileSystemStore extends ObjectStore {
  /** Opens one version of an object for partial reads. It must be closed. */
  open(key: string): Promise<OpenObject | undefined>;
}

export interface OpenObject {
  readonly sizeBytes: number;
  /** `start` and `end` are inclusive. */
  read(range?: { readonly start: number; readonly end: number }): Readable;
  close(): Promise<void>;
}

/**
 * Stores objects as plain files at the path of their key. A file is written elsewhere, synced and renamed, so that
 * readers keep the version they opened and never see a partial file. The entity tag is the content's SHA-256, because
 * inode numbers and times can repeat.
 */
export function createFileSystemStore({
  directory,
  links,
  clock,
}: {
  readonly directory: string;
  readonly links: FileLinks;
  readonly clock: Clock;
}): FileSystemStore {
  const root = resolve(directory);
  const incoming = incomingFolder(root);
  const digests = createDigests(clock);

  const store: FileSystemStore = {
    provider: 'filesystem',
    bucket: 'local',
    uploadUrl: (upload) =>
      Promise.resolve({
        url: links.sign({ method: 'PUT', ...upload }),
        headers: { 'Content-Type': upload.contentType },
      }),
    downloadUrl: (download) => Promise.resolve(links.sign({ method: 'GET', ...download })),

    head: async (key) => {
      const file = await opened(root, key);
      if (!file) return undefined;
      return closing(file, async () => {
        const about = await within(TIMEOUT_MS, () => file.stat());
        const etag = await within(timeoutFor(about.size), (signal) => digests.of(file, signal));
        return { key, sizeBytes: about.size, modifiedAt: Math.floor(about.mtimeMs), etag };
      });
    },

    open: async (key) => {
      const file = await opened(root, key);
      if (!file) return undefined;
      const { size } = await disk(within(TIMEOUT_MS, () => file.stat()));
      return {
        sizeBytes: size,
        read: (range = { start: 0, end: size }) => file.createReadStream({ ...range, autoClose: false }),
        close: () => file.close(),
      };
    },

    read: async (key, { sizeBytes, signal, part }) => {
      signal.throwIfAborted();
      const file = await opened(root, key);
      if (!file) return undefined;
      const { size } = await disk(within(TIMEOUT_MS, () => file.stat()));
      if (size !== sizeBytes) {
        await file.close();
        throw new ObjectStoreError('unavailable', `the object has ${size} bytes instead of ${sizeBytes}`);
      }
      return addAbortSignal(signal, file.createReadStream(part && { start: part.start, end: part.end - 1 }));
    },

    write: async (key, content, { sizeBytes }) => {
      const target = pathOf(root, key);
      const written = await fill(await incoming(), content, { sizeBytes });
      await settle(written, target, timeoutFor(sizeBytes));
      return { key, ...described(written) };
    },

    copy: async (from, to, ifMatch) => {
      const target = pathOf(root, to);
      const source = await opened(root, from);
      if (!source) return undefined;
      // The stream closes the file. All its bytes belong to the version that was opened, even if it is replaced
      // meanwhile.
      const written = await disk(fill(await incoming(), source.createReadStream(), {}));
      if (written.etag !== ifMatch) {
        await rm(written.path, { force: true });
        return undefined;
      }
      await settle(written, target, timeoutFor(written.sizeBytes));
      return { key: to, ...described(written) };
    },

    remove: (key) => disk(within(TIMEOUT_MS, () => rm(pathOf(root, key), { force: true }))),
    list: (prefix) => walk(root, folderOf(root, prefix)),

    tidy: async () => {
      const folder = incomingOf(root);
      const names = await disk(unlessMissing(readdir(folder)));
      for (const name of names ?? []) {
        const path = join(folder, name);
        const about = await disk(unlessMissing(stat(path)));
        if (about && about.mtimeMs <= clock.now() - ABANDONED_MS) await disk(rm(path, { force: true }));
      }
    },

    probe: ({ makes } = { makes: true }) => probeFileSystem(store, { root, makes }),
    close: () => Promise.resolve(),
  };
  return store;
}

/**
 * The directory for incomplete files. It is created only once: if it disappears, the disk has been unmounted, and files
 * written to the empty mount point would be hidden later.
 */
function incomingFolder(root: string): () => Promise<string> {
  const folder = incomingOf(root);
  let isThere = false;
  return async () => {
    if (!isThere) await disk(within(TIMEOUT_MS, () => mkdir(folder, { recursive: true, mode: 0o700 })));
    isThere = true;
    return folder;
  };
}

/** An incomplete file that has not grown for this long was abandoned. */
const ABANDONED_MS = 3_600_000;

interface Written {
  readonly path: string;
  readonly sizeBytes: number;
  readonly etag: string;
  readonly modifiedAt: number;
}

const described = ({ sizeBytes, etag, modifiedAt }: Written): Omit<StoredObject, 'key'> => ({
  sizeBytes,
  etag,
  modifiedAt,
});

/**
 * Writes the content to a new file and syncs it. On failure the file is removed, and errors of the content are rethrown
 * unchanged.
 */
async function fill(
  folder: string,
  content: Readable,
  { sizeBytes }: { readonly sizeBytes?: number },
): Promise<Written> {
  const path = join(folder, randomUUID());
  let file: FileHandle | undefined;
  try {
    file = await disk(within(TIMEOUT_MS, () => open(path, 'wx', 0o600)));
    const hash = createHash('sha256');
    let size = 0;
    for await (const chunk of content as AsyncIterable<Buffer>) {
      noteStreamed(chunk.length);
      size += chunk.length;
      if (sizeBytes !== undefined && size > sizeBytes) throw new WrongLengthError('longer');
      hash.update(chunk);
      await disk(file.writeFile(chunk));
    }
    if (sizeBytes !== undefined && size < sizeBytes) throw new WrongLengthError('shorter');
    await disk(file.sync());
    return {
      path,
      sizeBytes: size,
      etag: hash.digest('hex'),
      modifiedAt: Math.floor((await disk(file.stat())).mtimeMs),
    };
  } catch (error) {
    content.destroy();
    if (file) await disk(rm(path, { force: true }));
    throw error;
  } finally {
    await file?.close();
  }
}

/** Moves a written file to its final path durably. After the timeout it is no longer moved. */
async function settle({ path }: Written, target: string, ms: number): Promise<void> {
  try {
    await disk(
      within(ms, async (signal) => {
        const folder = dirname(target);
        const made = await mkdir(folder, { recursive: true, mode: 0o700 });
        signal.throwIfAborted();
        await rename(path, target);
        // A rename is durable once its directory is synced, a new directory once its parent is.
        for (let at = folder; ; at = dirname(at)) {
          await syncFolder(at);
          if (made === undefined || at.length < made.length) return;
        }
      }),
    );
  } catch (error) {
    await disk(rm(path, { force: true }));
    throw error;
  }
}

async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, 'r');
  await closing(folder, () => folder.sync());
}

async function* walk(root: string, folder: string): AsyncIterable<ListedObject> {
  const entries = await disk(unlessMissing(opendir(folder)));
  if (!entries) return;
  for await (const entry of entries) {
    if (entry.name.startsWith('.')) continue;
    const path = join(folder, entry.name);
    if (entry.isDirectory()) yield* walk(root, path);
    if (!entry.isFile()) continue;
    const about = await disk(unlessMissing(stat(path)));
    if (about)
      yield {
        key: relative(root, path).split(sep).join('/'),
        sizeBytes: about.size,
        modifiedAt: Math.floor(about.mtimeMs),
      };
  }
}

async function opened(root: string, key: string): Promise<FileHandle | undefined> {
  const path = pathOf(root, key);
  return disk(
    within(TIMEOUT_MS, async () => {
      const file = await unlessMissing(open(path, 'r'));
      if (file) return file;
      // If the whole directory is missing (an unmounted disk with an empty mount point), objects are unavailable
      // instead of absent. The second attempt covers a disk mounted in between.
      if (!(await unlessMissing(stat(incomingOf(root))))?.isDirectory())
        throw new ObjectStoreError('unavailable', 'the directory of files is missing or belongs to no store');
      return unlessMissing(open(path, 'r'));
    }),
  );
}

async function closing<T>(file: FileHandle, work: () => Promise<T>): Promise<T> {
  try {
    return await disk(work());
  } finally {
    await file.close();
  }
}

async function unlessMissing<T>(work: Promise<T>): Promise<T | undefined> {
  try {
    return await work;
  } catch (error) {
    if (codeOf(error) === 'ENOENT' || codeOf(error) === 'ENOTDIR') return undefined;
    throw error;
  }
}

/** Converts errors of the file system into errors of the store. */
async function disk<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    const code = codeOf(error);
    if (error instanceof ObjectStoreError || code === undefined) throw error;
    throw new ObjectStoreError(
      ['EACCES', 'EPERM', 'EROFS'].includes(code) ? 'denied' : 'unavailable',
      `the directory of files cannot be used (${code})`,
      { cause: error },
    );
  }
}

const codeOf = (error: unknown): string | undefined =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;
