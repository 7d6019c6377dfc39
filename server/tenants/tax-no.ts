/**
 * The 31 characters of a unified social credit code (GB 32100-2015), without I, O, S, V and Z. Their index is their
 * value.
 */
const ALPHABET = '0123456789ABCDEFGHJKLMNPQRTUWXY';
const WEIGHTS = [1, 3, 9, 27, 19, 26, 16, 17, 20, 29, 25, 13, 8, 24, 10, 30, 28];

/** Whether a tax number is a unified social credit code of 18 characters with a valid check character. */
export function isSocialCreditCode(code: string): boolean {
  if (code.length !== 18) return false;
  const characters = code.toUpperCase();
  let sum = 0;
  for (let index = 0; index < WEIGHTS.length; index++) {
    const value = ALPHABET.indexOf(characters.charAt(index));
    if (value < 0) return false;
    sum += (WEIGHTS[index] ?? 0) * value;
  }
  return (31 - (sum % 31)) % 31 === ALPHABET.indexOf(characters.charAt(17));
}
