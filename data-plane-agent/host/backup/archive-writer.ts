import { createHash, randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, open, rename, link, rm, type FileHandle } from 'node:fs/promises';
import { platform } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import { createTarPacker } from 'modern-tar';
import { CommandError, misuse } from '../../base/command-line/errors.js';
import { indexLine, MEMBERS, type Indexed } from './format.js';
import { piecesOf, sha256Of } from './pieces.js';

/** A backup that is being written, member by member, in bounded memory. */
export interface ArchiveWriter {
  /** A folder beside the backup for files that are added to it; removed at the end. */
  readonly spool: string;
  /** How many members there are, and their bytes. */
  readonly written: { readonly members: number; readonly bytes: number };
  /** Adds exactly `size` bytes. Throws if the content has more or fewer. */
  add(name: string, size: number, content: AsyncIterable<Uint8Array> | Iterable<Uint8Array>): Promise<void>;
  addText(name: string, content: string): Promise<void>;
  /** Adds a file from the spool, and deletes it. */
  addFile(name: string, path: string): Promise<void>;
  /** Adds the index of the members so far, and returns its SHA-256. */
  addIndex(): Promise<string>;
  /** Completes the file durably under its name. Throws USAGE if a file of that name has appeared. */
  finish(): Promise<{ readonly bytes: number }>;
  /** Removes everything that was written. */
  abandon(): Promise<void>;
}

/**
 * Begins a backup in `FILE.partial`, readable only by its owner. Throws USAGE if the file exists, and
 * BACKUP_NOT_WRITTEN if it cannot be created.
 */
export async function createArchive(path: string, { at }: { readonly at: number }): Promise<ArchiveWriter> {
  const target = resolve(path);
  if (existsSync(target)) throw misuse(`${path} already exists: a backup never replaces a file`);
  const partial = `${target}.partial`;
  const spool = join(dirname(target), `.${basename(target)}.${randomUUID().slice(0, 8)}.partial`);
  const file = await opened(partial, path);
  try {
    await mkdir(spool, { mode: 0o700 });
  } catch (error) {
    await file.close();
    await rm(partial, { force: true });
    throw notWritten(path, error);
  }
  return new Archive({ path, target, partial, spool, file, mtime: new Date(at) });
}

async function opened(partial: string, path: string): Promise<FileHandle> {
  try {
    return await open(partial, 'wx', 0o600);
  } catch (error) {
    if (codeOf(error) === 'EEXIST')
      throw misuse(
        `${path}.partial exists: another backup into the same file runs, or was killed; delete it if none runs`,
      );
    throw notWritten(path, error);
  }
}

interface Parts {
  readonly path: string;
  readonly target: string;
  readonly partial: string;
  readonly spool: string;
  readonly file: FileHandle;
  /** Of all members. */
  readonly mtime: Date;
}

class Archive implements ArchiveWriter {
  readonly spool: string;
  readonly written = { members: 0, bytes: 0 };
  private readonly tar = createTarPacker();
  private readonly writing: Promise<void>;
  private readonly indexPath: string;
  private index: FileHandle | undefined;
  /** What follows the index is not in it: the manifest, which has its hash. */
  private hasIndex = false;
  private failure: unknown;

  constructor(private readonly parts: Parts) {
    this.spool = parts.spool;
    this.indexPath = join(parts.spool, 'index');
    this.writing = this.drain();
    // A failure is reported by the next `add` or by `finish`, which wait for it.
    this.writing.catch(() => undefined);
  }

  private async drain(): Promise<void> {
    for await (const chunk of this.tar.readable) {
      try {
        await this.parts.file.writeFile(chunk);
      } catch (error) {
        this.failure = notWritten(this.parts.path, error);
        throw this.failure;
      }
    }
  }

