import { createHash } from 'node:crypto';
import { normalCut } from '../../base/text.js';

/**
 * The lower-case form in which codes, numbers and names are compared when they must be unique regardless of case.
 * Stored keys have this form.
 */
export const fold = (text: string): string => normalCut(text, { max: LONGEST }).toLowerCase();

/** In UTF-16 units; longer than all searched fields of a contract together. */
const LONGEST = 100_000;

/**
 * Unicode's full case folding, independent of a letter's position: `STRASSE` finds `Straße`, `ΟΔΟΣ` finds `ΟΔΟΣΤΡΩΜΑ`
 * and `οδος`. Stored texts have this form, so a change of it needs a migration.
 */
export function caseFold(text: string): string {
  // Converting to lower, upper and lower case results in the folding, with two exceptions: the dotless i folds to
  // itself, and a final sigma to a sigma.
  const folded = normalCut(text, { max: LONGEST })
    .split('ı')
    .map((part) => part.toLowerCase().toUpperCase().toLowerCase())
    .join('ı')
    .replaceAll('ς', 'σ');
  return normalCut(folded, { max: 3 * LONGEST }); // a letter becomes at most three
}

/**
 * The text that `q` searches: the fields separated by a character that neither a field nor `q` may contain, so that no
 * match spans two fields.
 */
export const searchText = (fields: readonly (string | null)[]): string =>
  caseFold(fields.filter((field) => field !== null).join('\u0001'));

/** The shortest search term that can use the trigram index. */
export const INDEXED_FROM = 3;

/**
 * Hashes of a text's trigrams, for an index that works in any script and locale. The tenant id is part of the hash, so
 * that common words of one tenant do not slow down another's search. Hash collisions only cost an additional comparison
 * with the text.
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
