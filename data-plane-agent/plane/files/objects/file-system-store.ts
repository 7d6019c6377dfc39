import { createHash, randomUUID } from 'node:crypto';
import { mkdir, open, opendir, readdir, rename, rm, stat, type FileHandle } from 'node:fs/promises';
import { dirname, join, relative, resolve, sep } from 'node:path';
import { addAbortSignal, type Readable } from 'node:stream';
import type { Clock } from '../../../base/clock.js';
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
  /** One version of an object, of which parts can be read. To be closed. */
  open(key: string): Promise<OpenObject | undefined>;
}

export interface OpenObject {
  readonly sizeBytes: number;
  /** From the first byte to the last one, both included. */
  read(range?: { readonly start: number; readonly end: number }): Readable;
  close(): Promise<void>;
}

/**
 * Objects as plain files, each at the path that its key spells. A file is written beside the others, brought to the
 * disk, and moved to its place by a rename: whoever has it open keeps the version that he opened, and nobody ever sees
 * half of one. The entity tag is the content's SHA-256, because inode numbers and times come back and bytes do not.
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

    read: async (key, { sizeBytes, signal }) => {
      signal.throwIfAborted();
      const file = await opened(root, key);
      if (!file) return undefined;
      const { size } = await disk(within(TIMEOUT_MS, () => file.stat()));
      if (size !== sizeBytes) {
        await file.close();
        throw new ObjectStoreError('unavailable', `the folder of files has ${size} bytes of ${sizeBytes}`);
      }
      return addAbortSignal(signal, file.createReadStream());
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
      // The stream closes the file. All its bytes are of the version that was opened, whatever takes its name
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
        if (about && about.mtimeMs <= clock.now() - BROKEN_OFF_MS) await disk(rm(path, { force: true }));
      }
    },

    probe: ({ makes } = { makes: true }) => probeFileSystem(store, { root, makes }),
    close: () => Promise.resolve(),
  };
  return store;
}

/**
 * Where files are written first. It is made once: that it has gone means that the disk has, and what is put into its
 * empty place would be hidden when it is back.
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

/** A write that has not grown for so long is not going on. */
const BROKEN_OFF_MS = 3_600_000;

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
 * The content in a file of its own, on the disk. What fails is thrown as it is when the content failed, and nothing is
 * left.
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

/** Moves what was written to its place, for good. After the time is over it does not move any more. */
async function settle({ path }: Written, target: string, ms: number): Promise<void> {
  try {
    await disk(
      within(ms, async (signal) => {
        const folder = dirname(target);
        const made = await mkdir(folder, { recursive: true, mode: 0o700 });
        signal.throwIfAborted();
        await rename(path, target);
        // A rename is on the disk when its folder is, and a new folder when the one above it is.
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
      // Where the whole folder is gone (a disk that is not mounted, and its place empty) no object is missing: nobody
      // knows. Nor is one that was looked for just before it came back.
      if (!(await unlessMissing(stat(incomingOf(root))))?.isDirectory())
        throw new ObjectStoreError('unavailable', 'the folder of files is not there, or is another one');
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

/** What the disk refuses, in the words of a store. */
async function disk<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    const code = codeOf(error);
    if (error instanceof ObjectStoreError || code === undefined) throw error;
    throw new ObjectStoreError(
      ['EACCES', 'EPERM', 'EROFS'].includes(code) ? 'denied' : 'unavailable',
      `the folder of files cannot be used (${code})`,
      { cause: error },
    );
  }
}

const codeOf = (error: unknown): string | undefined =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;
