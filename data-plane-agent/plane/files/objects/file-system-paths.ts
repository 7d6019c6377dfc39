import { join } from 'node:path';

/**
 * Keys are ours, and still: only what cannot leave the store's folder is one, and none begins with the dot of our own
 * folders.
 */
export const isKey = (key: string): boolean => key.length <= 512 && KEY.test(key);

/** The file of a key: the same words below the store's folder. Throws for what is no key. */
export function pathOf(root: string, key: string): string {
  if (!isKey(key)) throw new Error('not a key of an object');
  return join(root, ...key.split('/'));
}

/** The folder of a prefix that ends at a `/`; the root's for an empty one. */
export function folderOf(root: string, prefix: string): string {
  if (prefix === '') return root;
  if (!prefix.endsWith('/') || !PREFIX.test(prefix)) throw new Error('not a prefix of objects');
  return join(root, ...prefix.slice(0, -1).split('/'));
}

/** Where files are written before they take their place: on the same disk, so that a rename moves them whole. */
export const incomingOf = (root: string): string => join(root, '.incoming');

const WORD = '[A-Za-z0-9_][A-Za-z0-9._-]*';
const KEY = new RegExp(`^${WORD}(/${WORD})+$`);
const PREFIX = new RegExp(`^(${WORD}/)+$`);
