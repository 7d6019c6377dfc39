import { invalid } from './failures.js';
import { normal } from './text.js';

/**
 * The stored and compared form of an email address: trimmed, NFC, lower case. Returns `undefined` when lower-casing
 * would turn a non-ASCII character into an ASCII one (U+212A, the Kelvin sign, becomes `k`): mail systems treat that as
 * another mailbox, so it must not match an existing address. All addresses are normalised by this function.
 */
export function addressIn(written: string): string | undefined {
  const plain = normal(written.trim(), { max: LONGEST });
  return plain.ok && ![...written].some(becomesAscii) ? plain.text.toLowerCase() : undefined;
}

/** As `addressIn`, but throws INVALID_INPUT for the field `email` where that returns `undefined`. */
export function addressToKeep(written: string): string {
  const address = addressIn(written);
  if (address === undefined) throw invalid({ path: 'email', problem: 'must be an email address' });
  return address;
}

/**
 * Checks the shape only. A delivered mail proves the address; this rejects what no mail system accepts, and invisible
 * characters.
 */
export const isAddress = (text: string): boolean =>
  text.length <= MAX_ADDRESS && SHAPE.test(text) && !/\.\.|^\.|\.@|\p{Cf}/u.test(text) && addressIn(text) !== undefined;

const SHAPE = /^[^\s@<>(),;:"\\]+@[^\s@<>(),;:"\\.]+(\.[^\s@<>(),;:"\\.]+)*$/u;
/** In UTF-16 code units; the limit of the schema. */
const MAX_ADDRESS = 508;
/** In UTF-16 code units, before trimming and composition. */
const LONGEST = 4_000;

function becomesAscii(character: string): boolean {
  if (/\p{ASCII}/u.test(character)) return false;
  const one = normal(character, { max: 2 });
  return one.ok && /\p{ASCII}/u.test(one.text.toLowerCase());
}
