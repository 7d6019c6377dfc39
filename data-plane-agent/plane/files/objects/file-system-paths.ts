import { join } from 'node:path';

/**
 * Keys are generated here, but are checked nevertheless: they cannot leave the store's directory or begin with a dot,
 * as internal directories do.
 */
export const isKey = (key: string): boolean => key.length <= 512 && KEY.test(key);

/** The file of a key below the store's directory. Throws for an invalid key. */
export function pathOf(root: string, key: string): string {
  if (!isKey(key)) throw new Error('not a valid object key');
  return join(root, ...key.split('/'));
}

/** The directory of a prefix that ends with `/`; the root for an empty one. */
export function folderOf(root: string, prefix: string): string {
  if (prefix === '') return root;
  if (!prefix.endsWith('/') || !PREFIX.test(prefix)) throw new Error('not a valid object prefix');
  return join(root, ...prefix.slice(0, -1).split('/'));
}

/** Where files are written before they are moved: on the same disk, so that a rename is atomic. */
export const incomingOf = (root: string): string => join(root, '.incoming');

const WORD = '[A-Za-z0-9_][A-Za-z0-9._-]*';
const KEY = new RegExp(`^${WORD}(/${WORD})+$`);
const PREFIX = new RegExp(`^(${WORD}/)+$`);