  async add(name: string, size: number, content: AsyncIterable<Uint8Array> | Iterable<Uint8Array>): Promise<void> {
    const hash = createHash('sha256');
    let bytes = 0;
    try {
      const entry = this.tar.controller.add({ name, size, mode: 0o600, mtime: this.parts.mtime, type: 'file' });
      const writer = entry.getWriter();
      for await (const chunk of content) {
        bytes += chunk.length;
        if (bytes > size) throw new Error(`${name} grew while it was copied`);
        hash.update(chunk);
        await writer.write(chunk);
      }
      if (bytes < size) throw new Error(`${name} became shorter while it was copied`);
      await writer.close();
    } catch (error) {
      this.tar.controller.error(error);
      await this.writing.catch(() => undefined); // recorded in `failure`, if it is the cause
      throw this.failure ?? error;
    }
    if (this.hasIndex) return;
    this.written.members += 1;
    this.written.bytes += size;
    await this.note({ name, size, sha256: hash.digest('hex') });
  }

  private async note(indexed: Indexed): Promise<void> {
    try {
      this.index ??= await open(this.indexPath, 'ax', 0o600);
      await this.index.writeFile(indexLine(indexed));
    } catch (error) {
      throw notWritten(this.parts.path, error);
    }
  }

  addText(name: string, content: string): Promise<void> {
    const bytes = Buffer.from(content, 'utf8');
    return this.add(name, bytes.length, [bytes]);
  }

  async addFile(name: string, path: string): Promise<void> {
    const file = await open(path, 'r');
    try {
      const { size } = await file.stat();
      await this.add(name, size, piecesOf(file));
    } finally {
      await file.close();
    }
    await rm(path);
  }

  async addIndex(): Promise<string> {
    await this.index?.close();
    this.index = undefined;
    const sha256 = await sha256Of(this.indexPath);
    this.hasIndex = true;
    await this.addFile(MEMBERS.index, this.indexPath);
    return sha256;
  }

  async finish(): Promise<{ readonly bytes: number }> {
    const { path, target, partial, file, spool } = this.parts;
    this.tar.controller.finalize();
    await this.writing;
    try {
      await file.sync();
      const { size } = await file.stat();
      await file.close();
      await rm(spool, { recursive: true, force: true });
      await publish(partial, target);
      await syncFolder(dirname(target));
      return { bytes: size };
    } catch (error) {
      if (codeOf(error) === 'EEXIST') throw misuse(`${path} was created meanwhile: a backup never replaces a file`);
      throw notWritten(path, error);
    }
  }

  async abandon(): Promise<void> {
    const { file, partial, spool } = this.parts;
    this.tar.controller.error(new Error('abandoned'));
    await this.writing.catch(() => undefined); // what failed is reported by whoever abandons the backup
    await this.index?.close();
    await file.close();
    await rm(partial, { force: true });
    await rm(spool, { recursive: true, force: true });
  }
}

/** A rename would replace a file that appeared meanwhile; a link does not. Some file systems have no links. */
async function publish(partial: string, target: string): Promise<void> {
  try {
    await link(partial, target);
  } catch (error) {
    if (codeOf(error) === 'EEXIST' || existsSync(target)) throw error;
    return rename(partial, target);
  }
  await rm(partial);
}

/** Without this, a power failure could undo a rename. */
export async function syncFolder(path: string): Promise<void> {
  if (platform() === 'win32') return; // a folder cannot be opened there
  const folder = await open(path, 'r');
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}

const FULL: ReadonlySet<unknown> = new Set(['ENOSPC', 'EDQUOT', 'EFBIG', 'SQLITE_FULL']);

/** Why the backup could not be written, and what to do. */
export function notWritten(path: string, error: unknown): CommandError {
  if (error instanceof CommandError) return error;
  const folder = dirname(resolve(path));
  const code = codeOf(error);
  if (FULL.has(code))
    return new CommandError(
      'DISK_FULL',
      `there is not enough space in ${folder} for the backup (${String(code)}); nothing was left there: free space, or write it to another disk`,
      { cause: error },
    );
  const reason = error instanceof Error ? error.message : String(error);
  return new CommandError(
    'BACKUP_NOT_WRITTEN',
    code === 'ENOENT'
      ? `the folder ${folder} does not exist: create it, or write the backup to another one`
      : `the backup cannot be written to ${folder} (${reason}): let the user that runs the command write there, or choose another folder`,
    { cause: error },
  );
}

export const codeOf = (error: unknown): unknown => (error instanceof Error && 'code' in error ? error.code : undefined);
