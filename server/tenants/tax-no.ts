/**
 * The 31 characters of a unified social credit code (GB 32100-2015): no I, O, S, V, Z. The place of each is its value.
 */
const ALPHABET = '0123456789ABCDEFGHJKLMNPQRTUWXY';
const WEIGHTS = [1, 3, 9, 27, 19, 26, 16, 17, 20, 29, 25, 13, 8, 24, 10, 30, 28];

/**
 * Whether 18 characters are a unified social credit code whose check character is right; other tax numbers are not of
 * this form.
 */
export function isSocialCreditCode(code: string): boolean {
  const values = [...code.toUpperCase()].map((character) => ALPHABET.indexOf(character));
  if (values.length !== 18 || values.includes(-1)) return false;
  const sum = WEIGHTS.reduce((total, weight, index) => total + weight * (values[index] ?? 0), 0);
  return (31 - (sum % 31)) % 31 === values[17];
}
