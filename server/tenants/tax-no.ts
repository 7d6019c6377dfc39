/**
 * The 31 characters of a unified social credit code (GB 32100-2015), without I, O, S, V and Z. Their index is their
 * value.
 */
const ALPHABET = '0123456789ABCDEFGHJKLMNPQRTUWXY';
const WEIGHTS = [1, 3, 9, 27, 19, 26, 16, 17, 20, 29, 25, 13, 8, 24, 10, 30, 28];

/** Whether a tax number is a unified social credit code of 18 characters with a valid check character. */
export function isSocialCreditCode(code: string): boolean {
  const values = [...code.toUpperCase()].map((character) => ALPHABET.indexOf(character));
  if (values.length !== 18 || values.includes(-1)) return false;
  const sum = WEIGHTS.reduce((total, weight, index) => total + weight * (values[index] ?? 0), 0);
  return (31 - (sum % 31)) % 31 === values[17];
}
