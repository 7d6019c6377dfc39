import { createHash } from 'node:crypto';
import { normalCut } from '../../base/text.js';

/**
 * In lower case: the form in which codes, numbers and names are compared that are unique whatever their case. Keys are
 * stored in it.
 */
export const fold = (text: string): string => normalCut(text, { max: LONGEST }).toLowerCase();

/** In UTF-16 units: more than all searched fields of a contract have together. */
const LONGEST = 100_000;

/**
 * Unicode's full case folding, the same wherever in a text a letter stands: `STRASSE` finds `Straße`, `ΟΔΟΣ` finds
 * `ΟΔΟΣΤΡΩΜΑ` and `οδος`. Stored texts are in it: who changes it brings them up to date with a migration.
 */
export function caseFold(text: string): string {
  // Lower, upper and lower case again is the folding, but for two letters: the dotless i has itself alone, and a final
  // sigma is a sigma.
  const folded = normalCut(text, { max: LONGEST })
    .split('ı')
    .map((part) => part.toLowerCase().toUpperCase().toLowerCase())
    .join('ı')
    .replaceAll('ς', 'σ');
  return normalCut(folded, { max: 3 * LONGEST }); // a letter becomes three at most
}

/**
 * The text that `q` looks through: the searched fields, parted by a character that no field and no `q` may contain, so
 * that no match spans two of them.
 */
export const searchText = (fields: readonly (string | null)[]): string =>
  caseFold(fields.filter((field) => field !== null).join('\u0001'));

/** Searches of fewer characters cannot use the index of three-character pieces. */
export const INDEXED_FROM = 3;

/**
 * Hashes of a text's three-character pieces, for an index that works in any script and locale. The tenant is hashed
 * along, so that one tenant's common words do not lengthen another's search. Equal hashes of different pieces only cost
 * a look at the text itself.
 */
export function grams(tenantId: string, text: string): number[] {
  const characters = [...text];
  const seed = createHash('sha256').update(tenantId).digest().readInt32BE(0);
  const hashes = new Set<number>();
  for (let i = 0; i + INDEXED_FROM <= characters.length; i++)
    hashes.add(fnv(seed, `${characters[i]}${characters[i + 1]}${characters[i + 2]}`));
  return [...hashes];
}

/** FNV-1a over UTF-16 units, as a signed 32-bit integer. */
function fnv(seed: number, text: string): number {
  let hash = seed;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 16_777_619);
  return hash | 0;
}
