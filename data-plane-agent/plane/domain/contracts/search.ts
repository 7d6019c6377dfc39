import { createHash } from 'node:crypto';
import { normalCut } from '../../../base/text.js';

/** Case folded by Unicode, so that a search finds `Straße` by `STRASSE`'s letters in any script that has case. */
export const fold = (text: string): string => normalCut(text, { max: LONGEST }).toLowerCase();

/** In UTF-16 units: more than all searched fields of a contract have together. */
const LONGEST = 100_000;

/** The text that `q` looks through: the searched fields, parted by a character that no field and no `q` may contain, so that no match spans two of them. */
export const searchText = (fields: readonly (string | null)[]): string => fold(fields.filter((field) => field !== null).join('\u0001'));

/** Searches of fewer characters cannot use the index of three-character pieces. */
export const INDEXED_FROM = 3;

/**
 * Hashes of a text's three-character pieces, for an index that works in any script and locale. The tenant is hashed along, so that
 * one tenant's common words do not lengthen another's search. Equal hashes of different pieces only cost a look at the text itself.
 */
export function grams(tenantId: string, text: string): number[] {
  const characters = [...text];
  const seed = createHash('sha256').update(tenantId).digest().readInt32BE(0);
  const hashes = new Set<number>();
  for (let i = 0; i + INDEXED_FROM <= characters.length; i++) hashes.add(fnv(seed, `${characters[i]}${characters[i + 1]}${characters[i + 2]}`));
  return [...hashes];
}

/** FNV-1a over UTF-16 units, as a signed 32-bit integer. */
function fnv(seed: number, text: string): number {
  let hash = seed;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 16_777_619);
  return hash | 0;
}
