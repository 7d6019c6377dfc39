import {
  chmodSync,
  closeSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { platform } from 'node:os';
import { dirname, join } from 'node:path';
import { randomToken } from '../base/secrets.js';

/**
 * Replaces a file as a whole, readable only by its owner: after a crash at any moment it has its former or its new
 * content.
 */
export function writeWhole(path: string, content: string): void {
  const draft = `${path}.${randomToken(6)}.tmp`;
  try {
    const file = openSync(draft, 'wx', 0o600);
    try {
      writeFileSync(file, content);
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
    renameSync(draft, path);
  } catch (error) {
    rmSync(draft, { force: true });
    throw error;
  }
  syncFolder(dirname(path));
}

/** The content of a file; undefined if it does not exist. */
export function readIfThere(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}

export function removeIfThere(path: string): void {
  rmSync(path, { force: true });
  syncFolder(dirname(path));
}

/** A folder that only its owner can open. */
export function privateFolder(...path: readonly string[]): string {
  const folder = join(...path);
  if (mkdirSync(folder, { recursive: true, mode: 0o700 }) !== undefined) chmodSync(folder, 0o700);
  return folder;
}

/** Whether group or others may read a file or open a folder. False on a system without such permissions. */
export const othersCanRead = (path: string): boolean => platform() !== 'win32' && (statSync(path).mode & 0o077) !== 0;

export const isMissing = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && error.code === 'ENOENT';

/** Without this, a power failure could undo the renaming. */
function syncFolder(folder: string): void {
  if (platform() === 'win32') return; // a folder cannot be opened there
  const file = openSync(folder, 'r');
  try {
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}
