import { chmodSync, existsSync, mkdirSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { CommandError } from '../errors.js';
import type { InstalledFile } from './files.js';

export interface WrittenFile {
  readonly path: string;
  readonly status: 'written' | 'replaced' | 'unchanged';
}

/**
 * Writes the files, each at once (a file with its mode, then renamed). Throws FILES_EXIST, and writes nothing, if one
 * exists with other content and `force` is not set; what it replaces remains beside it as `.previous`.
 */
export function writeFiles(
  folder: string,
  files: readonly InstalledFile[],
  { force }: { readonly force: boolean },
): WrittenFile[] {
  const planned = files.map((file) => ({ ...file, at: join(folder, file.path) }));
  const other = planned.filter(({ at, text }) => existsSync(at) && readFileSync(at, 'utf8') !== text);
  if (other.length > 0 && !force)
    throw new CommandError(
      'FILES_EXIST',
      `${other.map(({ at }) => at).join(', ')} would change: nothing was written; --force replaces them and keeps their secrets and a copy of each`,
    );
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  return planned.map(({ at, text, mode }): WrittenFile => {
    const existed = existsSync(at);
    if (existed && readFileSync(at, 'utf8') === text) {
      if ((statSync(at).mode & 0o777) !== mode) chmodSync(at, mode);
      return { path: at, status: 'unchanged' };
    }
    mkdirSync(dirname(at), { recursive: true, mode: 0o700 });
    if (existed) replace(`${at}.previous`, readFileSync(at, 'utf8'), 0o600);
    replace(at, text, mode);
    return { path: at, status: existed ? 'replaced' : 'written' };
  });
}

function replace(path: string, text: string, mode: number): void {
  const fresh = `${path}.new`;
  writeFileSync(fresh, text, { mode: 0o600 });
  chmodSync(fresh, mode);
  renameSync(fresh, path);
}
