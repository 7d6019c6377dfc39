import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The version of the package that a module belongs to. */
export function versionOf(moduleUrl: string): string {
  const text = readFileSync(join(packageFolderOf(moduleUrl), 'package.json'), 'utf8');
  return (JSON.parse(text) as { version: string }).version;
}

/**
 * The folder of the package that a module belongs to. Searches the parent folders, as compiled files lie one folder
 * deeper than their sources.
 */
export function packageFolderOf(moduleUrl: string): string {
  let folder = dirname(fileURLToPath(moduleUrl));
  while (!existsSync(join(folder, 'package.json'))) {
    if (folder === dirname(folder)) throw new Error('the package.json of this program is missing');
    folder = dirname(folder);
  }
  return folder;
}
