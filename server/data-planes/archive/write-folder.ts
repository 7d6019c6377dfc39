import { createHash, type Hash } from 'node:crypto';
import { mkdir, open, readdir, rm, rmdir, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { ArchiveFault } from './archive-fault.js';
import { fileOfKind, FILES, MANIFEST, RECORDS, SUMS, type KindSummary, type Manifest } from './format.js';
import type { ArchiveRecord } from './records.js';

/** Of lines, in characters. */
const BUFFERED = 256 * 1024;

/** A folder that is written: complete once it has SHA256SUMS, which is written last. */
export interface FolderWriter {
  lines(kind: string): Promise<LinesWriter>;
  /** The bytes of a file of the organisation. `extension` begins with a dot, or is empty. */
  file(id: string, extension: string): Promise<BytesWriter>;
  finish(manifest: Manifest): Promise<void>;
  /** Removes all that was written. */
  remove(): Promise<void>;
}

export interface LinesWriter {
  write(record: ArchiveRecord): Promise<void>;
  close(): Promise<KindSummary>;
}

export interface BytesWriter {
  write(bytes: Uint8Array): Promise<void>;
  close(): Promise<{ readonly bytes: number; readonly sha256: string }>;
  /** There are no bytes after all. */
  remove(): Promise<void>;
}

/** Throws TENANT_DATA_INVALID if there is something in the folder. Only its owner can read what is written. */
export async function writeFolder(folder: string): Promise<FolderWriter> {
  const isNew = (await mkdir(folder, { recursive: true, mode: 0o700 })) !== undefined;
  if (!isNew && (await readdir(folder)).length > 0)
    throw new ArchiveFault('TENANT_DATA_INVALID', `${folder} is not empty: name a new folder`);
  for (const part of [RECORDS, FILES]) await mkdir(join(folder, part), { mode: 0o700 });
  const sums = await hashed(folder, SUMS);
  const listed = ({ sha256 }: { readonly sha256: string }, name: string): Promise<void> =>
    sums.write(Buffer.from(`${sha256}  ${name}\n`));
  const openFiles = new Set<Hashed>([sums]);
  const opened = async (name: string): Promise<Hashed> => {
    const file = await hashed(folder, name);
    openFiles.add(file);
    return file;
  };
  const closed = async (file: Hashed): Promise<Written> => {
    openFiles.delete(file);
    return file.close();
  };
  const listClosed = async (file: Hashed, name: string): Promise<Written> => {
    const written = await closed(file);
    await listed(written, name);
    return written;
  };

  return {
    async lines(kind) {
      const name = fileOfKind(kind);
      const file = await opened(name);
      let count = 0;
      let buffered: string[] = [];
      let characters = 0;
      const flush = async (): Promise<void> => {
        await file.write(Buffer.from(buffered.join('')));
        buffered = [];
        characters = 0;
      };
      return {
        async write(record) {
          const line = `${JSON.stringify(record)}\n`;
          buffered.push(line);
          count += 1;
          characters += line.length;
          if (characters > BUFFERED) await flush();
        },
        async close() {
          await flush();
          return { kind, file: name, count, ...(await listClosed(file, name)) };
        },
      };
    },
    async file(id, extension) {
      const name = `${FILES}/${id}${extension}`;
      const file = await opened(name);
      return {
        write: (bytes) => file.write(bytes),
        close: () => listClosed(file, name),
        async remove() {
          await closed(file);
          await rm(join(folder, name));
        },
      };
    },
    async finish(manifest) {
      const file = await opened(MANIFEST);
      await file.write(Buffer.from(`${JSON.stringify(manifest, null, 2)}\n`));
      await listClosed(file, MANIFEST);
      await closed(sums);
    },
    async remove() {
      for (const file of openFiles) await file.close();
      for (const name of [RECORDS, FILES, MANIFEST, SUMS])
        await rm(join(folder, name), { recursive: true, force: true });
      if (isNew) await rmdir(folder);
    },
  };
}

interface Written {
  readonly bytes: number;
  readonly sha256: string;
}

interface Hashed {
  write(bytes: Uint8Array): Promise<void>;
  close(): Promise<Written>;
}

async function hashed(folder: string, name: string): Promise<Hashed> {
  const file: FileHandle = await open(join(folder, name), 'wx', 0o600);
  const hash: Hash = createHash('sha256');
  let bytes = 0;
  return {
    async write(piece) {
      hash.update(piece);
      bytes += piece.byteLength;
      await file.writeFile(piece);
    },
    async close() {
      try {
        await file.sync();
      } finally {
        await file.close();
      }
      return { bytes, sha256: hash.digest('hex') };
    },
  };
}
