import { existsSync, linkSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Fault } from '../base/config.js';
import { generateKeyRingText, randomToken } from '../base/secrets.js';

/** Returns the installation's generated keys; undefined if they do not exist. */
export function ownSecretKeys(dataDir: string): string | undefined {
  const path = ownSecretKeysPath(dataDir);
  return existsSync(path) ? readFileSync(path, 'utf8').trim() : undefined;
}

/**
 * Creates the installation's keys in the data folder, readable only by its owner, and returns them. If two processes
 * start at the same time, one creates the keys and the other reads them.
 */
export function generatedSecretKeys(dataDir: string): string {
  const path = ownSecretKeysPath(dataDir);
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  const made = generateKeyRingText();
  const draft = `${path}.${randomToken(6)}`;
  // Written under another name and then linked, so that no process reads an incomplete file.
  writeFileSync(draft, `${made}\n`, { flag: 'wx', mode: 0o600 });
  try {
    linkSync(draft, path);
    return made;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST') return readFileSync(path, 'utf8').trim();
    throw error;
  } finally {
    rmSync(draft);
  }
}

/** The path of the generated keys, whether or not they exist. */
export const ownSecretKeysPath = (dataDir: string): string => join(dataDir, 'secret-keys');

/** Reports an error of the file system as a fault of DATA_DIR: it is a wrong setting, not an internal error. */
export function inFolder<T>(dataDir: string, work: () => T): T | Fault {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof Error && 'syscall' in error)) throw error;
    const folder = resolve(dataDir);
    const fix = `let the user that runs the program write to ${folder}, or set DATA_DIR to another folder`;
    const isFile = existsSync(folder) && !statSync(folder).isDirectory();
    return {
      name: 'DATA_DIR',
      problem: isFile
        ? `must be a folder, but ${folder} is a file: set DATA_DIR to another path`
        : `must be a folder that can be read and written (${error.message}): ${fix}`,
    };
  }
}
