import { invalid } from './failures.js';
import { normal } from './text.js';

/**
 * An email address in the form in which it is kept and compared: trimmed, NFC, lower case. `undefined` where a
 * character that is not ASCII would become one that is, such as U+212A (Kelvin) a `k`: to the mail system that is
 * another mailbox, which must not become somebody else's here. Nothing else brings an address into its form.
 */
export function addressIn(written: string): string | undefined {
  const plain = normal(written.trim(), { max: LONGEST });
  return plain.ok && ![...written].some(becomesAscii) ? plain.text.toLowerCase() : undefined;
}

/** The same of one that is to be kept. Throws INVALID_INPUT, which names `email`. */
export function addressToKeep(written: string): string {
  const address = addressIn(written);
  if (address === undefined) throw invalid({ path: 'email', problem: 'must be an email address' });
  return address;
}

/**
 * Fit to be an address: it is proven by a mail that arrives, and the shape only keeps out what no mail system would
 * take, and what nobody can see.
 */
export const isAddress = (text: string): boolean =>
  text.length <= MAX_ADDRESS && SHAPE.test(text) && !/\.\.|^\.|\.@|\p{Cf}/u.test(text) && addressIn(text) !== undefined;

const SHAPE = /^[^\s@<>(),;:"\\]+@[^\s@<>(),;:"\\.]+(\.[^\s@<>(),;:"\\.]+)*$/u;
/** In UTF-16 units, by the schema's own bound. */
const MAX_ADDRESS = 508;
/** In UTF-16 units, with blanks around it and before it is composed. */
const LONGEST = 4_000;

function becomesAscii(character: string): boolean {
  if (/\p{ASCII}/u.test(character)) return false;
  const one = normal(character, { max: 2 });
  return one.ok && /\p{ASCII}/u.test(one.text.toLowerCase());
}
